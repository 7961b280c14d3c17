import test from 'ava';
import { mailMember, mailNewEmail, mailNewKey, mailProjectMoves } from '../../server/mail/queue-mail.ts';
import { inTransaction } from '../../server/sql.ts';
import { mailLogin, startMailServer } from '../support/mail-server.ts';
import { header, withMail } from '../support/with-mail.ts';

const { holder, post, mailsOf } = withMail();

/** Those that are done are removed a moment after they are, and locked until then. */
async function waiting(): Promise<{ payload: { attempt: number } }[]> {
  return holder.app.rows(
    `select p.payload from graphile_worker.jobs j
     join graphile_worker._private_jobs p on p.id = j.id where j.task_identifier = 'send_mail' and j.locked_at is null`,
  );
}

test.serial('a new key is told to its owner, by name, with an id and marked as automatic', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  await mailNewKey(app.work, user.id, { title: 'Läptop' });
  await app.runTasks();
  const [mail, ...more] = mailsOf(user);
  t.is(more.length, 0);
  if (!mail) return t.fail();
  t.deepEqual(mail.envelope, { from: 'hearth@forge.example.com', to: [`${user.username}@example.com`] });
  t.is(header(mail, 'From'), 'Hearth <hearth@forge.example.com>');
  t.is(header(mail, 'To'), `Name of ${user.username} <${user.username}@example.com>`);
  t.is(mail.mail.subject, 'SSH key added to your account');
  t.true(mail.mail.text?.includes('"Läptop" was added to your account at 127.0.0.1'));
  t.regex(header(mail, 'Message-ID') ?? '', /^<[0-9a-f-]{36}@forge\.example\.com>$/);
  t.is(header(mail, 'Auto-Submitted'), 'auto-generated');
  t.is(header(mail, 'X-Auto-Response-Suppress'), 'All');
  t.true(Number.isFinite(Date.parse(header(mail, 'Date') ?? '')));
});

test.serial('a new e-mail address is told to the address that was there before', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  await mailNewEmail(app.work, user.id, 'new@example.org');
  await app.runTasks();
  t.deepEqual(
    post.server.received.map(({ envelope }) => envelope.to),
    [[`${user.username}@example.com`]],
  );
  t.true(mailsOf(user)[0]?.mail.text?.includes('new@example.org'));
});

test.serial('a member is told his level, in the name of whoever gave it', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const member = await app.make.member(project, 'developer');
  const by = project.owner.id;
  const news = { in: 'project', id: project.id, userId: member.id, accessLevel: 30, by } as const;
  await mailMember(app.work, news);
  const groupId = await app.make.group({ path: 'the-group' });
  await app.make.groupMember(groupId, member, 'master');
  await mailMember(app.work, { ...news, in: 'group', id: groupId, accessLevel: 40 });
  await app.runTasks();
  const mails = mailsOf(member);
  const inProject = mails.find(({ mail }) => mail.subject?.includes('developer'));
  const inGroup = mails.find(({ mail }) => mail.subject?.includes('master'));
  if (!inProject || !inGroup) return t.fail();
  t.is(inProject.mail.from?.value[0]?.name, `Name of ${project.owner.username}`);
  t.is(inProject.mail.from?.value[0]?.address, 'hearth@forge.example.com');
  t.is(inProject.mail.subject, `Name of ${project.owner.username} / ${project.path} | You are now developer`);
  t.true(inProject.mail.text?.includes(`${app.url}/${project.fullPath}`));
  t.is(header(inProject, 'X-GitLab-Project'), project.path);
  t.is(header(inProject, 'X-GitLab-Project-Id'), String(project.id));
  t.is(header(inProject, 'X-GitLab-Project-Path'), project.fullPath);
  const list = `${project.id}.${project.path}.${project.owner.username}.forge.example.com`;
  t.is(header(inProject, 'List-Id'), `${project.fullPath} <${list}>`);
  t.is(inGroup.mail.subject, 'the-group | You are now master');
  t.true(inGroup.mail.text?.includes(`${app.url}/groups/the-group`));
});

test.serial('a project that moved tells every member of it and of its group once', async (t) => {
  const { app } = holder;
  const groupId = await app.make.group();
  const project = await app.make.project({ namespaceId: groupId });
  const inBoth = await app.make.member(project, 'guest');
  const inGroup = await app.make.user();
  const stranger = await app.make.user();
  await app.make.groupMember(groupId, inBoth, 'developer');
  await app.make.groupMember(groupId, inGroup, 'guest');
  await mailProjectMoves(app.work, [{ projectId: project.id, oldPath: 'old/place' }], project.owner.id);
  await app.runTasks();
  for (const member of [inBoth, inGroup]) {
    const [mail, ...more] = mailsOf(member);
    t.is(more.length, 0);
    t.true(mail?.mail.subject?.endsWith(' | Project has a new address'));
    t.true(mail?.mail.text?.includes('old/place'));
    t.true(mail?.mail.text?.includes(`git remote set-url origin ${app.url}/${project.fullPath}.git`));
  }
  t.is(mailsOf(stranger).length, 0);
  t.is(new Set(post.server.received.map(({ mail }) => mail.messageId)).size, 2);
});

