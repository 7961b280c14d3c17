import { mkdir, readdir, readFile, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { GitError } from '../../server/git/errors.ts';
import { createRepository, hasNoBranch, removeRepository, setHead } from '../../server/git/repository.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

test('each project has a directory of its own, made from its id', (t) => {
  t.regex(repositoryDir('/data', 7), /^\/data\/[0-9a-f]{2}\/[0-9a-f]{2}\/7\.git$/);
  t.is(repositoryDir('/data', '7'), repositoryDir('/data', 7));
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (one, other) => {
      fc.pre(one !== other && one > 0 && other > 0);
      return repositoryDir('/data', one) !== repositoryDir('/data', other);
    }),
  );
});

test('what is no project id makes no directory', (t) => {
  for (const id of ['', '0', '-1', '01', '1.5', '../1', 'x', Number.NaN]) {
    t.throws(() => repositoryDir('/data', id), { instanceOf: TypeError });
  }
});

test('a new repository is bare and empty, with master as HEAD, and works with git', async (t) => {
  const dir = join(bench.folder, 'a', 'b', '1.git');
  await createRepository(dir);
  t.is(await readFile(join(dir, 'HEAD'), 'utf8'), 'ref: refs/heads/master\n');
  t.is(await git(dir, 'rev-parse', '--is-bare-repository'), 'true');
  t.true(await hasNoBranch(dir));
  t.deepEqual(await readdir(dirname(dir)), ['1.git']);
});

test('making a repository again leaves its contents alone', async (t) => {
  const { dir, sha } = await bench.filled();
  await createRepository(dir);
  t.is(await git(dir, 'rev-parse', 'master'), sha);
  t.false(await hasNoBranch(dir));
});

test('making a repository at the same time from several places makes one', async (t) => {
  const dir = join(bench.folder, 'race', '1.git');
  await Promise.all(Array.from({ length: 8 }, () => createRepository(dir)));
  t.deepEqual(await readdir(dirname(dir)), ['1.git']);
  t.true(await hasNoBranch(dir));
});

test('what a crash left beside a repository is cleared away once it is old', async (t) => {
  const dir = join(bench.folder, 'crashed', '1.git');
  for (const name of ['new-old', 'new-fresh', 'removed-old'])
    await mkdir(`${dir}.${name}`, { recursive: true });
  for (const name of ['new-old', 'removed-old']) await utimes(`${dir}.${name}`, 1, 1);
  await createRepository(dir);
  t.deepEqual(await readdir(dirname(dir)), ['1.git', '1.git.new-fresh', '1.git.removed-old']);
  await removeRepository(dir);
  t.deepEqual(await readdir(dirname(dir)), ['1.git.new-fresh']);
});

test('a removed repository is gone, and removing it twice does no harm', async (t) => {
  const { dir } = await bench.filled();
  await removeRepository(dir);
  await removeRepository(dir);
  t.false((await readdir(dirname(dir))).some((name) => name.startsWith(basename(dir))));
});

test('a directory that cannot be made is an error that names the attempt', async (t) => {
  const blocked = join(bench.folder, 'blocked.git');
  await mkdir(join(blocked, 'something'), { recursive: true });
  const error = await t.throwsAsync(createRepository(blocked), { instanceOf: GitError });
  t.regex(error?.message ?? '', /^put a new repository at /);
});

test('HEAD follows the default branch', async (t) => {
  const { dir } = await bench.filled();
  await setHead(dir, 'feature/ä');
  t.is(await readFile(join(dir, 'HEAD'), 'utf8'), 'ref: refs/heads/feature/ä\n');
  for (const name of ['-x', 'a..b', '', 'HEAD', '../config']) {
    await t.throwsAsync(setHead(dir, name), { instanceOf: GitError });
  }
});
