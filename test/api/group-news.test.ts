import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();
let server: MailServer;

test.serial.before(async () => {
  server = await startMailServer();
});
test.after.always(() => server.close());

async function call(
  method: string,
  path: string,
  json?: Record<string, unknown>,
  as = rootToken,
): Promise<{ id: number }> {
  const answer = await holder.app.call<{ id: number }>(method, `/api/v3${path}`, { as, json });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

type Body = Record<string, unknown>;

/** What the system's hooks are told while something is done. */
async function told(act: () => Promise<void>): Promise<Body[]> {
  const { rows } = holder.app;
  const [hook] = await rows<{ id: number }>(
    "insert into hooks (url) values ('http://hooks.example.com/') returning id",
  );
  await act();
  const messages = await rows<{ body: string }>(
    'select body from hook_deliveries where hook_id = $1 order by id',
    [hook?.id],
  );
  await rows('delete from hooks where id = $1', [hook?.id]);
  return messages.map(({ body }) => JSON.parse(body) as Body);
}

function names(bodies: Body[]): unknown[] {
  return bodies.map((body) => body.event_name);
}

test.serial('hooks are told of a group, its members and its end', async (t) => {
  const { make } = holder.app;
  const [owner, member] = [await make.user(), await make.user()];
  let groupId = 0;
  const bodies = await told(async () => {
    groupId = (await call('POST', '/groups', { name: 'News', path: 'news' }, owner.token)).id;
    const members = `/groups/${groupId}/members`;
    await call('POST', members, { user_id: member.id, access_level: 20 }, owner.token);
    await call('PUT', `${members}/${member.id}`, { access_level: 30 }, owner.token);
    await call('DELETE', `${members}/${member.id}`, {}, owner.token);
    await call('POST', '/projects', { name: 'in it', namespace_id: groupId }, owner.token);
    await call('DELETE', `/groups/${groupId}`, {}, owner.token);
  });
  t.deepEqual(names(bodies), [
    'group_create',
    'user_add_to_group',
    'user_add_to_group',
    'user_remove_from_group',
    'project_create',
    'group_destroy',
    'project_destroy',
  ]);
  const named = { group_id: groupId, group_name: 'News', group_path: 'news' };
  t.like(bodies[1], { ...named, user_id: owner.id, group_access: 'Owner' });
  t.like(bodies[2], { ...named, user_id: member.id, group_access: 'Reporter' });
  t.like(bodies[3], { ...named, user_id: member.id, group_access: 'Developer' });
  t.like(bodies[5], { group_id: groupId, name: 'News', path: 'news' });
  t.like(bodies[6], { path_with_namespace: 'news/in-it' });
});

test.serial('hooks are told of the members of a project, and of its move', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const member = await make.user();
  const groupId = await make.group({ path: 'target' });
  const place = `/projects/${project.id}/members`;
  const bodies = await told(async () => {
    for (const _twice of [1, 2]) await call('POST', place, { user_id: member.id, access_level: 40 });
    await call('DELETE', `${place}/${member.id}`);
    await call('DELETE', `${place}/${member.id}`);
    await call('POST', `/groups/${groupId}/projects/${project.id}`);
  });
  t.deepEqual(names(bodies), ['user_add_to_team', 'user_remove_from_team', 'project_transfer']);
  t.like(bodies[0], { project_id: project.id, user_id: member.id, access_level: 'Master' });
  t.like(bodies[2], {
    project_id: project.id,
    old_path_with_namespace: project.fullPath,
    path_with_namespace: `target/${project.path}`,
  });
});

test.serial('the owner of a personal project is told of as its member, however it was made', async (t) => {
  const { make } = holder.app;
  const owner = await make.user();
  const source = await make.project({ visibility: 'public' });
  const imported = { name: 'from elsewhere', import_url: 'https://git.example.com/x.git' };
  const bodies = await told(async () => {
    await call('POST', '/projects', { name: 'mine' }, owner.token);
    await call('POST', '/projects', imported, owner.token);
    await call('POST', `/projects/fork/${source.id}`, {}, owner.token);
    await call('POST', `/projects/user/${owner.id}`, { name: 'from root' });
  });
  t.deepEqual(
    names(bodies),
    [1, 2, 3, 4].flatMap(() => ['project_create', 'user_add_to_team']),
  );
  const member = { user_id: owner.id, access_level: 'Master' };
  const paths = ['mine', 'from-elsewhere', source.path, 'from-root'];
  for (const [index, path] of paths.entries()) {
    const project_path_with_namespace = `${owner.username}/${path}`;
    t.like(bodies[2 * index + 1], { ...member, project_path_with_namespace });
  }
});

test.serial('what is refused is told to nobody', async (t) => {
  const { make } = holder.app;
  const owner = await make.user();
  const groupId = await make.group();
  await make.groupMember(groupId, owner, 'owner');
  const bodies = await told(async () => {
    await t.throwsAsync(call('DELETE', `/groups/${groupId}/members/${owner.id}`));
    await t.throwsAsync(call('POST', `/groups/${groupId}/members`, { user_id: owner.id, access_level: 50 }));
    await t.throwsAsync(call('POST', '/groups', { name: 'x', path: '-' }));
  });
  t.deepEqual(bodies, []);
});

test.serial(
  'members get a message when they are added, at another level, or when their project moves',
  async (t) => {
    const { app } = holder;
    app.services.mail = server.mailer();
    const [member, owner] = [await app.make.user(), await app.make.user()];
    const groupId = await app.make.group({ path: 'mailing' });
    await app.make.groupMember(groupId, owner, 'owner');
    const project = await app.make.project();
    const members = `/groups/${groupId}/members`;
    await call('POST', members, { user_id: member.id, access_level: 20 }, owner.token);
    t.is(await mailsTo(member), 1);
    for (const _twice of [1, 2]) {
      await call('PUT', `${members}/${member.id}`, { access_level: 30 }, owner.token);
      t.is(await mailsTo(member), 2, 'no change, no message');
    }
    const team = `/projects/${project.id}/members`;
    for (const _twice of [1, 2]) {
      await call('POST', team, { user_id: member.id, access_level: 20 });
      t.is(await mailsTo(member), 3);
    }
    await call('PUT', `${team}/${member.id}`, { access_level: 40 });
    t.is(await mailsTo(member), 4);
    await call('POST', `/groups/${groupId}/projects/${project.id}`);
    t.is(await mailsTo(member), 5);
    await call('DELETE', `${team}/${member.id}`);
    t.is(await mailsTo(member), 5);
  },
);

async function mailsTo(user: MadeUser): Promise<number> {
  await holder.app.runTasks();
  const address = `${user.username}@example.com`;
  return server.received.filter(({ envelope }) => envelope.to.includes(address)).length;
}
