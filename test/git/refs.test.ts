import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { CatFile } from '../../server/git/cat-file.ts';
import { GitError, RefConflictError } from '../../server/git/errors.ts';
import { checkRefName, zeroSha } from '../../server/git/ref-name.ts';
import { keepAround, listRefs, readRef, resolveCommit, updateRef } from '../../server/git/refs.ts';
import { importCommits } from '../support/import-commits.ts';
import { commitFile, git, makeBench, tryGit } from './real-git.ts';

const bench = await makeBench();
const objects = new CatFile();
const identity = { name: 'Ada <x>', email: 'push-7' };
test.after.always(async () => {
  objects.close();
  await bench.clean();
});

/** Pieces that git's rules are about, and letters of all kinds. */
const piece = fc.oneof(
  fc.constantFrom('/', '.', '..', '.lock', '@', '@{', '{', '-', '~', '^', ':', '?', '*', '[', ']', '\\', ' '),
  fc.constantFrom('a', 'HEAD', 'ü', '\u0085', '\u007f', '\u0001', '\n', '\t', '"', "'", '#', '\u{1f600}'),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const name = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('').replaceAll('\0', ''));

test('full names are accepted exactly when git accepts them', (t) => {
  fc.assert(
    fc.property(name, (rest) => {
      const ran = spawnSync('git', ['check-ref-format', `refs/${rest}`]);
      return checkRefName(`refs/${rest}`) === (ran.status === 0);
    }),
    { numRuns: 600 },
  );
  t.pass();
});

test('short names are accepted exactly when git accepts them for a branch', (t) => {
  fc.assert(
    fc.property(name, (short) => {
      // Walk syntax such as @{-1} is expanded by this command before it is checked.
      fc.pre(!short.includes('@{'));
      const ran = spawnSync('git', ['check-ref-format', '--branch', short], { cwd: '/' });
      return checkRefName(short, 'short') === (ran.status === 0);
    }),
    { numRuns: 600 },
  );
  t.pass();
});

test('names that are no refs are refused', (t) => {
  for (const bad of ['', 'refs', 'refs/', 'master', '/refs/heads/a', 'refs//a', 'refs/heads/a\0b', 'HEAD']) {
    t.false(checkRefName(bad), bad);
  }
  t.false(checkRefName('\ud800', 'short'));
});

test('a commit is found by branch, tag, full name, id, short id and HEAD', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  await git(tree, 'tag', '-a', '-m', 'One', 'v1');
  await git(tree, 'push', '--quiet', dir, 'HEAD:refs/heads/feature/ü', 'v1');
  const names = [
    'master',
    'v1',
    'refs/tags/v1',
    'refs/heads/feature/ü',
    'feature/ü',
    'HEAD',
    sha,
    sha.slice(0, 8),
    sha.slice(0, 4),
    sha.toUpperCase(),
    sha.slice(0, 5).toUpperCase(),
  ];
  for (const name of names) t.is(await resolveCommit(objects, dir, name), sha, name);
});

test('names go before what could be the beginning of an id, and that of several commits is none', async (t) => {
  const dir = await bench.repository();
  const shas = await importCommits(
    dir,
    'master',
    Array.from({ length: 1500 }, () => ({})),
  );
  const starts = shas.map((sha) => sha.slice(0, 4));
  const twice = starts.find((start, index) => starts.indexOf(start) !== index) ?? '';
  t.is(await resolveCommit(objects, dir, twice), null);
  t.is(await resolveCommit(objects, dir, twice.toUpperCase()), null);
  const [first = '', second = ''] = shas;
  await git(dir, 'update-ref', `refs/tags/${twice}`, first);
  t.is(await resolveCommit(objects, dir, twice), first);
  const name = first.slice(0, 9).toUpperCase();
  for (const ref of [name, first.toUpperCase()]) {
    t.is(await resolveCommit(objects, dir, ref), first);
    await git(dir, 'update-ref', `refs/heads/${ref}`, second);
    t.is(await resolveCommit(objects, dir, ref), second, 'a branch of that name');
  }
  t.is(await resolveCommit(objects, dir, first), first, 'a whole id as git writes it is always one');
});

test('names are looked up in few steps', async (t) => {
  const { dir, sha } = await bench.filled();
  await git(dir, 'update-ref', 'refs/tags/v1', sha);
  await git(dir, 'update-ref', 'refs/heads/cafe', sha);
  const counted = new CatFile();
  t.teardown(() => counted.close());
  let asked = 0;
  const readInfo = counted.readInfo.bind(counted);
  counted.readInfo = (...given) => {
    asked += 1;
    return readInfo(...given);
  };
  const steps = { master: 1, cafe: 1, [sha]: 1, HEAD: 1, 'refs/heads/master': 1, v1: 2, nothing: 2 };
  for (const [given, expected] of Object.entries(steps)) {
    asked = 0;
    await resolveCommit(counted, dir, given);
    t.is(asked, expected, given);
  }
});

