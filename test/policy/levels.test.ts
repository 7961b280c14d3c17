import test from 'ava';
import { findProject } from '../../server/queries/project-row.ts';
import { userById } from '../../server/queries/user-row.ts';
import { withApp } from '../support/app.ts';
import { levels, type MadeProject, type MadeUser } from '../support/make.ts';

const holder = withApp();
const names = ['guest', 'reporter', 'developer', 'master', 'owner'] as const;

async function levelOn(project: MadeProject, user: MadeUser | null): Promise<number | undefined> {
  const { em } = holder.app.work;
  const viewer = user && (await userById(em, user.id));
  return (await findProject(em, String(project.id), viewer))?.viewer_level;
}

test('the owner of a personal namespace owns its projects; others have nothing there', async (t) => {
  const { make } = holder.app;
  const project = await make.project({ visibility: 'public' });
  t.is(await levelOn(project, project.owner), 50);
  t.is(await levelOn(project, await make.user()), 0);
  t.is(await levelOn(project, null), 0);
});

test('members have their level', async (t) => {
  const project = await holder.app.make.project();
  for (const name of names)
    t.is(await levelOn(project, await holder.app.make.member(project, name)), levels[name]);
});

test('members of the group have their level on its projects, and on no others', async (t) => {
  const { make } = holder.app;
  const group = await make.group();
  const project = await make.project({ namespaceId: group });
  const elsewhere = await make.project({ namespaceId: await make.group() });
  for (const name of names) {
    const user = await make.user();
    await make.groupMember(group, user, name);
    t.is(await levelOn(project, user), levels[name]);
    t.is(await levelOn(elsewhere, user), 0);
  }
});

test('a share gives the level in the group, but no more than the share', async (t) => {
  const { make } = holder.app;
  const shared = await make.group();
  const users = new Map<string, MadeUser>();
  for (const name of names) {
    const user = await make.user();
    await make.groupMember(shared, user, name);
    users.set(name, user);
  }
  for (const cap of names) {
    const project = await make.project();
    await make.share(project, shared, cap);
    for (const [name, user] of users) {
      const level = levels[name as keyof typeof levels];
      t.is(await levelOn(project, user), Math.min(level, levels[cap]), `${name} through ${cap}`);
    }
  }
});

test('a share does not count while the namespace has its lock', async (t) => {
  const { app } = holder;
  const { make } = app;
  const [group, shared, user] = [await make.group(), await make.group(), await make.user()];
  await make.groupMember(shared, user, 'master');
  const project = await make.project({ namespaceId: group });
  await make.share(project, shared, 'developer');
  t.is(await levelOn(project, user), 30);
  await app.rows('update namespaces set share_with_group_lock = true where id = $1', [group]);
  t.is(await levelOn(project, user), 0);
  await app.rows('update namespaces set share_with_group_lock = false where id = $1', [group]);
  await app.rows('update namespaces set share_with_group_lock = true where id = $1', [shared]);
  t.is(await levelOn(project, user), 30, 'the lock of the other group means its own projects');
});

test('the highest of all sources counts', async (t) => {
  const { make } = holder.app;
  const [group, first, second] = [await make.group(), await make.group(), await make.group()];
  const project = await make.project({ namespaceId: group });
  const user = await make.member(project, 'guest');
  await make.groupMember(first, user, 'owner');
  await make.share(project, first, 'reporter');
  t.is(await levelOn(project, user), 20);
  await make.groupMember(second, user, 'developer');
  await make.share(project, second, 'master');
  t.is(await levelOn(project, user), 30);
  await make.groupMember(group, user, 'master');
  t.is(await levelOn(project, user), 40);
});

test('membership of the group in which the project is not the own one says nothing of the namespace owner', async (t) => {
  const { make } = holder.app;
  const creator = await make.user();
  const project = await make.project({ owner: creator, namespaceId: await make.group() });
  t.is(await levelOn(project, creator), 0, 'who made a project in a group is no member by that');
});

test('a project is found by id and by its path, whose case does not matter; not while it is deleted', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const find = (text: string) => findProject(app.work.em, text, null);
  for (const text of [String(project.id), project.fullPath, project.fullPath.toUpperCase()]) {
    t.is((await find(text))?.id, project.id, text);
  }
  for (const text of [
    project.path,
    `/${project.path}`,
    `${project.fullPath}/x`,
    `${project.fullPath}/`,
    '',
    '0',
    '-1',
  ]) {
    t.is(await find(text), null, text);
  }
  await app.rows('update projects set pending_delete = true where id = $1', [project.id]);
  t.is(await find(project.fullPath), null);
  t.is(await find(String(project.id)), null);
});
