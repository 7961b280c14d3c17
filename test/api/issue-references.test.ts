import test from 'ava';
import { withApp } from '../support/app.ts';
import { issueCalls } from '../support/issues.ts';
import type { MadeThing } from '../support/make.ts';

const holder = withApp({ poolSize: 4 });
const { call, add, change, read, notesOn } = issueCalls(holder);

async function notesOnRequest({ id }: MadeThing): Promise<string[]> {
  const text = `select body from notes where noteable_type = 'MergeRequest' and noteable_id = $1 order by id`;
  return (await holder.app.rows<{ body: string }>(text, [id])).map(({ body }) => body);
}

test('what the new texts of an issue name tells of it once', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const elsewhere = await make.project({ owner: project.owner });
  const [hidden, { token }] = [await make.project(), project.owner];
  const { body: issue } = await add(project, token);
  const [named, inTitle] = [await make.issue(project), await make.issue(project)];
  const request = await make.mergeRequest(project);
  const [there, unseen] = [await make.issue(elsewhere), await make.issue(hidden)];
  const description = [
    `As in #${named.iid} and !${request.iid}, and #${issue.iid} itself,`,
    `also ${elsewhere.fullPath}#${there.iid} and ${hidden.fullPath}#${unseen.iid}`,
  ].join('\n');
  await change(issue, token, { description });
  const told = [`mentioned in issue #${issue.iid}`];
  t.deepEqual(await notesOn(named), told);
  t.deepEqual(await notesOn(inTitle), []);
  await change(issue, token, { title: `After #${inTitle.iid}` });
  await change(issue, token, { description: `${description}!` });
  await change(issue, token, { title: `Like #${named.iid}`, description: '' });
  t.deepEqual(await notesOn(named), told);
  t.deepEqual(await notesOnRequest(request), told);
  t.deepEqual(await notesOn(inTitle), told);
  t.deepEqual(await notesOn(there), [`mentioned in issue ${project.fullPath}#${issue.iid}`]);
  t.deepEqual(await notesOn(unseen), []);
  t.false((await notesOn(issue)).some((body) => body.startsWith('mentioned')));
});

test('whom the new texts of an issue name takes part, until they name him no more', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const { token } = project.owner;
  const [one, other] = [await make.member(project, 'guest'), await make.member(project, 'guest')];
  const { body: issue } = await add(project, token);
  const takePart = () =>
    Promise.all([one, other].map(async (user) => (await read(issue, user.token)).body.subscribed));
  t.deepEqual(await takePart(), [false, false]);
  await change(issue, token, { title: `For @${one.username}` });
  t.deepEqual(await takePart(), [true, false]);
  await change(issue, token, { description: `Or @${other.username}` });
  t.deepEqual(await takePart(), [true, true]);
  await change(issue, token, { title: 'For nobody' });
  t.deepEqual(await takePart(), [false, true]);
});

test('what a moved issue names tells of the new one as well, and the old one only where it went', async (t) => {
  const { make, rows } = holder.app;
  const from = await make.project();
  const to = await make.project({ owner: from.owner });
  const { token } = from.owner;
  const [named, request] = [await make.issue(from), await make.mergeRequest(from)];
  const there = await make.issue(to);
  const [stays, comes] = [await make.member(from, 'reporter'), await make.member(from, 'reporter')];
  await make.row('project_members', { project_id: to.id, user_id: comes.id, access_level: 20 });
  const iid = named.iid + 1;
  const { body: issue } = await add(from, token, {
    title: `Like ${to.fullPath}#${there.iid}`,
    description: `#${named.iid}, !${request.iid}, #${iid}, @${stays.username}, @${comes.username}`,
  });
  t.is(issue.iid, iid);
  const path = `/projects/${from.id}/issues/${issue.id}/move`;
  const { body: moved } = await call('POST', path, token, { to_project_id: to.id });
  const both = [`mentioned in issue #${iid}`, `mentioned in issue ${to.fullPath}#${moved.iid}`];
  t.deepEqual(await notesOn(named), both);
  t.deepEqual(await notesOnRequest(request), both);
  t.deepEqual(await notesOn(there), [
    `mentioned in issue ${from.fullPath}#${iid}`,
    `mentioned in issue #${moved.iid}`,
  ]);
  t.deepEqual(await notesOn(issue), [`Moved to ${to.fullPath}#${moved.iid}`]);
  const mentions = await rows('select user_id from mentions where issue_id = $1 and note_id is null', [
    moved.id,
  ]);
  t.deepEqual(mentions, [{ user_id: comes.id }]);
});
