import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { forkRepository } from '../../server/git/fork.ts';
import { listRefs } from '../../server/git/refs.ts';
import { removeRepository } from '../../server/git/repository.ts';
import { diskTest, SmallDisk } from '../support/small-disk.ts';
import { type Bench, commitFile, git, makeBench, tryGit } from './real-git.ts';

let bench: Bench;
test.before(async () => {
  bench = await makeBench();
});
test.after.always(() => bench.clean());

let count = 0;

async function fork(
  source: string,
  head: string | null = 'master',
): Promise<{ dir: string; branch: string | null }> {
  count += 1;
  const dir = join(bench.folder, 'forks', `${count}.git`);
  const staging = join(bench.folder, 'staging', String(count));
  const branch = await forkRepository({ source, target: dir, staging, head });
  return { dir, branch };
}

/** Every object that a ref leads to is there and whole. */
async function isWhole(dir: string): Promise<boolean> {
  const { code, stdout } = await tryGit(dir, 'fsck', '--full', '--strict', '--no-dangling');
  return code === 0 && stdout === '';
}

/** A repository with packs and loose objects, branches, and tags of every kind. */
async function mixed(): Promise<string> {
  const { dir, tree } = await bench.filled();
  await git(dir, 'repack', '-a', '-d', '-q');
  await commitFile(tree, { path: 'a', content: 'loose', message: 'Second' });
  await git(tree, 'tag', '-a', '-m', 'x', 'v1');
  await git(tree, 'tag', '-a', '-m', 'x', 'v1-again', 'v1');
  await git(tree, 'tag', 'plain');
  await git(tree, 'tag', '-a', '-m', 'x', 'files', 'HEAD^{tree}');
  await git(tree, 'push', '-q', dir, 'HEAD:refs/heads/master', 'HEAD:refs/heads/Über/zwei', '--tags');
  await git(dir, 'update-ref', 'refs/keep-around/x', 'refs/heads/master');
  return dir;
}

test('a fork has branches and tags, and no other ref', async (t) => {
  const source = await mixed();
  const { dir, branch } = await fork(source, 'Über/zwei');
  t.is(branch, 'Über/zwei');
  t.is(await git(dir, 'symbolic-ref', 'HEAD'), 'refs/heads/Über/zwei');
  t.deepEqual(await listRefs(dir), await listRefs(source));
  t.is(await git(dir, 'for-each-ref', 'refs/keep-around'), '');
  t.is(await git(dir, 'show-ref', '-d'), await git(source, 'show-ref', '-d', '--heads', '--tags'));
  t.true(await isWhole(dir));
});

test('objects are shared: not a byte is copied', async (t) => {
  const source = await mixed();
  const { dir } = await fork(source);
  const packs = (await readdir(join(source, 'objects/pack'))).filter((name) => name.endsWith('.pack'));
  t.true(packs.length > 0);
  for (const name of packs) {
    const [ours, theirs] = await Promise.all(
      [source, dir].map((folder) => stat(join(folder, 'objects/pack', name))),
    );
    t.is(ours?.ino, theirs?.ino);
  }
});

test('a fork stays whole when its parent is rewritten, repacked, pruned and removed', async (t) => {
  const source = await mixed();
  const { dir } = await fork(source);
  const tree = await bench.workTree();
  await git(tree, 'push', '-q', '--force', source, 'HEAD:refs/heads/master');
  await git(source, 'update-ref', '-d', 'refs/heads/Über/zwei');
  for (const tag of ['v1', 'v1-again', 'plain', 'files']) await git(source, 'tag', '-d', tag);
  await git(source, 'update-ref', '-d', 'refs/keep-around/x');
  await git(source, 'reflog', 'expire', '--expire=now', '--all');
  await git(source, 'gc', '--quiet', '--prune=now');
  t.true(await isWhole(dir));
  await removeRepository(source);
  t.true(await isWhole(dir));
  t.is(await git(dir, 'show', 'refs/heads/master:a'), 'loose');
});

