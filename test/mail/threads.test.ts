import test from 'ava';
import { notify } from '../../server/mail/notify.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { withMailScene } from '../support/mail-scene.ts';
import type { MadeUser } from '../support/make.ts';
import { header, textOf } from '../support/with-mail.ts';

const { holder, post, lastMail, member, subscribe, tell } = withMailScene();

test.serial('a new issue begins a thread, in the name of who opened it', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const assignee = await member(project);
  const columns = { title: 'It is broken', description: '**Really**\n', assignee_id: assignee.id };
  const { id, iid } = await app.make.issue(project, { columns });
  await tell({ kind: 'opened', type: 'Issue', id, by: project.owner.id });
  const mail = lastMail(assignee);
  const owner = `Name of ${project.owner.username}`;
  t.is(mail.mail.subject, `${project.path} | It is broken (#${iid})`);
  t.is(header(mail, 'From'), `${owner} <hearth@forge.example.com>`);
  t.is(header(mail, 'Message-ID'), `<issue_${id}@forge.example.com>`);
  t.is(header(mail, 'In-Reply-To'), undefined);
  t.is(header(mail, 'X-GitLab-Issue-ID'), String(id));
  t.is(header(mail, 'X-GitLab-Project'), project.path);
  t.is(header(mail, 'X-GitLab-Project-Id'), String(project.id));
  t.is(header(mail, 'X-GitLab-Project-Path'), project.fullPath);
  t.is(header(mail, 'Auto-Submitted'), 'auto-generated');
  const url = `${app.url}/${project.fullPath}/issues/${iid}`;
  t.is(
    textOf(mail),
    `${owner} opened issue #${iid}: It is broken\n\nAssigned to Name of ${assignee.username}\n\n**Really**\n\n${url}`,
  );
});

test.serial('a new merge request says what it would merge', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const watcher = await member(project, 'watch');
  const columns = { title: 'Mend it', source_branch: 'mend', target_branch: 'master' };
  const { id, iid } = await app.make.mergeRequest(project, { columns });
  await tell({ kind: 'opened', type: 'MergeRequest', id, by: project.owner.id });
  const mail = lastMail(watcher);
  t.is(mail.mail.subject, `${project.path} | Mend it (!${iid})`);
  t.is(header(mail, 'Message-ID'), `<merge_request_${id}@forge.example.com>`);
  t.is(header(mail, 'X-GitLab-MergeRequest-ID'), String(id));
  const url = `${app.url}/${project.fullPath}/merge_requests/${iid}`;
  const first = `Name of ${project.owner.username} opened merge request !${iid}: Mend it`;
  t.is(textOf(mail), `${first}\n\nMerges mend into master\n\n${url}`);
});

test.serial('all that follows answers the first message, and has an id of its own', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const watcher = await member(project, 'watch');
  const { id, iid, title } = await app.make.issue(project);
  const about = { type: 'Issue', id, by: project.owner.id } as const;
  const noteId = await app.make.note(project, about, {
    author: project.owner,
    columns: { body: 'So *be* it.' },
  });
  const who = `Name of ${project.owner.username}`;
  const url = `${app.url}/${project.fullPath}/issues/${iid}`;
  const ids = new Set<string | undefined>();
  for (const [happening, text] of [
    [{ kind: 'closed', ...about }, `${who} closed issue #${iid}.\n\n${url}`],
    [{ kind: 'reopened', ...about }, `${who} reopened issue #${iid}.\n\n${url}`],
    [
      { kind: 'note', noteId, by: project.owner.id },
      `${who} commented:\n\nSo *be* it.\n\n${url}#note_${noteId}`,
    ],
  ] as const) {
    await tell(happening);
    const mail = lastMail(watcher);
    t.is(mail.mail.subject, `Re: ${project.path} | ${title} (#${iid})`);
    t.is(header(mail, 'From'), `${who} <hearth@forge.example.com>`);
    t.is(header(mail, 'In-Reply-To'), `<issue_${id}@forge.example.com>`);
    t.is(header(mail, 'References'), `<issue_${id}@forge.example.com>`);
    t.is(header(mail, 'X-GitLab-Issue-ID'), String(id));
    t.is(textOf(mail), text);
    ids.add(header(mail, 'Message-ID'));
  }
  t.is(ids.size, 3);
});

test.serial('that it goes to somebody else, and its labels, are said by name', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const [before, now] = [await member(project), await member(project, 'watch')];
  const { id, iid } = await app.make.mergeRequest(project, { columns: { assignee_id: now.id } });
  const about = { type: 'MergeRequest', id, by: project.owner.id } as const;
  const who = `Name of ${project.owner.username}`;
  const said = (user: MadeUser) => textOf(lastMail(user)).split('\n')[0];
  await tell({ kind: 'reassigned', ...about, previousAssigneeId: before.id });
  const [from, to] = [`Name of ${before.username}`, `Name of ${now.username}`];
  t.is(said(before), `${who} reassigned merge request !${iid} from ${from} to ${to}.`);
  await tell({ kind: 'reassigned', ...about, previousAssigneeId: null });
  t.is(said(now), `${who} assigned merge request !${iid} to ${to}.`);
  await app.rows('update merge_requests set assignee_id = null where id = $1', [id]);
  await tell({ kind: 'reassigned', ...about, previousAssigneeId: before.id });
  t.is(said(before), `${who} took merge request !${iid} from ${from}.`);
  const labelIds = [await app.make.label(project, 'urgent'), await app.make.label(project, 'bug')];
  for (const label_id of labelIds) await subscribe(now, { label_id });
  await tell({ kind: 'labelled', ...about, labelIds });
  t.is(said(now), `${who} labelled merge request !${iid} with "bug", "urgent".`);
  await app.rows('delete from labels where id = any($1)', [labelIds]);
  t.deepEqual(await tell({ kind: 'labelled', ...about, labelIds }), []);
});

