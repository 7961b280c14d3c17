import test from 'ava';
import {
  announceGroup,
  announceGroupMember,
  announceKeys,
  announceProjectMoves,
  announceProjects,
  announceTeam,
  announceUser,
} from '../../server/hooks/announce.ts';
import type { Work } from '../../server/services.ts';
import { inTransaction, sql } from '../../server/sql.ts';
import { rootToken, withApp } from '../support/app.ts';
import { withReceiver } from '../support/hook-receiver.ts';

const holder = withApp();
const receiver = withReceiver();
let hookId = 0;

test.serial.before(async () => {
  const { app } = holder;
  await app.rows('update settings set local_requests_allowed = true');
  // No flag keeps these events from a hook of the system.
  const json = { url: receiver.url('/all'), push_events: false };
  hookId = (await app.call<{ id: number }>('POST', '/api/v3/hooks', { as: rootToken, json })).body.id;
});

let heard = 0;

/** What the hook hears of it, without the moments that all messages have. */
async function told(announce: (work: Work) => Promise<void>): Promise<Record<string, unknown>[]> {
  await inTransaction(holder.app.work, announce);
  await holder.app.runTasks();
  const fresh = receiver.at('/all').slice(heard);
  heard += fresh.length;
  return fresh.map(({ headers, body }) => {
    const { created_at, updated_at, ...rest } = body;
    for (const moment of [created_at, updated_at]) {
      if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(moment))) throw new Error(`no moment: ${moment}`);
    }
    if (headers['x-gitlab-event'] !== 'System Hook') throw new Error('not told as an event of the system');
    return rest;
  });
}

async function personal() {
  const project = await holder.app.make.project({ visibility: 'internal' });
  const { owner } = project;
  const shown = {
    name: project.path,
    path: project.path,
    path_with_namespace: project.fullPath,
    project_id: project.id,
    owner_name: `Name of ${owner.username}`,
    owner_email: `${owner.username}@example.com`,
    project_visibility: 'internal',
  };
  return { project, shown };
}

test.serial('projects: made and removed', async (t) => {
  const { project, shown } = await personal();
  for (const event of ['project_create', 'project_destroy'] as const) {
    t.deepEqual(await told((work) => announceProjects(work, event, [project.id])), [
      { event_name: event, ...shown },
    ]);
  }
});

test.serial('projects: in a group, the owner is the group and has no address', async (t) => {
  const { app } = holder;
  const namespaceId = await app.make.group({ path: 'makers' });
  const project = await app.make.project({ namespaceId });
  const [body] = await told((work) => announceProjects(work, 'project_create', [project.id]));
  t.like(body, { owner_name: 'makers', owner_email: '', project_visibility: 'private' });
});

test.serial('projects: moved', async (t) => {
  const { project, shown } = await personal();
  for (const event of ['project_rename', 'project_transfer'] as const) {
    const move = { projectId: project.id, oldPath: 'old/place' };
    const expected = { event_name: event, ...shown, old_path_with_namespace: 'old/place' };
    t.deepEqual(await told((work) => announceProjectMoves(work, event, [move])), [expected]);
  }
});

test.serial(
  'users: made and removed, told also when their rows are gone by the time it is sent',
  async (t) => {
    const { app } = holder;
    const { id, username } = await app.make.user();
    const shown = { name: `Name of ${username}`, email: `${username}@example.com`, user_id: id, username };
    t.deepEqual(await told((work) => announceUser(work, 'user_create', id)), [
      { event_name: 'user_create', ...shown },
    ]);
    const removed = await told(async (work) => {
      await announceUser(work, 'user_destroy', id);
      await sql(work.em, 'delete from users where id = $1', [id]);
    });
    t.deepEqual(removed, [{ event_name: 'user_destroy', ...shown }]);
  },
);

