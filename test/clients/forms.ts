import { password } from '../support/make.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';
import { clientTest, type Place } from './client-test.ts';
import { client, type Handed, makeProject, many, one, refused } from './forms-client.ts';

clientTest('node-gitlab: users', async (t, place) => {
  const { users } = client(place);
  const username = place.name('bob');
  const given = { email: `${username}@example.com`, password, username, name: 'Bob', projects_limit: 3 };
  const user = await one(users.create(given));
  t.like(user, { username, name: 'Bob', projects_limit: 3, is_admin: false });
  t.deepEqual(
    (await many(users.list({ per_page: 100 }))).find(({ id }) => id === user.id),
    user,
  );
  const changed = await one(users.update({ user_id: user.id, name: 'Robert', admin: true }));
  t.like(changed, { id: user.id, name: 'Robert', is_admin: true });
  await refused(t, users.create(given), 409);
  t.like(await one(users.remove({ user_id: user.id })), { id: user.id });
  await refused(t, users.get({ user_id: user.id }), 404);
});

clientTest('node-gitlab: groups and their members', async (t, place) => {
  const { groups, groupMembers, projects } = client(place);
  const group = await makeGroup(place);
  const user = await makeUser(place);
  t.like(await one(groups.get({ id: group.id })), { id: group.id, projects: [] });
  t.like(await one(groups.update({ id: group.id, description: 'We' })), { description: 'We' });
  t.true((await many(groups.list({ search: group.path }))).some(({ id }) => id === group.id));
  const project = await makeProject(place);
  t.like(await one(groups.transferProject({ id: group.id, project_id: project.id })), { id: group.id });
  t.like(await one(projects.get({ id: project.id })), { namespace: { id: group.id } });
  const member = { id: group.id, user_id: user.id };
  t.like(await one(groupMembers.create({ ...member, access_level: 10 })), { id: user.id, access_level: 10 });
  t.like(await one(groupMembers.update({ ...member, access_level: 50 })), { access_level: 50 });
  t.is((await many(groupMembers.list({ id: group.id }))).length, 2);
  await groupMembers.remove({ ...member });
  t.is((await many(groupMembers.list({ id: group.id }))).length, 1);
  await refused(t, groupMembers.create({ ...member, access_level: 7 }), 422);
  t.like(await one(groups.remove({ id: group.id })), { id: group.id });
  await refused(t, projects.get({ id: project.id }), 404);
});

clientTest('node-gitlab: projects, forks and events', async (t, place) => {
  const { projects } = client(place);
  const project = await makeProject(place, { visibility_level: 20, description: 'A & B = ü' });
  t.like(project, { visibility_level: 20, description: 'A & B = ü', public: true });
  t.like(await one(projects.update({ id: project.id, public: false, default_branch: '' })), {
    public: false,
  });
  t.true((await many(projects.list({ order_by: 'id', sort: 'asc' }))).some(({ id }) => id === project.id));
  t.deepEqual(
    (await many(projects.search({ query: project.name }))).map(({ id }) => id),
    [project.id],
  );
  t.like((await many(projects.listEvents({ id: project.id })))[0], { action_name: 'created' });
  await refused(t, projects.fork({ id: project.id }), 409);
  await refused(t, projects.create({ name: '' }), 400);
  t.is(await projects.remove({ id: project.id }), true);
  await refused(t, projects.get({ id: project.id }), 404);
});

clientTest('node-gitlab: members of projects, hooks and deploy keys', async (t, place) => {
  const { projectMembers, hooks, deployKeys } = client(place);
  const { id } = await makeProject(place);
  const user = await makeUser(place);
  const member = { id, user_id: user.id };
  t.like(await one(projectMembers.create({ ...member, access_level: 20 })), { access_level: 20 });
  t.like(await one(projectMembers.update({ ...member, access_level: 40 })), { access_level: 40 });
  t.like(await one(projectMembers.get({ ...member })), { id: user.id, access_level: 40 });
  await projectMembers.remove({ ...member });
  await refused(t, projectMembers.get({ ...member }), 404);
  const hook = await one(hooks.create({ id, url: 'https://hooks.example.com/', tag_push_events: true }));
  t.like(hook, { push_events: true, tag_push_events: true, build_events: false });
  const update = { id, hook_id: hook.id, url: 'https://hooks.example.com/b', push_events: false };
  t.like(await one(hooks.update(update)), { url: 'https://hooks.example.com/b', push_events: false });
  t.is((await many(hooks.list({ id }))).length, 1);
  await hooks.remove({ id, hook_id: hook.id });
  await refused(t, hooks.get({ id, hook_id: hook.id }), 404);
  await refused(t, hooks.create({ id, url: 'ftp://hooks.example.com/' }), 422);
  const key = await one(deployKeys.create({ id, title: 'Robot', key: sshKeyLine(place.name('key')) }));
  t.like(await one(deployKeys.get({ id, key_id: key.id })), { title: 'Robot', key: key.key });
  t.is((await many(deployKeys.list({ id }))).length, 1);
  await deployKeys.remove({ id, key_id: key.id });
  t.deepEqual(await many(deployKeys.list({ id })), []);
});

clientTest('node-gitlab: hooks of the system', async (t, place) => {
  const { globalHooks } = client(place);
  const hook = await one(globalHooks.create({ url: 'http://hooks.example.com/' }));
  t.true((await many(globalHooks.list({}))).some(({ id }) => id === hook.id));
  t.like(await one(globalHooks.remove({ hook_id: hook.id })), { id: hook.id, service_id: null });
  t.is(await globalHooks.remove({ hook_id: hook.id }), null);
});

function makeUser(place: Place): Promise<Handed> {
  const username = place.name('bob');
  return one(
    client(place).users.create({ email: `${username}@example.com`, password, username, name: 'Bob' }),
  );
}

function makeGroup(place: Place): Promise<Handed> {
  const path = place.name('crew');
  return one(client(place).groups.create({ name: path, path, visibility_level: 20 }));
}