test.serial('where an issue moved to is told to those who may see that', async (t) => {
  const { app } = holder;
  const [project, hidden] = [await app.make.project(), await app.make.project()];
  const [insider, outsider] = [await member(project, 'watch'), await member(project, 'watch')];
  await app.make.row('project_members', { project_id: hidden.id, user_id: insider.id, access_level: 10 });
  await app.make.row('notification_settings', { project_id: hidden.id, user_id: insider.id, level: 0 });
  const [old, successor] = [await app.make.issue(project), await app.make.issue(hidden)];
  await tell({ kind: 'moved', type: 'Issue', id: old.id, newId: successor.id, by: project.owner.id });
  const url = `${app.url}/${hidden.fullPath}/issues/${successor.iid}`;
  t.true(textOf(lastMail(insider)).includes(`It goes on here:\n${url}\n`));
  const others = textOf(lastMail(outsider));
  t.true(others.includes(`moved issue #${old.iid} to another project.`));
  t.false(others.includes(hidden.path));
});

test.serial('comments on a commit, and on a snippet, are threads as well', async (t) => {
  const { app } = holder;
  const project = await app.make.project({ columns: { snippets_enabled: true } });
  const watcher = await member(project, 'watch');
  const sha = await looseCommit(app, project);
  const place = { path: 'a/b.c', line: 7, line_type: 'new' };
  const onCommit = await app.make.note(
    project,
    { type: 'Commit', sha },
    { author: project.owner, columns: { body: 'Hm.', ...place } },
  );
  await tell({ kind: 'note', noteId: onCommit, by: project.owner.id });
  const first = lastMail(watcher);
  t.regex(
    first.mail.subject ?? '',
    new RegExp(`^Re: ${project.path} \\| Commit \\d+ \\(${sha.slice(0, 8)}\\)$`),
  );
  t.is(header(first, 'In-Reply-To'), `<commit_${project.id}_${sha}@forge.example.com>`);
  t.is(header(first, 'X-GitLab-Commit-ID'), sha);
  const url = `${app.url}/${project.fullPath}`;
  const who = `Name of ${project.owner.username}`;
  t.is(textOf(first), `${who} commented on a/b.c, line 7:\n\nHm.\n\n${url}/commit/${sha}#note_${onCommit}`);
  const id = await app.make.snippet(project, { columns: { visibility_level: 10, title: 'Trick' } });
  const onSnippet = await app.make.note(project, { type: 'Snippet', id }, { author: project.owner });
  await tell({ kind: 'note', noteId: onSnippet, by: project.owner.id });
  const second = lastMail(watcher);
  t.is(second.mail.subject, `Re: ${project.path} | Trick ($${id})`);
  t.is(header(second, 'References'), `<snippet_${id}@forge.example.com>`);
  t.is(header(second, 'X-GitLab-Snippet-ID'), String(id));
  t.true(textOf(second).endsWith(`${url}/snippets/${id}#note_${onSnippet}`));
});

test.serial('a comment on a commit that cannot be read is told all the same', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const watcher = await member(project, 'watch');
  const sha = '1'.repeat(40);
  const noteId = await app.make.note(project, { type: 'Commit', sha }, { author: project.owner });
  await tell({ kind: 'note', noteId, by: project.owner.id });
  t.is(lastMail(watcher).mail.subject, `Re: ${project.path} | Commit (11111111)`);
});

test.serial('ends of lines in titles make no headers', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const watcher = await member(project, 'watch');
  const title = 'Eve\r\nBcc: victim@example.com\r\n\r\nBody';
  const { id } = await app.make.issue(project, { columns: { title } });
  await tell({ kind: 'opened', type: 'Issue', id, by: project.owner.id });
  const { mail, envelope } = lastMail(watcher);
  t.deepEqual(envelope.to, [`${watcher.username}@example.com`]);
  t.is(mail.bcc, undefined);
});

test.serial('a task that is repeated before its messages left sends each of them once', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const watchers = [await member(project, 'watch'), await member(project, 'watch')];
  const { id } = await app.make.issue(project);
  const happening = { kind: 'closed', type: 'Issue', id, by: project.owner.id } as const;
  for (let time = 0; time < 3; time += 1) await notify(app.work, { happening, id: 'the-same' });
  await app.runTasks();
  t.is(post.server.received.length, 2);
  for (const watcher of watchers) {
    t.is(lastMail(watcher).mail.messageId, `<the-same.${watcher.id}@forge.example.com>`);
  }
});
