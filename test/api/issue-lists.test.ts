import test from 'ava';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { type IssueAnswer, issueCalls } from '../support/issues.ts';
import type { MadeProject, MadeThing } from '../support/make.ts';

const holder = withApp({ poolSize: 4 });
const { milestone } = issueCalls(holder);

function list(path: string, as: string, query: Record<string, string> = {}): Promise<Answer<IssueAnswer[]>> {
  return holder.app.call<IssueAnswer[]>('GET', `/api/v3${path}`, { as, query });
}

/** Numbers of the issues, in the order of the answer, which must say how many there are of them. */
async function numbers(project: MadeProject, query: Record<string, string>): Promise<number[]> {
  const { body, headers } = await list(`/projects/${project.id}/issues`, project.owner.token, query);
  if (Number(headers.get('x-total')) !== body.length) throw new Error('the total is wrong');
  return body.map(({ iid }) => iid);
}

/** Four issues, made an hour apart and changed in another order; the last one is closed. */
async function fourIssues(project: MadeProject): Promise<MadeThing[]> {
  const made: MadeThing[] = [];
  for (const [hour, changed] of [4, 3, 2, 1].entries()) {
    const columns = {
      created_at: new Date(2016, 0, 1, hour),
      updated_at: new Date(2016, 1, 1, changed),
      state: hour === 3 ? 'closed' : 'opened',
    };
    made.push(await holder.app.make.issue(project, { columns }));
  }
  return made;
}

test('the newest comes first unless told, and only those of the state that is asked for', async (t) => {
  const project = await holder.app.make.project();
  await fourIssues(project);
  t.deepEqual(await numbers(project, {}), [4, 3, 2, 1]);
  t.deepEqual(await numbers(project, { sort: 'asc' }), [1, 2, 3, 4]);
  t.deepEqual(await numbers(project, { order_by: 'updated_at' }), [1, 2, 3, 4]);
  t.deepEqual(await numbers(project, { order_by: 'updated_at', sort: 'asc' }), [4, 3, 2, 1]);
  t.deepEqual(await numbers(project, { order_by: 'title', sort: 'up' }), [4, 3, 2, 1]);
  t.deepEqual(await numbers(project, { state: 'opened' }), [3, 2, 1]);
  t.deepEqual(await numbers(project, { state: 'closed' }), [4]);
  t.deepEqual(await numbers(project, { state: 'all' }), [4, 3, 2, 1]);
  t.deepEqual(await numbers(project, { iid: '2' }), [2]);
  t.deepEqual(await numbers(project, { iid: '2', state: 'closed' }), []);
});

test('of issues made at the same moment the id decides, in the same direction', async (t) => {
  const project = await holder.app.make.project();
  for (let made = 0; made < 3; made += 1) {
    await holder.app.make.issue(project, { columns: { created_at: new Date(2016, 0, 1) } });
  }
  t.deepEqual(await numbers(project, {}), [3, 2, 1]);
  t.deepEqual(await numbers(project, { sort: 'asc' }), [1, 2, 3]);
});

test('labels ask for any of the exact titles, a milestone for its title, and filters add up', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  const [first, second, third, fourth] = await fourIssues(project);
  const labels = new Map<string, number>();
  for (const title of ['bug', 'Bug', 'to do']) labels.set(title, await make.label(project, title));
  const give = (issue: MadeThing | undefined, title: string) =>
    rows('insert into issue_labels (issue_id, label_id) values ($1, $2)', [issue?.id, labels.get(title)]);
  for (const title of labels.keys()) await give(first, title);
  await give(second, 'Bug');
  await give(fourth, 'bug');
  const v1 = await milestone(project, 'v1', 1);
  await milestone(project, 'empty', 2);
  await rows('update issues set milestone_id = $1 where id = any($2)', [v1, [second?.id, third?.id]]);
  t.deepEqual(await numbers(project, { labels: 'bug' }), [4, 1]);
  t.deepEqual(await numbers(project, { labels: ' bug , Bug,none' }), [4, 2, 1]);
  t.deepEqual(await numbers(project, { labels: 'to do' }), [1]);
  t.deepEqual(await numbers(project, { labels: 'bu' }), []);
  t.deepEqual(await numbers(project, { labels: ' , ' }), [4, 3, 2, 1]);
  t.deepEqual(await numbers(project, { milestone: 'v1' }), [3, 2]);
  t.deepEqual(await numbers(project, { milestone: 'empty' }), []);
  t.deepEqual(await numbers(project, { milestone: 'V1' }), []);
  t.deepEqual(await numbers(project, { milestone: 'v1', labels: 'Bug', state: 'opened' }), [2]);
  t.deepEqual(await numbers(project, { labels: 'bug', state: 'closed', order_by: 'updated_at' }), [4]);
});

