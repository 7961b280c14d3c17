import test from 'ava';
import { recordEvent } from '../../server/actions/record-event.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { cloneUrl, withWorkTrees } from '../support/git.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';

const holder = withApp({ poolSize: 4 });
const trees = withWorkTrees();

type Project = Record<string, unknown> & { id: number };

function call<T = Project>(
  method: string,
  path: string,
  as: string,
  form?: Record<string, string>,
): Promise<Answer<T>> {
  return holder.app.call<T>(method, `/api/v3/projects/${path}`, { as, ...(form ? { form } : {}) });
}

function see(project: MadeProject, level: number, as: MadeUser | null = project.owner) {
  return call('PUT', String(project.id), as?.token ?? rootToken, { visibility_level: String(level) });
}

async function levelsOf(projects: { id: number }[]): Promise<number[]> {
  const ids = projects.map(({ id }) => id);
  const found = await holder.app.rows<{ level: number }>(
    'select visibility_level as level from projects where id = any($1) order by array_position($1, id)',
    [ids],
  );
  return found.map(({ level }) => level);
}

/** A public project, a fork of it, and forks of that. */
async function family(): Promise<[MadeProject, MadeProject, MadeProject, MadeProject]> {
  const { make } = holder.app;
  const fork = (of: MadeProject) =>
    make.project({ visibility: 'public', columns: { forked_from_id: of.id } });
  const source = await make.project({ visibility: 'public' });
  const middle = await fork(source);
  return [source, middle, await fork(middle), await fork(middle)];
}

test('whoever makes a project less visible makes its forks so, and theirs', async (t) => {
  const [source, middle, leaf, closed] = await family();
  const other = await holder.app.make.project({ visibility: 'public' });
  t.is((await see(closed, 0)).status, 200);
  t.is((await see(source, 10)).status, 200);
  t.deepEqual(await levelsOf([source, middle, leaf, closed, other]), [10, 10, 10, 0, 20]);
  t.is((await see(middle, 0)).status, 200);
  t.deepEqual(await levelsOf([source, middle, leaf, closed]), [10, 0, 0, 0]);
  t.is((await see(source, 20)).status, 200, 'and more visible alone');
  t.deepEqual(await levelsOf([source, middle, leaf, closed]), [20, 0, 0, 0]);
});

test('a fork is shown to no more people than its source', async (t) => {
  const [source, middle, leaf] = await family();
  await see(source, 0);
  for (const [level, name] of [
    [10, 'internal'],
    [20, 'public'],
  ] as const) {
    const answer = await see(middle, level, null);
    t.is(answer.status, 400, 'administrators too');
    t.deepEqual(answer.body, {
      message: {
        visibility_level: [`${name} is not allowed since the fork source project has lower visibility.`],
      },
    } as never);
  }
  await see(source, 10);
  t.is((await see(middle, 10)).status, 200);
  t.is((await see(leaf, 10)).status, 200);
  t.is((await see(leaf, 20)).status, 400);
  t.deepEqual(await levelsOf([source, middle, leaf]), [10, 10, 10]);
});

test('a fork that is raised while its source is lowered ends below it', async (t) => {
  const [source, middle, leaf] = await family();
  for (let round = 0; round < 8; round += 1) {
    await holder.app.rows('update projects set visibility_level = 20 where id = $1', [source.id]);
    await holder.app.rows('update projects set visibility_level = 0 where id = any($1)', [
      [middle.id, leaf.id],
    ]);
    const answers = await Promise.all([see(middle, 20), see(source, 0), see(leaf, 0), see(middle, 10)]);
    t.true(
      answers.every(({ status }) => status === 200 || status === 400),
      JSON.stringify(answers.map(({ body }) => body)),
    );
    t.deepEqual(await levelsOf([source, middle, leaf]), [0, 0, 0]);
  }
});

test('archived: owners make a project read-only and writable again, twice as well as once', async (t) => {
  const { app } = holder;
  const { make } = app;
  const project = await make.project();
  const master = await make.member(project, 'master');
  const tree = await trees.fresh();
  const url = cloneUrl(app, project, { password: project.owner.token });
  const push = async () => {
    await tree.commit();
    return (await tree.try('push', url, 'master')).code;
  };
  t.is(await push(), 0);
  for (const action of ['archive', 'unarchive'] as const) {
    const archived = action === 'archive';
    t.is((await call('POST', `${project.id}/${action}`, master.token)).status, 403);
    for (const round of [1, 2]) {
      const answer = await call('POST', `${project.id}/${action}`, project.owner.token);
      t.is(answer.status, 201, `${action} ${round}`);
      t.like(answer.body, { id: project.id, archived });
      t.false('permissions' in answer.body || 'runners_token' in answer.body);
    }
    t.is((await push()) === 0, !archived, 'pushes');
  }
});

