import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';

const holder = withApp();
let mails: MailServer;
let hookId = 0;

test.serial.before(async () => {
  mails = await startMailServer();
  const { app } = holder;
  app.services.mail = mails.mailer();
  Object.assign(app.work, { mail: app.services.mail });
  const [hook] = await app.rows<{ id: number }>(
    "insert into hooks (url) values ('http://127.0.0.1:1/') returning id",
  );
  hookId = hook?.id ?? 0;
});
test.after.always(() => mails.close());

/** Subjects of what arrived for an address since the last look. */
async function subjectsFor(address: string): Promise<(string | undefined)[]> {
  await holder.app.runTasks();
  const found = mails.received.filter(({ envelope }) => envelope.to.includes(address));
  mails.received.length = 0;
  return found.map(({ mail }) => mail.subject);
}

/** Names of what the system's hooks are told since the last look. */
async function told(): Promise<{ event_name: string; [key: string]: unknown }[]> {
  const rows = await holder.app.rows<{ body: string }>(
    'with gone as (delete from hook_deliveries where hook_id = $1 returning id, body) select body from gone order by id',
    [hookId],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

test.serial('a user who is made is announced', async (t) => {
  const { app } = holder;
  const form = { username: 'news', name: 'News', email: 'news@example.org', password: 'long enough' };
  const { body } = await app.call<{ id: number }>('POST', '/api/v3/users', { as: rootToken, form });
  const [event, ...more] = await told();
  t.like(event, { event_name: 'user_create', name: 'News', email: 'news@example.org', user_id: body.id });
  t.deepEqual(more, []);
  t.deepEqual(await subjectsFor('news@example.org'), [], 'no mail for users made through the interface');
});

for (const who of ['himself', 'an administrator']) {
  test.serial(
    `a key and an address that ${who} adds are told to the user; keys to the hooks too`,
    async (t) => {
      const { app } = holder;
      const user = await app.make.user();
      const isOwn = who === 'himself';
      const [as, place] = isOwn ? [user.token, '/user'] : [rootToken, `/users/${user.id}`];
      const form = { title: 'laptop', key: sshKeyLine(who) };
      const { body } = await app.call<{ id: number }>('POST', `/api/v3${place}/keys`, { as, form });
      t.is((await subjectsFor(`${user.username}@example.com`)).length, 1);
      const email = `new-${user.username}@example.org`;
      await app.call('POST', `/api/v3${place}/emails`, { as, form: { email } });
      t.is((await subjectsFor(`${user.username}@example.com`)).length, 1);
      await app.call('DELETE', `/api/v3${place}/keys/${body.id}`, { as });
      const common = { username: user.username, id: body.id };
      const events = await told();
      t.is(events.length, 2);
      t.like(events[0], { event_name: 'key_create', ...common });
      t.like(events[1], { event_name: 'key_destroy', ...common });
    },
  );
}

test.serial('a refused key and a refused address are told to nobody', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const form = { title: 'laptop', key: 'fake', email: `${user.username}@example.com` };
  for (const path of ['/user/keys', '/user/emails']) {
    t.is((await app.call('POST', `/api/v3${path}`, { as: user.token, form })).status, 400);
  }
  t.deepEqual(await subjectsFor(form.email), []);
  t.deepEqual(await told(), []);
});

test.serial('deploy keys are announced without a user', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const path = `/api/v3/projects/${project.id}/keys`;
  const as = project.owner.token;
  const form = { title: 'deploy', key: sshKeyLine('deploy news') };
  const { body } = await app.call<{ id: number }>('POST', path, { as, form });
  await app.call('POST', path, { as, form });
  await app.call('DELETE', `${path}/${body.id}`, { as });
  const events = await told();
  t.deepEqual(
    events.map(({ event_name, id, username }) => [event_name, id, username]),
    [
      ['deploykey_create', body.id, undefined],
      ['deploykey_destroy', body.id, undefined],
    ],
  );
});

test.serial('members of his projects are told when a user is called otherwise', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user });
  const member = await app.make.member(project, 'developer');
  await app.call('PUT', `/api/v3/users/${user.id}`, { as: rootToken, form: { bio: 'same name' } });
  t.deepEqual(await subjectsFor(`${member.username}@example.com`), []);
  await app.call('PUT', `/api/v3/users/${user.id}`, { as: rootToken, form: { username: 'renamed' } });
  t.is((await subjectsFor(`${member.username}@example.com`)).length, 1);
});
