import test from 'ava';
import { git } from '../git/real-git.ts';
import { type Answer, withApp } from '../support/app.ts';
import {
  addBranch,
  ask,
  type Branched,
  branchedProject,
  type ShownMergeRequest,
} from '../support/merge-requests.ts';

const holder = withApp();

interface Scene extends Branched {
  id: number;
  put(json: Record<string, unknown>, as?: string): Promise<Answer<ShownMergeRequest>>;
  notes(): Promise<string[]>;
  /** Of the hook that hears of everything. */
  actions(): Promise<string[]>;
  events(): Promise<string[]>;
}

async function scene(json: Record<string, unknown> = {}): Promise<Scene> {
  const { app } = holder;
  const branched = await branchedProject(app);
  const { project } = branched;
  const { body } = await ask(app, project, project.owner, json);
  const [hook] = await app.rows<{ id: number }>(
    `insert into hooks (project_id, url, merge_requests_events) values ($1, 'http://127.0.0.1:1', true) returning id`,
    [project.id],
  );
  const path = `/api/v3/projects/${project.id}/merge_requests/${body.id}`;
  const texts = async (text: string, value: unknown) =>
    (await app.rows<{ text: string }>(text, [value])).map((row) => row.text);
  return {
    ...branched,
    id: body.id,
    put: (sent, as = project.owner.token) => app.call('PUT', path, { as, json: sent }),
    notes: () =>
      texts(
        `select body as text from notes where noteable_type = 'MergeRequest' and noteable_id = $1 and system order by id`,
        body.id,
      ),
    actions: () =>
      texts(
        `select subject::json->>'action' as text from hook_deliveries where hook_id = $1 order by id`,
        hook?.id,
      ),
    events: () => texts('select action as text from events where project_id = $1 order by id', project.id),
  };
}

function stateOf({ status, body }: Answer<ShownMergeRequest>): string {
  return status === 200 ? body.state : String(status);
}

test('closed and opened again, with all that is told of it', async (t) => {
  const { put, notes, actions, events } = await scene();
  t.is(stateOf(await put({ state_event: 'reopen' })), 'opened');
  t.is(stateOf(await put({ state_event: 'close' })), 'closed');
  t.is(stateOf(await put({ state_event: 'close' })), 'closed');
  t.is(stateOf(await put({ state_event: 'reopen' })), 'reopened');
  t.is(stateOf(await put({ state_event: 'reopen' })), 'reopened');
  t.is(stateOf(await put({ state_event: 'close' })), 'closed');
  t.is(stateOf(await put({ state_event: 'explode' })), '400');
  const told = ['closed', 'reopened', 'closed'];
  t.deepEqual(
    await notes(),
    told.map((state) => `Status changed to ${state}`),
  );
  t.deepEqual(await actions(), ['close', 'reopen', 'close']);
  t.deepEqual(await events(), ['opened', 'closed', 'opened', 'closed']);
});

test('a merged one stays merged', async (t) => {
  const { put, id, events } = await scene();
  await holder.app.rows(`update merge_requests set state = 'merged' where id = $1`, [id]);
  t.is(stateOf(await put({ state_event: 'close' })), 'merged');
  t.is(stateOf(await put({ state_event: 'reopen' })), 'merged');
  const refused = await put({ target_branch: 'side' });
  t.is(refused.status, 405);
  t.deepEqual(refused.body as unknown, { message: '405 Method Not Allowed' });
  t.is((await put({ target_branch: 'master', title: 'Done' })).body.title, 'Done');
  t.deepEqual(await events(), ['opened']);
});

test('opened again only where no other one is open by then', async (t) => {
  const { put, project, id } = await scene();
  await put({ state_event: 'close' });
  const { body: second } = await ask(holder.app, project, project.owner, { title: 'Second' });
  const refused = await put({ state_event: 'reopen', title: 'Not this' });
  t.is(refused.status, 409);
  t.deepEqual(refused.body as unknown, {
    message: ['Cannot Create: This merge request already exists: ["Second"]'],
  });
  const [row] = await holder.app.rows('select state, title from merge_requests where id = $1', [id]);
  t.deepEqual(row, { state: 'closed', title: 'Merge me' });
  t.is(second.iid, 2);
});

