import test from 'ava';
import { queueClosing } from '../../server/actions/queue-closing.ts';
import { SourcesOfClosings } from '../../server/migrations/20261204-sources-of-closings.ts';
import type { MadeProject, MadeThing, MadeUser } from '../support/make.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, filled } = withPushes();

/** The notes of the issue as somebody reads them. */
async function notesFor(user: MadeUser, project: MadeProject, { id }: MadeThing): Promise<string[]> {
  const path = `/api/v3/projects/${project.id}/issues/${id}/notes`;
  const { body } = await holder.app.call<{ id: number; body: string }[]>('GET', path, { as: user.token });
  return body.map((note) => note.body);
}

/** Two issues of a public project that a commit and a merge request of a private one closed, and who reads them. */
async function closedFromHidden() {
  const { app } = holder;
  const { project: hidden, tree, url } = await filled();
  const open = await app.make.project({ owner: hidden.owner, visibility: 'public' });
  const [byCommit, byRequest] = [await app.make.issue(open), await app.make.issue(open)];
  const sha = await tree.commit({ a: '1' }, `Closes ${open.fullPath}#${byCommit.iid}`);
  await tree.git('push', '--quiet', url, 'master');
  await app.runTasks();
  const description = `Closes ${open.fullPath}#${byRequest.iid}`;
  const request = await app.make.mergeRequest(hidden, { columns: { state: 'merged', description } });
  await queueClosing(app.work, {
    pushId: 0,
    merged: [{ mergeRequestId: request.id, userId: hidden.owner.id }],
  });
  await app.runTasks();
  const [outsider, member] = [await app.make.user(), await app.make.member(hidden, 'developer')];
  const commitPath = `${hidden.fullPath}@${sha}`;
  const requestPath = `${hidden.fullPath}!${request.iid}`;
  return { open, hidden, byCommit, byRequest, outsider, member, commitPath, requestPath };
}

test('what closed an issue from another project is told only to those who may see that', async (t) => {
  const { open, hidden, byCommit, byRequest, outsider, member, ...paths } = await closedFromHidden();
  const rows = await holder.app.rows('select state from issues where project_id = $1', [open.id]);
  t.deepEqual(rows, [{ state: 'closed' }, { state: 'closed' }]);
  for (const issue of [byCommit, byRequest]) t.deepEqual(await notesFor(outsider, open, issue), []);
  for (const reader of [member, hidden.owner]) {
    t.deepEqual(await notesFor(reader, open, byCommit), [
      `mentioned in commit ${paths.commitPath}`,
      `Status changed to closed by commit ${paths.commitPath}`,
    ]);
    const closing = `Status changed to closed by merge request ${paths.requestPath}`;
    t.deepEqual(await notesFor(reader, open, byRequest), [closing]);
  }
  // He may not read the code.
  const guest = await holder.app.make.member(hidden, 'guest');
  t.deepEqual(await notesFor(guest, open, byCommit), []);
});

test.serial('notes from before that name the other project are hidden too', async (t) => {
  const { app } = holder;
  const { open, byCommit, byRequest, outsider, member } = await closedFromHidden();
  const kept = `select reference_type, reference_project_id, reference_id, reference_sha from notes
    where project_id = $1 order by id`;
  const before = await app.rows(kept, [open.id]);
  await app.rows(
    `update notes set reference_type = null, reference_project_id = null, reference_id = null, reference_sha = null
     where project_id = $1 and body like 'Status changed %'`,
    [open.id],
  );
  t.is((await notesFor(outsider, open, byRequest)).length, 1);
  const { em, config } = app.services.orm;
  const migration = new SourcesOfClosings(em.getDriver(), config);
  migration.up();
  for (const query of migration.getQueries()) await app.rows(String(query));
  t.deepEqual(await app.rows(kept, [open.id]), before);
  for (const issue of [byCommit, byRequest]) t.deepEqual(await notesFor(outsider, open, issue), []);
  t.is((await notesFor(member, open, byCommit)).length, 2);
});
