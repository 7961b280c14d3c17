import test from 'ava';
import { gitWithInput } from '../git/real-git.ts';
import { rootToken, withApp } from '../support/app.ts';
import { ask, branchedProject, forkWithCommit, type ShownMergeRequest } from '../support/merge-requests.ts';

const holder = withApp({ poolSize: 20 });

function tally(values: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

test.serial('of twenty that ask for the same, one gets it and the others are told', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask(app, project, project.owner, { title: 'One', labels: `a,b,c${index}` }),
    ),
  );
  t.deepEqual(tally(answers.map(({ status }) => status)), { 200: 1, 409: 19 });
  const told = answers.filter(({ status }) => status === 409).map(({ body }) => JSON.stringify(body));
  t.is(new Set(told).size, 1);
  t.regex(told[0] ?? '', /already exists/);
  const rows = await app.rows('select iid from merge_requests where project_id = $1', [project.id]);
  t.deepEqual(rows, [{ iid: 1 }]);
  const [counter] = await app.rows('select last_merge_request_iid as last from projects where id = $1', [
    project.id,
  ]);
  t.deepEqual(counter, { last: 1 });
});

test.serial('fifty at once get the numbers from one to fifty', async (t) => {
  const { app } = holder;
  const { project, dir, side } = await branchedProject(app);
  const names = Array.from({ length: 50 }, (_, index) => `branch-${index}`);
  await gitWithInput(
    dir,
    ['update-ref', '--stdin'],
    names.map((name) => `create refs/heads/${name} ${side}\n`).join(''),
  );
  const answers = await Promise.all(
    names.map((source_branch) => ask(app, project, project.owner, { source_branch, labels: 'new,old' })),
  );
  t.deepEqual(tally(answers.map(({ status }) => status)), { 200: 50 });
  t.deepEqual(
    answers.map(({ body }) => body.iid).sort((a, b) => a - b),
    names.map((_, index) => index + 1),
  );
  t.deepEqual(await app.rows('select title from labels where project_id = $1 order by title', [project.id]), [
    { title: 'new' },
    { title: 'old' },
  ]);
  const heads = await gitWithInput(dir, ['for-each-ref', '--format=%(refname)', 'refs/merge-requests'], '');
  t.is(heads.trim().split('\n').length, 50);
});

test.serial('opening again, asking anew and another target meet: one of them is open', async (t) => {
  const { app } = holder;
  const { project, dir, first } = await branchedProject(app);
  await gitWithInput(dir, ['update-ref', '--stdin'], `create refs/heads/stable ${first}\n`);
  const path = (id: number) => `/api/v3/projects/${project.id}/merge_requests/${id}`;
  const put = (id: number, json: Record<string, unknown>) =>
    app.call<ShownMergeRequest>('PUT', path(id), { as: project.owner.token, json });
  for (let round = 0; round < 6; round += 1) {
    const closed = await ask(app, project, project.owner);
    await put(closed.body.id, { state_event: 'close' });
    const other = await ask(app, project, project.owner, { target_branch: 'stable' });
    const answers = await Promise.all([
      put(closed.body.id, { state_event: 'reopen' }),
      ask(app, project, project.owner),
      put(other.body.id, { target_branch: 'master' }),
      put(closed.body.id, { state_event: 'reopen', title: 'Again' }),
    ]);
    t.true(answers.every(({ status }) => status === 200 || status === 409));
    t.true(answers.some(({ status }) => status === 200));
    const open = await app.rows<{ id: number; target_branch: string }>(
      `select id, target_branch from merge_requests where project_id = $1 and state in ('opened', 'reopened')`,
      [project.id],
    );
    t.is(open.filter((row) => row.target_branch === 'master').length, 1);
    for (const { id } of open) await put(id, { state_event: 'close' });
  }
});

test.serial('several from forks at once: each has its commits in the target', async (t) => {
  const { app } = holder;
  const { project } = await branchedProject(app, { visibility: 'public' });
  const forks = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const owner = await app.make.user();
      return { owner, ...(await forkWithCommit(app, project, owner)) };
    }),
  );
  const answers = await Promise.all(
    forks.map((fork) => ask(app, fork, fork.owner, { source_branch: 'mine', target_project_id: project.id })),
  );
  t.deepEqual(tally(answers.map(({ status }) => status)), { 200: 5 });
  for (const { body } of answers) {
    const changes = await app.call<{ changes: unknown[] }>(
      'GET',
      `/api/v3/projects/${project.id}/merge_requests/${body.id}/changes`,
      { as: rootToken },
    );
    t.is(changes.body.changes.length, 1);
  }
});