test('opened again for another target, where the old one has one already', async (t) => {
  const { put, project, dir, first, notes } = await scene();
  await addBranch(dir, 'stable', first);
  await put({ state_event: 'close' });
  await ask(holder.app, project, project.owner);
  const again = await put({ state_event: 'reopen', target_branch: 'stable' });
  t.is(stateOf(again), 'reopened');
  t.is(again.body.target_branch, 'stable');
  t.deepEqual(await notes(), [
    'Status changed to closed',
    'Status changed to reopened',
    'Target branch changed from `master` to `stable`',
  ]);
});

test('opened again only where both branches are there', async (t) => {
  const { put, dir, side } = await scene();
  await put({ state_event: 'close' });
  await git(dir, 'update-ref', '-d', 'refs/heads/side');
  const refused = await put({ state_event: 'reopen' });
  t.is(refused.status, 400);
  t.deepEqual(refused.body as unknown, { message: { source_branch: ['does not exist'] } });
  await addBranch(dir, 'side', side);
  t.is(stateOf(await put({ state_event: 'reopen' })), 'reopened');
});

test('another target: the base is another one, and nothing is known of whether it can be merged', async (t) => {
  const { app } = holder;
  const { put, project, dir, id, first, master, side, notes, actions } = await scene();
  await addBranch(dir, 'stable', master);
  await addBranch(dir, 'twin', side);
  await app.rows(
    `update merge_requests set merge_status = 'can_be_merged', merge_when_build_succeeds = true where id = $1`,
    [id],
  );
  const row = async () =>
    (
      await app.rows<Record<string, unknown>>(
        'select target_branch, head_sha, base_sha, merge_when_build_succeeds from merge_requests where id = $1',
        [id],
      )
    )[0];
  t.is((await put({ target_branch: 'stable' })).body.target_branch, 'stable');
  t.deepEqual(await row(), {
    target_branch: 'stable',
    head_sha: side,
    base_sha: first,
    merge_when_build_succeeds: false,
  });
  t.deepEqual(await notes(), ['Target branch changed from `master` to `stable`']);
  t.deepEqual(await actions(), ['update']);
  t.is((await put({ target_branch: 'twin' })).status, 200);
  t.like(await row(), { target_branch: 'twin', base_sha: side });
  const absent = await put({ target_branch: 'nowhere' });
  t.is(absent.status, 400);
  t.deepEqual(absent.body as unknown, { message: { target_branch: ['does not exist'] } });
  const same = await put({ target_branch: 'side' });
  t.is(same.status, 422);
  t.deepEqual(same.body as unknown, {
    message: ['You can not use same project/branch for source and target'],
  });
  await ask(app, project, project.owner, { title: 'Second' });
  t.is((await put({ target_branch: 'master' })).status, 409);
  t.like(await row(), { target_branch: 'twin' });
  await put({ state_event: 'close' });
  t.is((await put({ target_branch: 'master' })).body.state, 'closed');
});

test('the source stays what it is', async (t) => {
  const { put } = await scene();
  for (const source_branch of ['other', 'side']) {
    const refused = await put({ source_branch, title: 'x' });
    t.is(refused.status, 400);
    t.deepEqual(refused.body as unknown, { message: 'Source branch cannot be changed' });
  }
});