test('forks of forks stay whole, in whatever order they go', async (t) => {
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
    [1, 2, 0],
  ];
  for (const order of orders) {
    const source = await mixed();
    const first = (await fork(source)).dir;
    const tree = join(bench.folder, `clone-${count}`);
    await git(bench.folder, 'clone', '-q', first, tree);
    await commitFile(tree, { path: 'b', content: 'of the first fork', message: 'Third' });
    await git(tree, 'push', '-q', first, 'HEAD:refs/heads/master');
    const second = (await fork(first)).dir;
    const left = new Set([source, first, second]);
    for (const index of order) {
      const gone = [source, first, second][index] ?? '';
      left.delete(gone);
      await git(gone, 'gc', '--quiet', '--prune=now');
      await removeRepository(gone);
      for (const dir of left) t.true(await isWhole(dir), `${order} ${dir}`);
    }
  }
});

test('parent and fork are pushed to and repacked, each for itself', async (t) => {
  const source = await mixed();
  const { dir } = await fork(source);
  const before = await listRefs(source);
  const tree = join(bench.folder, 'clone-own');
  await git(bench.folder, 'clone', '-q', dir, tree);
  await commitFile(tree, { path: 'c', content: 'own', message: 'Own' });
  await git(tree, 'push', '-q', dir, 'HEAD:refs/heads/master', ':refs/heads/Über/zwei');
  await git(dir, 'gc', '--quiet', '--prune=now');
  t.deepEqual(await listRefs(source), before);
  t.true(await isWhole(source));
  t.true(await isWhole(dir));
});

test('without branches there is nothing to share, and no default branch', async (t) => {
  const { dir, branch } = await fork(await bench.repository(), null);
  t.is(branch, null);
  t.is(await git(dir, 'symbolic-ref', 'HEAD'), 'refs/heads/master');
  t.deepEqual(await listRefs(dir), []);
});

test('the default branch: what the parent says, else a usual one, else any', async (t) => {
  const { dir } = await bench.filled();
  await git(dir, 'branch', 'a');
  t.is((await fork(dir, 'a')).branch, 'a');
  t.is((await fork(dir, 'gone')).branch, 'master');
  t.is((await fork(dir, null)).branch, 'master');
  await git(dir, 'update-ref', '-d', 'refs/heads/master');
  t.is((await fork(dir, null)).branch, 'a');
});

test('a parent that is repacked again and again meanwhile gives whole forks', async (t) => {
  const { dir, tree } = await bench.filled();
  for (let index = 0; index < 5; index += 1) {
    await commitFile(tree, { path: 'n', content: String(index), message: `n ${index}` });
    await git(tree, 'push', '-q', dir, 'HEAD:refs/heads/master');
  }
  let isOver = false;
  const repacking = (async () => {
    // Other packs each time: the number of bytes compared changes what is in them.
    for (let round = 0; !isOver; round += 1) {
      await commitFile(tree, { path: 'n', content: `round ${round}`, message: `round ${round}` });
      await git(tree, 'push', '-q', dir, 'HEAD:refs/heads/master');
      await git(dir, 'repack', '-a', '-d', '-q', '-F', `--window=${round % 5}`);
    }
  })();
  for (let index = 0; index < 15; index += 1) {
    const made = await fork(dir);
    t.true(await isWhole(made.dir), `fork ${index}`);
  }
  isOver = true;
  await repacking;
});

test('a parent that has lost objects gives no fork, and nothing is left of the attempt', async (t) => {
  const { dir, sha } = await bench.filled();
  await rm(join(dir, 'objects'), { recursive: true });
  await mkdir(join(dir, 'objects'));
  const attempt = fork(dir);
  // Now: the tests beside this one count on.
  const number = count;
  await t.throwsAsync(attempt, { message: new RegExp(sha) });
  await t.throwsAsync(stat(join(bench.folder, 'forks', `${number}.git`)), { code: 'ENOENT' });
  await t.throwsAsync(stat(join(bench.folder, 'staging', String(number))), { code: 'ENOENT' });
});

diskTest('a parent on another file system is copied', async (t) => {
  const disk = await SmallDisk.mount(join(bench.folder, 'disk'), 8);
  t.teardown(() => disk.unmount());
  const source = join(disk.path, 'r.git');
  await cp(await mixed(), source, { recursive: true });
  t.true(await isWhole((await fork(source)).dir));
});
