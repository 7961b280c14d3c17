import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { withApp } from '../support/app.ts';
import { type ImportedCommit, importCommits } from '../support/import-commits.ts';

const holder = withApp();

interface Comparison {
  commit: { title: string } | null;
  commits: { id: string; title: string }[];
  diffs: { new_path: string; diff: string }[];
  compare_timeout: boolean;
  compare_same_ref: boolean;
}

async function scene(commits: readonly ImportedCommit[]) {
  const { app } = holder;
  const project = await app.make.project();
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const shas = await importCommits(dir, 'master', commits);
  const compare = (query: Record<string, string>, as = project.owner.token) =>
    app.call<Comparison>('GET', `/api/v3/projects/${project.id}/repository/compare`, { as, query });
  return { project, dir, shas, compare };
}

/** Two ways that part after the first commit; `master` ends with the second of `B`. */
async function fork() {
  const at = await scene([
    { message: 'Start', files: { a: '1\n' } },
    { message: 'A', parents: [0], files: { a: '2\n' } },
    { message: 'B1', parents: [0], files: { b: '1\n' } },
    { message: 'B2', files: { b: '2\n' } },
  ]);
  await git(at.dir, 'branch', 'feature/a', at.shas[1] ?? '');
  return at;
}

const empty = { commit: null, commits: [], diffs: [], compare_timeout: false };

test('what one side has since they parted, oldest first', async (t) => {
  const { compare, shas } = await fork();
  const { status, body } = await compare({ from: 'feature/a', to: 'master' });
  t.is(status, 200);
  t.deepEqual(
    body.commits.map(({ id }) => id),
    shas.slice(2),
  );
  t.deepEqual(body.commit, body.commits[1] ?? null);
  t.deepEqual(body.diffs as unknown, [
    {
      old_path: 'b',
      new_path: 'b',
      a_mode: '0',
      b_mode: '100644',
      diff: '--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+2\n',
      new_file: true,
      renamed_file: false,
      deleted_file: false,
    },
  ]);
  t.deepEqual([body.compare_timeout, body.compare_same_ref], [false, false]);
  t.deepEqual(Object.keys(body.commits[0] ?? {}), [
    'id',
    'short_id',
    'title',
    'author_name',
    'author_email',
    'created_at',
    'message',
  ]);
});

test('the same commit on both sides, also by different names', async (t) => {
  const { compare, shas } = await fork();
  for (const to of ['master', shas[3] ?? '']) {
    const { body } = await compare({ from: 'master', to });
    t.deepEqual(body, { ...empty, compare_same_ref: true });
  }
});

test('nothing is new in what lies behind', async (t) => {
  const { compare, shas } = await fork();
  const { body } = await compare({ from: 'master', to: shas[0] ?? '' });
  t.deepEqual(body, { ...empty, compare_same_ref: false });
});

test('unknown names on one side or both', async (t) => {
  const { compare } = await fork();
  for (const [from, to] of [
    ['nothing', 'master'],
    ['master', 'nothing'],
    ['nothing', 'nothing'],
    ['--all', 'master~1'],
  ] as const) {
    const { status, body } = await compare({ from, to });
    t.deepEqual([status, body], [200, { ...empty, compare_same_ref: false }]);
  }
});

test('both sides must be named', async (t) => {
  const { compare } = await fork();
  for (const [query, name] of [
    [{ to: 'master' }, 'from'],
    [{ from: 'master' }, 'to'],
    [{ from: 'master', to: ' ' }, 'to'],
  ] as const) {
    const { status, body } = await compare(query);
    t.deepEqual([status, body as unknown], [400, { message: `400 (Bad request) "${name}" not given` }]);
  }
});

test('histories without a common beginning: everything is new', async (t) => {
  const { compare, dir } = await fork();
  await importCommits(dir, 'other', [{ message: 'Elsewhere', files: { z: '1\n' } }]);
  const { body } = await compare({ from: 'master', to: 'other' });
  t.deepEqual(
    body.commits.map(({ title }) => title),
    ['Elsewhere'],
  );
  t.deepEqual(
    body.diffs.map(({ new_path }) => new_path),
    ['z'],
  );
});

test('a merge into the other side is where they parted last', async (t) => {
  const { compare, dir, shas } = await scene([
    { files: { a: '1\n' } },
    { parents: [0], files: { b: '1\n' } },
    { parents: [0], files: { c: '1\n' } },
    { message: 'Merge', parents: [1, 2], files: { c: '1\n' } },
    { message: 'After', files: { d: '1\n' } },
  ]);
  await git(dir, 'branch', 'topic', shas[2] ?? '');
  const { body } = await compare({ from: 'topic', to: 'master' });
  t.deepEqual(
    body.diffs.map(({ new_path }) => new_path),
    ['b', 'd'],
  );
  t.deepEqual(
    body.commits.map(({ id }) => id),
    [shas[1], shas[3], shas[4]],
  );
});

test('more than a hundred files are all there, of very many commits the newest', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, `${index}\n`]));
  const commits = Array.from({ length: 1003 }, (_, index) => ({ message: `Commit ${index}` }));
  const { compare, shas } = await scene([{ files: { a: '1\n' } }, { files }, ...commits]);
  const few = await compare({ from: shas[0] ?? '', to: shas[500] ?? '' });
  t.is(few.body.diffs.length, 300);
  t.is(few.body.commits.length, 500);
  t.false(few.body.compare_timeout);
  const many = await compare({ from: shas[0] ?? '', to: 'master' });
  t.deepEqual(
    many.body.commits.map(({ id }) => id),
    shas.slice(-1000),
  );
  t.true(many.body.compare_timeout);
});

test('guests see no code', async (t) => {
  const { project, compare } = await fork();
  const guest = await holder.app.make.member(project, 'guest');
  t.is((await compare({ from: 'master', to: 'feature/a' }, guest.token)).status, 403);
});