test('title, description, assignee, milestone and labels, with their notes', async (t) => {
  const { app } = holder;
  const { put, project, notes, actions } = await scene({ description: '- [ ] one' });
  const helper = await app.make.member(project, 'reporter');
  const [milestone] = await app.rows<{ id: number }>(
    `insert into milestones (project_id, iid, title) values ($1, 4, 'Soon') returning id`,
    [project.id],
  );
  const changed = await put({
    title: 'WIP: Merge me ',
    description: '- [x] one',
    assignee_id: helper.id,
    milestone_id: milestone?.id,
    labels: 'b,a',
  });
  t.is(changed.status, 200);
  t.like(changed.body, {
    title: 'WIP: Merge me',
    description: '- [x] one',
    work_in_progress: true,
    labels: ['a', 'b'],
  });
  t.is(changed.body.assignee?.id, helper.id);
  t.is(changed.body.milestone?.id, milestone?.id);
  t.deepEqual(await notes(), [
    'Marked this merge request as a **Work In Progress**',
    'Marked the task **one** as completed',
    `Reassigned to @${helper.username}`,
    'Milestone changed to %4',
  ]);
  const cleared = await put({ assignee_id: 0, milestone_id: 0, labels: '', description: '' });
  t.like(cleared.body, { assignee: null, milestone: null, labels: [], description: '- [x] one' });
  t.deepEqual((await notes()).slice(4), ['Assignee removed', 'Milestone removed']);
  t.deepEqual(await actions(), ['update', 'update']);
  t.is((await put({ assignee_id: 99_999_999 })).status, 400);
  t.deepEqual((await put({ labels: 'x?', title: 'Not this' })).body as unknown, {
    message: { labels: { 'x?': { title: ['is invalid'] } } },
  });
  t.is((await put({})).body.title, 'WIP: Merge me');
  t.deepEqual(await actions(), ['update', 'update']);
});

test('only what changes it counts as a change', async (t) => {
  const { put, id } = await scene();
  const { app } = holder;
  const past = '2016-01-01T00:00:00.000Z';
  const changedBy = async (json: Record<string, unknown>) => {
    await app.rows('update merge_requests set updated_at = $2 where id = $1', [id, past]);
    return (await put(json)).body.updated_at !== past;
  };
  t.false(await changedBy({ labels: 'a' }));
  t.false(await changedBy({ title: 'Merge me' }));
  t.false(await changedBy({ state_event: 'reopen' }));
  t.true(await changedBy({ title: 'Another' }));
  t.true(await changedBy({ description: 'New' }));
  t.true(await changedBy({ state_event: 'close' }));
});

test('who may: author and assignee something, developers everything, others nothing', async (t) => {
  const { app } = holder;
  const { put, project, id } = await scene();
  const [author, assignee, reporter] = await Promise.all([
    app.make.member(project, 'guest'),
    app.make.member(project, 'guest'),
    app.make.member(project, 'reporter'),
  ]);
  const developer = await app.make.member(project, 'developer');
  const stranger = await app.make.user();
  await app.rows('update merge_requests set author_id = $2, assignee_id = $3 where id = $1', [
    id,
    author.id,
    assignee.id,
  ]);
  for (const { token } of [author, assignee]) {
    const answer = await put(
      { title: `By ${token}`, labels: 'x', assignee_id: author.id, milestone_id: 0 },
      token,
    );
    t.is(answer.status, 200);
    t.like(answer.body, { title: `By ${token}`, labels: [] });
    t.is(answer.body.assignee?.id, assignee.id);
    t.is(stateOf(await put({ state_event: 'close' }, token)), 'closed');
    t.is(stateOf(await put({ state_event: 'reopen' }, token)), 'reopened');
  }
  const by = async ({ token }: { token: string }, json = { title: 'x', labels: 'x' }) =>
    (await put(json, token)).status;
  t.is(await by(reporter), 403);
  t.is(await by(stranger), 404);
  t.is(await by(developer), 200);
  t.deepEqual((await put({}, developer.token)).body.labels, ['x']);
  await app.rows('update projects set archived = true where id = $1', [project.id]);
  for (const user of [author, assignee, developer, project.owner]) t.is(await by(user), 403);
});
