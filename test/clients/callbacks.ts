import { password } from '../support/make.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';
import { client, done, type Handed, handed, makeProject, many, open } from './callbacks-client.ts';
import { clientTest, type Place } from './client-test.ts';

clientTest('gitlab: users, their sessions and keys', async (t, place) => {
  const { users } = client(place);
  const made = await makeUser(place);
  t.is(made.email, `${made.username}@example.com`);
  t.like(await done(users, 'show', made.id), { id: made.id, username: made.username });
  t.like(await done(users, 'current'), { username: 'root', is_admin: true });
  t.true((await many(users, 'all')).some(({ id }) => id === made.id));
  t.deepEqual(
    (await many(users, 'search', made.email)).map(({ id }) => id),
    [made.id],
  );
  const session = await done(users, 'session', made.username, password);
  const own = open?.({ url: place.url, token: String(session.private_token) });
  t.like(await done(own?.users, 'current'), { id: made.id, is_admin: false });
  const key = await done(users.keys, 'addKey', made.id, 'Laptop', sshKeyLine(place.name('key')));
  t.like(key, { title: 'Laptop' });
  t.deepEqual(
    (await many(users.keys, 'all', made.id)).map(({ id }) => id),
    [key.id],
  );
});

clientTest('gitlab: groups, their members and projects', async (t, place) => {
  const { groups, projects } = client(place);
  const group = await makeGroup(place);
  const user = await makeUser(place);
  t.like(await done(groups, 'show', group.id), { id: group.id, path: group.path, projects: [] });
  t.true((await many(groups, 'all')).some(({ id }) => id === group.id));
  t.deepEqual(
    (await many(groups, 'search', group.path)).map(({ id }) => id),
    [group.id],
  );
  t.like(await done(groups, 'addMember', group.id, user.id, 30), { id: user.id, access_level: 30 });
  t.like(await done(groups, 'editMember', group.id, user.id, 40), { id: user.id, access_level: 40 });
  t.true((await many(groups, 'listMembers', group.id)).some(({ id }) => id === user.id));
  t.is(await handed(groups, 'removeMember', group.id, user.id), true);
  t.false((await many(groups, 'listMembers', group.id)).some(({ id }) => id === user.id));
  const project = await makeProject(place);
  await done(groups, 'addProject', group.id, project.id);
  t.deepEqual(
    (await many(groups, 'listProjects', group.id)).map(({ id }) => id),
    [project.id],
  );
  t.like(await done(projects, 'show', `${group.path}/${project.path}`), { id: project.id });
  t.is(await handed(groups, 'deleteGroup', group.id), true);
  t.is(await handed(groups, 'show', group.id), null);
});

clientTest('gitlab: projects from their creation to their end', async (t, place) => {
  const { projects } = client(place);
  const project = await makeProject(place);
  t.like(await done(projects, 'show', project.id), { id: project.id, name: project.name });
  t.like(await done(projects, 'edit', project.id, { description: 'New', wiki_enabled: false }), {
    description: 'New',
    wiki_enabled: false,
  });
  for (const list of ['all', 'allAdmin']) {
    t.true((await many(projects, list)).some(({ id }) => id === project.id));
  }
  t.deepEqual(
    (await many(projects, 'search', project.name)).map(({ id }) => id),
    [project.id],
  );
  const user = await makeUser(place);
  const own = await done(projects, 'create_for_user', { user_id: user.id, name: place.name('own') });
  t.like(own, { owner: { id: user.id } });
  t.like(await done(projects, 'fork', { id: own.id }), { forked_from_project: { id: own.id } });
  const group = await makeGroup(place);
  const share = { projectId: project.id, group_id: group.id, group_access: 30 };
  t.like(await done(projects, 'share', share), { project_id: project.id, group_id: group.id });
  t.is(await handed(projects, 'remove', project.id), true);
  t.is(await handed(projects, 'show', project.id), null);
});

clientTest('gitlab: members of projects, hooks and deploy keys', async (t, place) => {
  const { projects } = client(place);
  const project = await makeProject(place);
  const user = await makeUser(place);
  const { members, hooks, deploy_keys: keys } = projects;
  t.like(await done(members, 'add', project.id, user.id, 20), { id: user.id, access_level: 20 });
  t.like(await done(members, 'update', project.id, user.id, 30), { access_level: 30 });
  t.like(await done(members, 'show', project.id, user.id), { id: user.id, access_level: 30 });
  t.is((await many(members, 'list', project.id)).find(({ id }) => id === user.id)?.access_level, 30);
  t.is(await handed(members, 'remove', project.id, user.id), true);
  t.is(await handed(members, 'show', project.id, user.id), null);
  const hook = await done(hooks, 'add', project.id, 'http://hooks.example.com/build');
  t.like(hook, { url: 'http://hooks.example.com/build', push_events: true, project_id: project.id });
  t.like(await done(hooks, 'show', project.id, hook.id), { id: hook.id });
  t.is((await many(hooks, 'list', project.id)).length, 1);
  t.is(await handed(hooks, 'remove', project.id, hook.id), true);
  t.deepEqual(await many(hooks, 'list', project.id), []);
  const key = await done(keys, 'addKey', project.id, { title: 'Robot', key: sshKeyLine(place.name('key')) });
  t.like(await done(keys, 'getKey', project.id, key.id), { id: key.id, title: 'Robot' });
  t.deepEqual(
    (await many(keys, 'listKeys', project.id)).map(({ id }) => id),
    [key.id],
  );
});

clientTest('gitlab: runners, builds and triggers', async (t, place) => {
  const { projects } = client(place);
  const { runners, builds } = projects;
  const project = await makeProject(place);
  const { id } = await registerRunner(place, String(project.runners_token));
  t.deepEqual(
    (await many(runners, 'all', project.id, {})).map((runner) => runner.id),
    [id],
  );
  t.like(await done(runners, 'update', id, { description: 'Slow', tag_list: ['a', 'b'] }), {
    description: 'Slow',
    tag_list: ['a', 'b'],
  });
  t.like(await done(runners, 'show', id), { id, description: 'Slow', projects: [{ id: project.id }] });
  t.is(await handed(runners, 'remove', id, null, null), true);
  t.deepEqual(await many(builds, 'listBuilds', project.id), []);
  const { token } = await done(projects, 'createTrigger', { projectId: project.id });
  t.like(await done(projects, 'showTrigger', project.id, token), { token });
  t.is((await many(projects, 'listTriggers', project.id)).length, 1);
  t.is(await handed(projects, 'removeTrigger', project.id, token), true);
});

function makeUser(place: Place): Promise<Handed> {
  const username = place.name('ann');
  const email = `${username}@example.com`;
  return done(client(place).users, 'create', { email, password, username, name: 'Ann' });
}

function makeGroup(place: Place): Promise<Handed> {
  const path = place.name('team');
  return done(client(place).groups, 'create', { name: path, path });
}

async function registerRunner({ url }: Place, token: string): Promise<{ id: number }> {
  const body = new URLSearchParams({ token });
  const answer = await fetch(`${url}/ci/api/v1/runners/register`, { method: 'POST', body });
  return answer.json() as Promise<{ id: number }>;
}
