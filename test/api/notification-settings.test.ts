import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';

const holder = withApp();
const own = '/api/v3/notification_settings';

test('oneself: participating, by mail to the primary address, until that is changed', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const as = user.token;
  const email = `${user.username}@example.com`;
  const first = await app.call('GET', own, { as });
  t.is(first.status, 200);
  t.deepEqual(first.body, { level: 'participating', notification_email: email });
  for (const level of ['disabled', 'watch', 'mention', 'participating']) {
    const answer = await app.call('PUT', own, { as, form: { level } });
    t.is(answer.status, 200);
    t.deepEqual(answer.body, { level, notification_email: email });
  }
  await app.rows(`insert into emails (user_id, email) values ($1, 'Second-${user.id}@example.org')`, [
    user.id,
  ]);
  const json = { level: 'watch', notification_email: `second-${user.id}@example.org`, new_note: true };
  const changed = await app.call('PUT', own, { as, json });
  t.deepEqual(changed.body, { level: 'watch', notification_email: `Second-${user.id}@example.org` });
  t.deepEqual((await app.call('GET', own, { as })).body, changed.body);
  const back = await app.call('PUT', own, { as, json: { notification_email: email.toUpperCase() } });
  t.deepEqual(back.body, { level: 'watch', notification_email: email });
});

test('what is no level, and an address of somebody else, are refused', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const other = await app.make.user();
  await app.rows(`insert into emails (user_id, email) values ($1, 'theirs@example.org')`, [other.id]);
  const as = user.token;
  const level = { level: ['is not included in the list'] };
  const faults: [Record<string, string>, unknown][] = [
    [{ level: 'custom' }, level],
    [{ level: 'global' }, level],
    [{ level: '2' }, level],
    [
      { level: 'watch', notification_email: 'theirs@example.org' },
      { notification_email: ['is not an email you own'] },
    ],
    [
      { notification_email: `${other.username}@example.com` },
      { notification_email: ['is not an email you own'] },
    ],
  ];
  for (const [form, message] of faults) {
    const answer = await app.call('PUT', own, { as, form });
    t.is(answer.status, 400);
    t.deepEqual(answer.body, { message });
  }
  t.deepEqual((await app.call('GET', own, { as })).body, {
    level: 'participating',
    notification_email: `${user.username}@example.com`,
  });
});

test('a level of its own for each project and group, for members and for those who only see it', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ visibility: 'internal' });
  const groupId = await app.make.group();
  const member = await app.make.member(project, 'guest');
  await app.make.groupMember(groupId, member, 'guest');
  const stranger = await app.make.user();
  const places = [`/api/v3/projects/${project.id}`, `/api/v3/groups/${groupId}`];
  for (const place of places.map((path) => `${path}/notification_settings`)) {
    for (const user of [member, stranger]) {
      const as = user.token;
      t.deepEqual((await app.call('GET', place, { as })).body, { level: 'global' });
      for (const level of ['watch', 'disabled', 'global', 'mention']) {
        const answer = await app.call('PUT', place, { as, form: { level } });
        t.is(answer.status, 200);
        t.deepEqual(answer.body, { level });
        t.deepEqual((await app.call('GET', place, { as })).body, { level });
      }
      t.deepEqual((await app.call('PUT', place, { as })).body, { level: 'mention' });
      t.is((await app.call('PUT', place, { as, form: { level: 'custom' } })).status, 400);
    }
    t.deepEqual((await app.call('GET', place, { as: rootToken })).body, { level: 'global' });
  }
  const shown = await app.call<{ permissions: { project_access: unknown } }>('GET', places[0] ?? '', {
    as: member.token,
  });
  t.deepEqual(shown.body.permissions.project_access, { access_level: 10, notification_level: 4 });
});

test('what cannot be seen has no settings', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const groupId = await app.make.group({ visibility: 'private' });
  const { token } = await app.make.user();
  for (const method of ['GET', 'PUT']) {
    t.is((await app.call(method, own)).status, 401);
    const inProject = await app.call(method, `/api/v3/projects/${project.id}/notification_settings`, {
      as: token,
    });
    t.deepEqual([inProject.status, inProject.body], [404, { message: '404 Project Not Found' }]);
    const inGroup = await app.call(method, `/api/v3/groups/${groupId}/notification_settings`, { as: token });
    t.deepEqual([inGroup.status, inGroup.body], [404, { message: '404 Group Not Found' }]);
  }
});
