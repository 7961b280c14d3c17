import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { withApp } from '../support/app.ts';
import { importCommits } from '../support/import-commits.ts';

const holder = withApp();

interface Shown {
  id: number;
  iid: number;
  project_id: number;
}

/** A request of two commits with these messages. */
async function request(given: { messages: [string, string]; description?: string; target?: string }) {
  const { app } = holder;
  const project = await app.make.project({ columns: { default_branch: 'master' }, visibility: 'public' });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const [base, , head] = await importCommits(dir, 'side', [
    { message: 'Base closes #1\n', files: { a: '1\n' } },
    { message: given.messages[0], files: { a: '2\n' }, parents: [0] },
    { message: given.messages[1], files: { a: '3\n' }, parents: [1] },
  ]);
  const columns = {
    ...{ source_branch: 'side', target_branch: given.target ?? 'master', head_sha: head, base_sha: base },
    description: given.description ?? null,
  };
  const made = await app.make.mergeRequest(project, { columns });
  const path = `/api/v3/projects/${project.id}/merge_requests/${made.id}/closes_issues`;
  return { project, made, path };
}

test('its commits and its description say which issues it closes, under both paths', async (t) => {
  const { app } = holder;
  const { project, path } = await request({
    messages: ['Fixes #3\n', 'Closes #2, #3 and see #5\n'],
    description: 'Resolves #4, #99',
  });
  const issues = [];
  for (let count = 0; count < 5; count += 1) issues.push(await app.make.issue(project));
  await app.rows(`update issues set state = 'closed' where id = $1`, [issues[1]?.id]);
  for (const url of [path, path.replace('merge_requests', 'merge_request')]) {
    const answer = await app.call<Shown[]>('GET', url, { as: project.owner.token });
    t.is(answer.status, 200);
    t.deepEqual(
      answer.body.map(({ iid }) => iid),
      [2, 3, 4],
    );
    t.like(answer.body[0], { id: issues[1]?.id, project_id: project.id, state: 'closed', subscribed: true });
  }
  const page = await app.call<Shown[]>('GET', path, {
    as: project.owner.token,
    query: { per_page: '2', page: '2' },
  });
  t.deepEqual(
    page.body.map(({ iid }) => iid),
    [4],
  );
  t.is(page.headers.get('x-total'), '3');
});

test('a request into another branch than the default one closes nothing, nor does one without words', async (t) => {
  const { app } = holder;
  const elsewhere = await request({ messages: ['Fixes #1\n', 'Fixes #1\n'], target: 'stable' });
  const silent = await request({ messages: ['One\n', 'Two\n'] });
  for (const { project, path } of [elsewhere, silent]) {
    await app.make.issue(project);
    const answer = await app.call('GET', path, { as: project.owner.token });
    t.deepEqual([answer.status, answer.body], [200, []]);
  }
});

test('issues of other projects are among them for those who can read those', async (t) => {
  const { app } = holder;
  const [open, hidden] = [await app.make.project({ visibility: 'public' }), await app.make.project()];
  const [seen, unseen] = [await app.make.issue(open), await app.make.issue(hidden)];
  const address = `${app.url}/${open.fullPath.toUpperCase()}/issues/${seen.iid}`;
  const description = `Closes ${address}, ${hidden.fullPath}#${unseen.iid}`;
  const { project, path } = await request({ messages: ['One\n', 'Two\n'], description });
  const ids = async (as: { token: string }) =>
    (await app.call<Shown[]>('GET', path, { as: as.token })).body.map(({ id }) => id);
  t.deepEqual(await ids(project.owner), [seen.id]);
  t.deepEqual(await ids(await app.make.user({ isAdmin: true })), [seen.id, unseen.id]);
  const member = await app.make.member(hidden, 'guest');
  t.deepEqual(await ids(member), [seen.id, unseen.id]);
  await app.rows('update projects set issues_enabled = false where id = $1', [open.id]);
  t.deepEqual(await ids(member), [unseen.id]);
});

test('one of another project, or that is removed, is not there', async (t) => {
  const { app } = holder;
  const { project, made, path } = await request({ messages: ['One\n', 'Two\n'] });
  const other = await app.make.project({ owner: project.owner });
  const as = project.owner.token;
  const there = path.replace(`/projects/${project.id}/`, `/projects/${other.id}/`);
  t.is((await app.call('GET', there, { as })).status, 404);
  await app.rows('update merge_requests set deleted_at = now() where id = $1', [made.id]);
  t.is((await app.call('GET', path, { as })).status, 404);
  await app.rows('update projects set merge_requests_enabled = false where id = $1', [project.id]);
  t.is((await app.call('GET', path, { as })).status, 403);
});
