import test from 'ava';
import { labelIds } from '../../server/actions/label-ids.ts';
import { createLabel, removeLabel } from '../../server/actions/labels.ts';
import { setLabels } from '../../server/actions/set-labels.ts';
import { AppError } from '../../server/errors.ts';
import { inTransaction } from '../../server/sql.ts';
import { withApp } from '../support/app.ts';

const holder = withApp({ poolSize: 8 });

function ids(projectId: number, titles: string[]): Promise<number[]> {
  return inTransaction(holder.app.work, (work) => labelIds(work, projectId, titles));
}

function labelsOf(projectId: number): Promise<{ id: number; title: string; color: string }[]> {
  const text = 'select id, title, color from labels where project_id = $1 order by id';
  return holder.app.rows(text, [projectId]);
}

test('labels are found, and made where there are none', async (t) => {
  const { make, work } = holder.app;
  const project = await make.project();
  const known = await createLabel(work, project.id, { title: 'known', color: '#ffffff' });
  const found = await ids(project.id, ['new', ' known ', 'new', '<b>new</b>']);
  const stored = await labelsOf(project.id);
  t.deepEqual(
    stored.map(({ title, color }) => [title, color]),
    [
      ['known', '#ffffff'],
      ['new', '#428BCA'],
    ],
  );
  t.is(stored[0]?.id, known?.id);
  t.deepEqual(
    found,
    stored.map(({ id }) => id),
  );
  t.deepEqual(await ids(project.id, ['known', 'new']), found);
  t.deepEqual(await ids(project.id, []), []);
  const other = await make.project();
  t.notDeepEqual(await ids(other.id, ['known', 'new']), found, 'each project has its own');
});

test('titles that cannot be are named before anything is written', async (t) => {
  const project = await holder.app.make.project();
  const titles = ['good', 'a?b', '__proto__&', 'x'.repeat(256)];
  const error = await t.throwsAsync(ids(project.id, titles), { instanceOf: AppError });
  t.is(error.status, 400);
  t.deepEqual(JSON.parse(JSON.stringify(error.body)), {
    labels: {
      'a?b': { title: ['is invalid'] },
      '__proto__&': { title: ['is invalid'] },
      ['x'.repeat(256)]: { title: ['is too long (maximum is 255 characters)'] },
    },
  });
  t.deepEqual(await labelsOf(project.id), []);
});

test('halves of signs are stored as what stands for them, and found again', async (t) => {
  const project = await holder.app.make.project();
  const made = await ids(project.id, ['\ud800', '\udfff']);
  t.is(made.length, 1);
  t.deepEqual(await ids(project.id, ['\ufffd']), made);
});

test('twenty that use the same labels in any order make each of them once', async (t) => {
  const project = await holder.app.make.project();
  const titles = ['a', 'b', 'c', 'd', 'e'];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ids(project.id, index % 2 ? titles : [...titles].reverse().slice(index % 3)),
    ),
  );
  const stored = await labelsOf(project.id);
  t.deepEqual(stored.map(({ title }) => title).sort(), titles);
  const known = new Set(stored.map(({ id }) => id));
  t.true(answers.flat().every((id) => known.has(id)));
});

test('labels that are in use by a transaction are there at its end, however often they are removed', async (t) => {
  const { make, work, rows } = holder.app;
  const project = await make.project();
  const [issue] = await rows<{ id: number }>(
    `insert into issues (project_id, iid, title, author_id) values ($1, 1, 'x', $2) returning id`,
    [project.id, project.owner.id],
  );
  const id = issue?.id ?? 0;
  for (let round = 0; round < 10; round += 1) {
    const use = inTransaction(work, async (inner) => {
      const found = await labelIds(inner, project.id, ['contested']);
      await setLabels(inner, { type: 'Issue', id }, found);
    });
    const remove = () =>
      inTransaction(work, (inner) => removeLabel(inner, { projectId: project.id, title: 'contested' }));
    await Promise.all([use, remove(), remove()]);
    const dangling = await rows('select 1 from issue_labels where label_id not in (select id from labels)');
    t.deepEqual(dangling, []);
  }
});

test('an issue or merge request gets the given labels and no others, and what changed is told', async (t) => {
  const { make, work, rows } = holder.app;
  const project = await make.project();
  const [first = 0, second = 0, third = 0] = await ids(project.id, ['1', '2', '3']);
  const [issue] = await rows<{ id: number }>(
    `insert into issues (project_id, iid, title, author_id) values ($1, 1, 'x', $2) returning id`,
    [project.id, project.owner.id],
  );
  const [request] = await rows<{ id: number }>(
    `insert into merge_requests (project_id, iid, source_branch, target_branch, title, author_id)
     values ($1, 1, 'a', 'b', 'x', $2) returning id`,
    [project.id, project.owner.id],
  );
  for (const [type, id, table] of [
    ['Issue', issue?.id ?? 0, 'issue_labels where issue_id'],
    ['MergeRequest', request?.id ?? 0, 'merge_request_labels where merge_request_id'],
  ] as const) {
    const set = (labels: number[]) => setLabels(work, { type, id }, labels);
    t.deepEqual(await set([second, first, first]), { added: [first, second], removed: [] });
    t.deepEqual(await set([second, third]), { added: [third], removed: [first] });
    t.deepEqual(await set([second, third]), { added: [], removed: [] });
    t.is((await rows(`select 1 from ${table} = $1`, [id])).length, 2);
    t.deepEqual(await set([]), { added: [], removed: [second, third] });
  }
});