test.serial('members of projects, with their level in words', async (t) => {
  const { project } = await personal();
  const member = await holder.app.make.member(project, 'developer');
  const shown = {
    project_name: project.path,
    project_path: project.path,
    project_path_with_namespace: project.fullPath,
    project_id: project.id,
    user_username: member.username,
    user_name: `Name of ${member.username}`,
    user_email: `${member.username}@example.com`,
    user_id: member.id,
    project_visibility: 'internal',
  };
  const levels = [
    [10, 'Guest'],
    [20, 'Reporter'],
    [30, 'Developer'],
    [40, 'Master'],
    [50, 'Owner'],
  ] as const;
  for (const [accessLevel, word] of levels) {
    const of = { projectId: project.id, userId: member.id, accessLevel };
    const bodies = await told((work) => announceTeam(work, 'user_add_to_team', of));
    t.deepEqual(bodies, [
      { event_name: 'user_add_to_team', ...shown, access_level: word, project_access: word },
    ]);
  }
  const of = { projectId: project.id, userId: member.id, accessLevel: 30 };
  const [left] = await told((work) => announceTeam(work, 'user_remove_from_team', of));
  t.like(left, { event_name: 'user_remove_from_team', user_id: member.id });
});

test.serial('groups and their members', async (t) => {
  const { app } = holder;
  const groupId = await app.make.group({ path: 'players' });
  const user = await app.make.user();
  for (const event of ['group_create', 'group_destroy'] as const) {
    const shown = {
      name: 'players',
      path: 'players',
      group_id: groupId,
      owner_name: null,
      owner_email: null,
    };
    t.deepEqual(await told((work) => announceGroup(work, event, groupId)), [{ event_name: event, ...shown }]);
  }
  for (const event of ['user_add_to_group', 'user_remove_from_group'] as const) {
    const member = { groupId, userId: user.id, accessLevel: 40 };
    const shown = {
      group_name: 'players',
      group_path: 'players',
      group_id: groupId,
      user_username: user.username,
      user_name: `Name of ${user.username}`,
      user_email: `${user.username}@example.com`,
      user_id: user.id,
      group_access: 'Master',
    };
    t.deepEqual(await told((work) => announceGroupMember(work, event, member)), [
      { event_name: event, ...shown },
    ]);
  }
});

test.serial('keys of users, and deploy keys, which are of nobody', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const insert = `insert into keys (user_id, title, key, fingerprint, fingerprint_sha256)
    values ($1, 'k', 'ssh-rsa AAAA', '00', $2) returning id`;
  const keyOf = async (userId: number | null) =>
    (await app.rows<{ id: number }>(insert, [userId, `print of ${userId}`]))[0]?.id ?? 0;
  const [own, deploy] = [await keyOf(user.id), await keyOf(null)];
  for (const event of ['key_create', 'key_destroy'] as const) {
    const shown = { event_name: event, username: user.username, key: 'ssh-rsa AAAA', id: own };
    t.deepEqual(await told((work) => announceKeys(work, event, [own])), [shown]);
  }
  for (const event of ['deploykey_create', 'deploykey_destroy'] as const) {
    const shown = { event_name: event, key: 'ssh-rsa AAAA', id: deploy };
    t.deepEqual(await told((work) => announceKeys(work, event, [deploy])), [shown]);
  }
});

test.serial('the name and the moments come first', async (t) => {
  const user = await holder.app.make.user();
  await told((work) => announceUser(work, 'user_create', user.id));
  const body = receiver.at('/all').at(-1)?.body ?? {};
  t.deepEqual(Object.keys(body).slice(0, 3), ['event_name', 'created_at', 'updated_at']);
});

test.serial('what is not there is not told, and without hooks nothing is put up', async (t) => {
  const { app } = holder;
  t.deepEqual(await told((work) => announceUser(work, 'user_create', 2_000_000_000)), []);
  await app.call('DELETE', `/api/v3/hooks/${hookId}`, { as: rootToken });
  const { project } = await personal();
  await told((work) => announceProjects(work, 'project_create', [project.id]));
  t.deepEqual(await app.rows('select 1 from hook_deliveries'), []);
  t.deepEqual(
    await app.rows(`select 1 from graphile_worker.jobs where task_identifier = 'deliver_hook'`),
    [],
  );
});
