import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { withApp } from '../support/app.ts';
import { type ImportedCommit, importCommits } from '../support/import-commits.ts';

const holder = withApp();

interface Entry {
  old_path: string;
  new_path: string;
  diff: string;
  too_large?: true;
  truncated?: true;
}

async function scene(commits: readonly ImportedCommit[]) {
  const { app } = holder;
  const project = await app.make.project();
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const shas = await importCommits(dir, 'master', commits);
  const path = (sha: string) => `/api/v3/projects/${project.id}/repository/commits/${sha}/diff`;
  const read = (sha: string, query: Record<string, string> = {}) =>
    app.call<Entry[]>('GET', path(sha), { as: project.owner.token, query });
  return { dir, shas, read };
}

test('the first commit is compared with nothing, and an entry in full', async (t) => {
  const { read, shas } = await scene([{ files: { a: '1\n' } }]);
  const { status, body, headers } = await read(shas[0] ?? '');
  t.is(status, 200);
  t.is(headers.get('x-total'), '1');
  t.deepEqual(body as unknown, [
    {
      old_path: 'a',
      new_path: 'a',
      a_mode: '0',
      b_mode: '100644',
      diff: '--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1\n',
      new_file: true,
      renamed_file: false,
      deleted_file: false,
    },
  ]);
});

test('a merge of many is compared with the first of them', async (t) => {
  const { read, shas } = await scene([
    { files: { a: '1\n' } },
    { parents: [0], files: { b: '1\n' } },
    { parents: [0], files: { c: '1\n' } },
    { parents: [1, 2, 0], files: { c: '1\n' } },
  ]);
  const { body } = await read(shas[3] ?? '');
  t.deepEqual(
    body.map(({ new_path }) => new_path),
    ['c'],
  );
});

test('branches with slashes, and one that is called diff', async (t) => {
  const { dir, read, shas } = await scene([{ files: { a: '1\n' } }, { files: { b: '1\n' } }]);
  await git(dir, 'branch', 'x/y/diff', shas[0] ?? '');
  await git(dir, 'branch', 'x/z', shas[1] ?? '');
  for (const [name, file] of [
    ['x/y/diff', 'a'],
    ['x%2Fy%2Fdiff', 'a'],
    ['x/z', 'b'],
  ] as const) {
    t.is((await read(name)).body[0]?.new_path, file, name);
  }
});

test('a commit without a change has none', async (t) => {
  const { read, shas } = await scene([{ files: { a: '1\n' } }, {}]);
  t.deepEqual((await read(shas[1] ?? '')).body, []);
});

test('files come in pages, at most a hundred of them', async (t) => {
  const names = Array.from({ length: 130 }, (_, index) => `f${1000 + index}`);
  const { read, shas } = await scene([
    { files: Object.fromEntries(names.slice(0, 100).map((name) => [name, `${name}\n`])) },
    { files: Object.fromEntries(names.map((name) => [name, `${name}!\n`])) },
  ]);
  const whole = await read(shas[0] ?? '', { per_page: '100' });
  t.is(whole.body.length, 100);
  t.false(whole.body.some(({ truncated }) => truncated));
  const page = await read(shas[1] ?? '', { page: '5' });
  t.is(page.headers.get('x-total'), '100');
  t.deepEqual(
    page.body.map(({ new_path }) => new_path),
    names.slice(80, 100),
  );
  t.true(page.body.at(-1)?.truncated);
  t.is(page.body.filter(({ truncated }) => truncated).length, 1);
});

test('what is too much is told of by name alone', async (t) => {
  const much = 'line\n'.repeat(4000);
  const { read, shas } = await scene([{ files: { a: 'x'.repeat(102_400), b: much, c: much, d: 'd\n' } }]);
  const { body } = await read(shas[0] ?? '');
  t.deepEqual(
    body.map(({ new_path, diff, too_large, truncated }) => [new_path, diff !== '', too_large, truncated]),
    [
      ['a', false, true, undefined],
      ['b', true, undefined, undefined],
      ['c', false, true, undefined],
      ['d', false, true, true],
    ],
  );
});