test.serial(
  'the owner of a personal project hears of its move too, unless he wants no mail of it',
  async (t) => {
    const { app } = holder;
    const project = await app.make.project();
    await mailProjectMoves(app.work, [{ projectId: project.id, oldPath: 'a/b' }], project.owner.id);
    await app.runTasks();
    t.is(mailsOf(project.owner).length, 1);
    const path = `/api/v3/projects/${project.id}/notification_settings`;
    await app.call('PUT', path, { as: project.owner.token, form: { level: 'disabled' } });
    await mailProjectMoves(app.work, [{ projectId: project.id, oldPath: 'a/b' }], project.owner.id);
    await app.runTasks();
    t.is(mailsOf(project.owner).length, 1, 'but where he wants none');
  },
);

test.serial('mail goes to the chosen address while it is the user’s own', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  await app.rows(`insert into emails (user_id, email) values ($1, 'Second@example.org')`, [user.id]);
  const addresses: string[] = [];
  for (const chosen of ['second@example.org', 'gone@example.org', `${user.username}@example.com`, null]) {
    await app.rows('update users set notification_email = $2 where id = $1', [user.id, chosen]);
    await mailNewKey(app.work, user.id, { title: 'x' });
    await app.runTasks();
    addresses.push(post.server.received.at(-1)?.envelope.to[0] ?? '');
  }
  const primary = `${user.username}@example.com`;
  t.deepEqual(addresses, ['second@example.org', primary, primary, primary]);
});

test.serial('blocked users get none, and those who want none only what concerns themselves', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const blocked = await app.make.member(project, 'guest');
  const quiet = await app.make.member(project, 'guest');
  const quietHere = await app.make.member(project, 'guest');
  const loudHere = await app.make.member(project, 'guest');
  await app.rows(`update users set state = 'blocked' where id = $1`, [blocked.id]);
  await app.rows('update users set notification_level = 0 where id in ($1, $2)', [quiet.id, loudHere.id]);
  const setLevel = 'update project_members set notification_level = $2 where user_id = $1';
  await app.rows(setLevel, [quietHere.id, 0]);
  await app.rows(setLevel, [loudHere.id, 1]);
  const by = project.owner.id;
  const all = [blocked, quiet, quietHere, loudHere];
  const counts = async () => {
    await app.runTasks();
    return all.map((user) => mailsOf(user).length);
  };
  await mailProjectMoves(app.work, [{ projectId: project.id, oldPath: 'a/b' }], by);
  t.deepEqual(await counts(), [0, 0, 0, 1]);
  for (const { id: userId } of all)
    await mailMember(app.work, { ...guestIn('project', project.id), userId, by });
  t.deepEqual(await counts(), [0, 1, 1, 2], 'that he is a member of a project, or at another level');
  const groupId = await app.make.group();
  for (const { id: userId } of all) await mailMember(app.work, { ...guestIn('group', groupId), userId, by });
  t.deepEqual(await counts(), [0, 2, 2, 3], 'or of a group');
  for (const user of all) await mailNewKey(app.work, user.id, { title: 'x' });
  t.deepEqual(await counts(), [0, 3, 3, 4], 'or has a new key');
});

function guestIn<P extends 'project' | 'group'>(place: P, id: number) {
  return { in: place, id, accessLevel: 10 };
}

test.serial('what is gone by the time of sending is not written about', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const member = await app.make.member(project, 'guest');
  const gone = await app.make.user();
  const by = gone.id;
  await mailMember(app.work, { in: 'project', id: project.id, userId: member.id, accessLevel: 10, by });
  await mailNewKey(app.work, gone.id, { title: 'x' });
  await app.rows('update projects set pending_delete = true where id = $1', [project.id]);
  await app.rows('delete from namespaces where owner_id = $1', [gone.id]);
  await app.rows('delete from users where id = $1', [gone.id]);
  await app.runTasks();
  t.deepEqual(post.server.received, []);
  t.deepEqual(await waiting(), []);
});

test.serial('names with ends of lines add no header and no recipient', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const member = await app.make.member(project, 'guest');
  const evil = 'Eve\r\nBcc: victim@example.com\r\n\r\nBody\u2028X-More: 1';
  await app.rows('update users set name = $2 where id in ($1, $3)', [member.id, evil, project.owner.id]);
  await app.rows('update projects set name = $2 where id = $1', [project.id, evil]);
  const by = project.owner.id;
  await mailMember(app.work, { in: 'project', id: project.id, userId: member.id, accessLevel: 10, by });
  await mailNewKey(app.work, member.id, { title: evil });
  await app.runTasks();
  t.is(post.server.received.length, 2);
  for (const { mail, envelope } of post.server.received) {
    t.deepEqual(envelope.to, [`${member.username}@example.com`]);
    t.is(mail.bcc, undefined);
    t.deepEqual(
      mail.headerLines.map(({ key }) => key).filter((key) => /bcc|x-more/.test(key)),
      [],
    );
  }
});