test('a branch wins over a tag of the same name', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  await git(dir, 'update-ref', 'refs/tags/master', sha);
  const next = await commitFile(tree, { path: 'a', content: 'a', message: 'Next' });
  await git(tree, 'push', '--quiet', dir, 'HEAD:refs/heads/master');
  t.is(await resolveCommit(objects, dir, 'master'), next);
});

test('what leads to no commit resolves to nothing', async (t) => {
  const { dir, tree } = await bench.filled();
  const blob = await git(tree, 'rev-parse', 'HEAD:README');
  const names = [
    '',
    'nothing',
    blob,
    '1'.repeat(40),
    'master~1',
    'master:README',
    ':/Start',
    '@{u}',
    '--all',
  ];
  for (const name of names) t.is(await resolveCommit(objects, dir, name), null, name);
  t.is(await resolveCommit(objects, await bench.repository(), 'HEAD'), null);
});

test('refs are listed with what they hold and the commit they lead to', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  await git(tree, 'tag', '-a', '-m', 'One', 'v1');
  await git(tree, 'tag', 'tree', 'HEAD^{tree}');
  await git(tree, 'push', '--quiet', '--tags', dir);
  const tag = await git(tree, 'rev-parse', 'v1');
  t.deepEqual(await listRefs(dir), [
    { name: 'refs/heads/master', sha, commit: sha },
    { name: 'refs/tags/tree', sha: await git(tree, 'rev-parse', 'HEAD^{tree}'), commit: null },
    { name: 'refs/tags/v1', sha: tag, commit: sha },
  ]);
  t.is((await listRefs(dir, ['refs/heads'])).length, 1);
  t.is(await readRef(dir, 'refs/tags/v1'), tag);
  t.is(await readRef(dir, 'refs/heads'), null);
});

test('a ref moves only from where it was expected', async (t) => {
  const { dir, sha } = await bench.filled();
  const next = await git(dir, 'commit-tree', '-p', sha, '-m', 'Next', `${sha}^{tree}`);
  const update = { dir, ref: 'refs/heads/master', newSha: next, identity };
  const conflict = await t.throwsAsync(updateRef({ ...update, expectedOld: next }), {
    instanceOf: RefConflictError,
  });
  t.is((conflict as RefConflictError).actual, sha);
  await updateRef({ ...update, expectedOld: sha });
  t.is(await readRef(dir, 'refs/heads/master'), next);
  const log = await readFile(join(dir, 'logs/refs/heads/master'), 'utf8');
  t.regex(log, new RegExp(`${sha} ${next} Ada x <push-7> `));
});

test('a ref is made only when there is none, and deleted only as it was seen', async (t) => {
  const { dir, sha } = await bench.filled();
  const side = { dir, ref: 'refs/heads/side', identity };
  await updateRef({ ...side, newSha: sha, expectedOld: zeroSha });
  await t.throwsAsync(updateRef({ ...side, newSha: sha, expectedOld: zeroSha }), {
    instanceOf: RefConflictError,
  });
  await t.throwsAsync(updateRef({ ...side, newSha: zeroSha, expectedOld: '1'.repeat(40) }), {
    instanceOf: RefConflictError,
  });
  await updateRef({ ...side, newSha: zeroSha, expectedOld: sha });
  t.is(await readRef(dir, side.ref), null);
});

test('of many updates from the same value exactly one takes place', async (t) => {
  const { dir, sha } = await bench.filled();
  const commits = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      git(dir, 'commit-tree', '-p', sha, '-m', `Next ${index}`, `${sha}^{tree}`),
    ),
  );
  const updates = commits.map((newSha) =>
    updateRef({ dir, ref: 'refs/heads/master', newSha, expectedOld: sha, identity }),
  );
  const settled = await Promise.allSettled(updates);
  t.is(settled.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a name in the way of another, an object that is missing and odd names are refused', async (t) => {
  const { dir, sha } = await bench.filled();
  const update = { dir, newSha: sha, expectedOld: zeroSha, identity };
  await t.throwsAsync(updateRef({ ...update, ref: 'refs/heads/master/x' }), { instanceOf: GitError });
  await t.throwsAsync(updateRef({ ...update, ref: 'refs/heads/a', newSha: '1'.repeat(40) }), {
    instanceOf: GitError,
  });
  for (const ref of ['refs/heads/a\0b', 'HEAD', '../x', 'refs/heads/-a\nb']) {
    await t.throwsAsync(updateRef({ ...update, ref }), { instanceOf: GitError });
  }
  t.is((await listRefs(dir)).length, 1);
});

test('a commit that is kept around survives a clean-up, and has no log', async (t) => {
  const { dir, sha } = await bench.filled();
  await keepAround(dir, sha);
  await keepAround(dir, sha);
  await git(dir, 'update-ref', '-d', 'refs/heads/master');
  await git(dir, 'gc', '--quiet', '--prune=now');
  t.is((await tryGit(dir, 'cat-file', '-e', sha)).code, 0);
  await t.throwsAsync(readFile(join(dir, 'logs/refs/keep-around', sha)), { code: 'ENOENT' });
  await t.throwsAsync(keepAround(dir, 'master'), { instanceOf: GitError });
});