interface ProjectEvent {
  action_name: string;
  target_type: string | null;
  data: { ref: string; total_commits_count: number; commits: unknown[] } | null;
}

test('activity: newest first, with the data of pushes, in pages', async (t) => {
  const { app } = holder;
  const made = await app.call<{ id: number; path_with_namespace: string }>('POST', '/api/v3/projects', {
    as: rootToken,
    form: { name: 'active' },
  });
  const { id, path_with_namespace: fullPath } = made.body;
  const tree = await trees.fresh();
  await tree.commit();
  const url = cloneUrl(app, { fullPath }, { password: rootToken });
  await tree.git('push', '--quiet', url, 'master', 'master:side');
  await tree.commit();
  await tree.git('push', '--quiet', url, 'master');
  await tree.git('push', '--quiet', url, ':side');
  const author = await app.make.user();
  await recordEvent(app.work, {
    projectId: id,
    authorId: author.id,
    action: 'opened',
    targetType: 'Milestone',
    targetId: 7,
    targetTitle: 'First',
  });
  const path = `${encodeURIComponent(fullPath)}/events`;
  const events = await call<ProjectEvent[]>('GET', path, rootToken);
  t.is(events.status, 200);
  const actions = events.body.map((event) => event.action_name);
  t.deepEqual(actions.toSorted(), ['created', 'deleted', 'opened', 'pushed new', 'pushed new', 'pushed to']);
  t.deepEqual([actions[0], actions[1], actions.at(-1)], ['opened', 'deleted', 'created']);
  t.like(events.body[0], {
    title: null,
    project_id: id,
    target_id: 7,
    target_type: 'Milestone',
    target_title: 'First',
    author_id: author.id,
    author: { id: author.id, username: author.username, state: 'active' },
    author_username: author.username,
    data: null,
  });
  const pushed = events.body.find((event) => event.action_name === 'pushed to');
  t.like(pushed?.data, { ref: 'refs/heads/master', total_commits_count: 1 });
  t.is(events.headers.get('x-total'), '6');
  const second = await call<ProjectEvent[]>('GET', `${id}/events?per_page=2&page=2`, rootToken);
  t.deepEqual(
    second.body.map((event) => event.action_name),
    actions.slice(2, 4),
  );
  await app.rows('delete from namespaces where owner_id = $1', [author.id]);
  await app.rows('delete from users where id = $1', [author.id]);
  const [orphan] = (await call<ProjectEvent[]>('GET', `${id}/events`, rootToken)).body;
  t.like(orphan, { action_name: 'opened', author_id: null, author: null, author_username: null });
});

test('users of a project: owner, members, members of its group and of groups that it is shared with', async (t) => {
  const { make, rows } = holder.app;
  const group = await make.group();
  const [ofGroup, shared, both] = [await make.user(), await make.user(), await make.user()];
  await make.groupMember(group, ofGroup, 'guest');
  await make.groupMember(group, both, 'guest');
  const lender = await make.group();
  await make.groupMember(lender, shared, 'owner');
  await make.groupMember(lender, both, 'owner');
  const project = await make.project({ namespaceId: group });
  await make.share(project, lender, 'guest');
  const member = await make.member(project, 'developer');
  await make.user();
  const users = async (query = '', as = member.token) =>
    (await call<{ id: number }[]>('GET', `${project.id}/users${query}`, as)).body.map(({ id }) => id);
  t.deepEqual(await users(), [member.id, both.id, shared.id, ofGroup.id]);
  t.deepEqual(await users(`?search=${shared.username.toUpperCase()}`), [shared.id]);
  await rows('update namespaces set share_with_group_lock = true where id = $1', [group]);
  t.deepEqual(await users(), [member.id, both.id, ofGroup.id]);
  const personal = await make.project();
  const found = await call<Record<string, unknown>[]>('GET', `${personal.id}/users`, personal.owner.token);
  t.deepEqual(
    found.body.map(({ id }) => id),
    [personal.owner.id],
  );
  t.deepEqual(Object.keys(found.body[0] ?? {}).sort(), [
    'avatar_url',
    'id',
    'name',
    'state',
    'username',
    'web_url',
  ]);
  t.is((await call('GET', `${project.id}/users`, personal.owner.token)).status, 404);
});