test.serial('a message leaves with its transaction, and not without', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  await t.throwsAsync(
    inTransaction(app.work, async (work) => {
      await mailNewKey(work, user.id, { title: 'x' });
      throw new Error('no');
    }),
  );
  t.deepEqual(await waiting(), []);
});

test.serial('without a mail server nothing is queued, and what was is dropped', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  await mailNewKey(app.work, user.id, { title: 'x' });
  app.services.mail = null;
  const work = { ...app.work, mail: null };
  await mailNewKey(work, user.id, { title: 'y' });
  await mailProjectMoves(work, [{ projectId: 1, oldPath: 'a/b' }], user.id);
  t.is((await waiting()).length, 1);
  await app.runTasks();
  t.deepEqual(await waiting(), []);
  t.deepEqual(post.server.received, []);
});

test.serial('a server that is busy gets the same message later, once', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  post.server.replies.push({ code: 451, text: 'try later' }, { code: 421, text: 'going down' });
  await mailNewKey(app.work, user.id, { title: 'x' });
  await app.runTasks();
  t.deepEqual(
    (await waiting()).map(({ payload }) => payload.attempt),
    [2],
  );
  t.is(mailsOf(user).length, 0);
  await app.runTasks();
  t.is((await waiting()).length, 1, 'not before its time');
  await app.runAllTasks();
  await app.runAllTasks();
  t.is(mailsOf(user).length, 1);
  t.deepEqual(await waiting(), []);
});

test.serial('a message that is refused for good is not sent again', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  post.server.replies.push({ code: 550, text: 'no such user' });
  await mailNewKey(app.work, user.id, { title: 'x' });
  await app.runTasks();
  t.deepEqual(await waiting(), []);
  t.is(mailsOf(user).length, 0);
  t.true(app.logLines.some((line) => line.includes('no such user') && line.includes(`"user":${user.id}`)));
});

test.serial('a server that says nothing any more, or is not there, is asked again later', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  post.server.replies.push('silence');
  await mailNewKey(app.work, user.id, { title: 'x' });
  await app.runTasks();
  t.is((await waiting()).length, 1);
  const other = await startMailServer();
  app.services.mail = other.mailer();
  await other.close();
  await app.runAllTasks();
  t.deepEqual(
    (await waiting()).map(({ payload }) => payload.attempt),
    [3],
  );
  app.services.mail = post.server.mailer();
  await app.runAllTasks();
  t.is(mailsOf(user).length, 1);
});

test.serial(
  'whoever died while it sent leaves the message to another server, with the same id',
  async (t) => {
    const { app } = holder;
    const user = await app.make.user();
    await mailNewKey(app.work, user.id, { title: 'x' });
    const [task] = await app.rows<{ payload: { mailId: string } }>(
      `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead', attempts = 1
     where task_id = (select id from graphile_worker._private_tasks where identifier = 'send_mail') and locked_at is null
     returning payload`,
    );
    await app.runTasks();
    t.is(mailsOf(user).length, 0);
    await app.rows(`select graphile_worker.force_unlock_workers(array['dead'])`);
    await app.runAllTasks();
    t.is(mailsOf(user)[0]?.mail.messageId, `<${task?.payload.mailId}@forge.example.com>`);
    t.is(mailsOf(user).length, 1);
  },
);

test.serial('TLS is used where the server offers it, and from the start where that is set', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const secure = await startMailServer({ secure: true });
  const send = async (mail: typeof app.services.mail) => {
    app.services.mail = mail;
    await mailNewKey(app.work, user.id, { title: 'x' });
    await app.runTasks();
  };
  await send(post.server.mailer());
  t.is(post.server.received[0]?.isEncrypted, true);
  await send(secure.mailer({ secure: true }));
  t.is(secure.received[0]?.isEncrypted, true);
  await send(secure.mailer({ secure: true, trust: false }));
  t.is(secure.received.length, 1, 'not to a server that it does not know');
  t.is((await waiting()).length, 1);
  app.services.mail = secure.mailer({ secure: true });
  await app.runAllTasks();
  t.is(secure.received.length, 2);
  await secure.close();
});

test.serial('it signs in where it has a login; a wrong one waits for the administrator', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const strict = await startMailServer({ authOptional: false });
  app.services.mail = strict.mailer({ login: { ...mailLogin, password: 'wrong-mail-password' } });
  await mailNewKey(app.work, user.id, { title: 'x' });
  await app.runTasks();
  t.is((await waiting()).length, 1);
  app.services.mail = strict.mailer({ login: mailLogin });
  await app.runAllTasks();
  t.is(strict.received[0]?.user, mailLogin.user);
  t.deepEqual(await waiting(), []);
  await strict.close();
  const log = app.logLines.join('');
  t.false(log.includes('wrong-mail-password') || log.includes(mailLogin.password));
});