test('labels and milestones of one name in another project have nothing to do with it', async (t) => {
  const { make, rows } = holder.app;
  const [project, other] = [await make.project(), await make.project()];
  const [mine, theirs] = [await make.label(project, 'bug'), await make.label(other, 'bug')];
  const [mineMilestone] = [await milestone(project, 'v1'), await milestone(other, 'v1')];
  const issue = await make.issue(project, { columns: { milestone_id: mineMilestone } });
  const there = await make.issue(other);
  const give = 'insert into issue_labels (issue_id, label_id) values ($1, $2)';
  await rows(give, [issue.id, mine]);
  await rows(give, [there.id, theirs]);
  t.deepEqual(await numbers(project, { labels: 'bug' }), [1]);
  t.deepEqual(await numbers(other, { milestone: 'v1' }), []);
});

test('pages far from the beginning are those of the whole list', async (t) => {
  const { make, rows } = holder.app;
  const project = await make.project();
  await rows(
    `insert into issues (project_id, iid, title, author_id, created_at, state)
     select $1, n, 'Issue ' || n, $2, timestamptz '2016-01-01' + n * interval '1 minute',
       case when n % 2 = 0 then 'opened' else 'closed' end
     from generate_series(1, 5300) n`,
    [project.id, project.owner.id],
  );
  const path = `/projects/${project.id}/issues`;
  for (const [page, first] of [
    ['2', 5200],
    ['52', 200],
    ['53', 100],
  ] as const) {
    const { body, headers } = await list(path, project.owner.token, { page, per_page: '100' });
    t.is(headers.get('x-total'), '5300');
    t.deepEqual([body.length, body[0]?.iid, body.at(-1)?.iid], [100, first, first - 99]);
  }
  const { body, headers } = await list(path, project.owner.token, { page: '54', per_page: '100' });
  t.deepEqual(body, []);
  t.is(headers.get('x-page'), '54');
  const closed = await list(path, project.owner.token, { state: 'closed', page: '27', per_page: '100' });
  t.is(closed.headers.get('x-total'), '2650');
  t.deepEqual([closed.body.length, closed.body.at(-1)?.iid], [50, 1]);
});

test('the own issues are those that one wrote, wherever one may see them', async (t) => {
  const { make } = holder.app;
  const user = await make.user();
  const own = await make.project({ owner: user });
  const open = await make.project({ visibility: 'public' });
  const inner = await make.project({ visibility: 'internal' });
  const hidden = await make.project();
  const off = await make.project({ owner: user, columns: { issues_enabled: false } });
  const leaving = await make.project({ owner: user, columns: { pending_delete: true } });
  const made: number[] = [];
  for (const project of [own, open, inner, hidden, off, leaving]) {
    made.push((await make.issue(project, { author: user })).id);
  }
  await make.issue(own, { columns: { author_id: open.owner.id, assignee_id: user.id } });
  const ids = async (as: string) => {
    const { body, headers } = await list('/issues', as, { sort: 'asc' });
    t.is(headers.get('x-total'), String(body.length));
    return body.map(({ id }) => id);
  };
  t.deepEqual(await ids(user.token), made.slice(0, 3));
  await holder.app.rows('update users set external = true where id = $1', [user.id]);
  t.deepEqual(await ids(user.token), made.slice(0, 2));
  await make.row('project_members', { project_id: hidden.id, user_id: user.id, access_level: 10 });
  t.deepEqual(await ids(user.token), [...made.slice(0, 2), made[3]]);
  await holder.app.rows('update users set is_admin = true where id = $1', [user.id]);
  t.deepEqual(await ids(user.token), made.slice(0, 4));
});

test('the own issues can be narrowed and ordered too', async (t) => {
  const { make, rows } = holder.app;
  const user = await make.user();
  const projects = [await make.project({ owner: user }), await make.project({ owner: user })];
  const made: number[] = [];
  for (const [index, project] of projects.entries()) {
    const label = await make.label(project, 'bug');
    for (const state of ['opened', 'closed']) {
      const columns = {
        state,
        created_at: new Date(2016, 0, made.length),
        updated_at: new Date(2016, 0, -made.length),
      };
      const { id } = await make.issue(project, { author: user, columns });
      made.push(id);
      if (index === 0 || state === 'closed') {
        await rows('insert into issue_labels (issue_id, label_id) values ($1, $2)', [id, label]);
      }
    }
  }
  const ids = async (query: Record<string, string>) =>
    (await list('/issues', user.token, query)).body.map((issue) => made.indexOf(issue.id));
  t.deepEqual(await ids({}), [3, 2, 1, 0]);
  t.deepEqual(await ids({ order_by: 'updated_at' }), [0, 1, 2, 3]);
  t.deepEqual(await ids({ labels: 'bug' }), [3, 1, 0]);
  t.deepEqual(await ids({ labels: 'bug', state: 'closed', sort: 'asc' }), [1, 3]);
  t.deepEqual((await list('/issues', rootToken)).body, []);
});
