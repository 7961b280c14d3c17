import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { CatFile, type CatFileOptions } from '../../server/git/cat-file.ts';
import { GitError, ObjectTooLargeError } from '../../server/git/errors.ts';
import { commitFile, git, makeBench } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

function open(t: ExecutionContext, options?: CatFileOptions): CatFile {
  const objects = new CatFile(options);
  t.teardown(() => objects.close());
  return objects;
}

test('200 reads at once, of small, empty, large and missing files, are each answered by their own', async (t) => {
  const { dir, tree } = await bench.filled();
  const contents = Array.from({ length: 20 }, (_, index) => `${index}\n`.repeat(index ** 4));
  for (const [index, content] of contents.entries()) await writeFile(join(tree, `f${index}`), content);
  await git(tree, 'add', '.');
  await git(tree, 'commit', '--quiet', '-m', 'Files');
  await git(tree, 'push', '--quiet', dir, 'master');
  const objects = open(t);
  const reads = Array.from({ length: 200 }, async (_, index) => {
    const found = await objects.readBlob(dir, `refs/heads/master:f${index % 25}`);
    return found?.toString() ?? null;
  });
  const expected = Array.from({ length: 200 }, (_, index) => contents[index % 25] ?? null);
  t.deepEqual(await Promise.all(reads), expected);
  t.is(objects.pids().length, 1);
});

test('objects and refs of a later push are seen, also once they are packed', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  const objects = open(t);
  t.is((await objects.readCommit(dir, 'refs/heads/master'))?.sha, sha);
  const [pid] = objects.pids();
  const next = await commitFile(tree, { path: 'a', content: 'new', message: 'Next' });
  t.is(await objects.readCommit(dir, next), null);
  await git(tree, 'push', '--quiet', dir, 'master');
  t.is((await objects.readBlob(dir, 'refs/heads/master:a'))?.toString(), 'new');
  await git(dir, 'gc', '--quiet', '--prune=now');
  t.is((await objects.readBlob(dir, `${sha}:README`))?.toString().slice(0, 7), 'Project');
  t.deepEqual(objects.pids(), [pid ?? 0]);
});

test('those who ask alike at once get one answer, and whoever asks later what there is by then', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  const next = await commitFile(tree, { path: 'a', content: 'new', message: 'Next' });
  const objects = open(t);
  const ask = () => Promise.all(Array.from({ length: 50 }, () => objects.readInfo(dir, 'refs/heads/master')));
  t.deepEqual(new Set((await ask()).map((info) => info?.sha)), new Set([sha]));
  await git(tree, 'push', '--quiet', dir, 'master');
  t.deepEqual(new Set((await ask()).map((info) => info?.sha)), new Set([next]));
  const missing = Array.from({ length: 50 }, () => objects.readInfo(dir, 'refs/heads/none'));
  t.deepEqual(new Set(await Promise.all(missing)), new Set([null]));
});

test('a process that was started ahead reads what comes after that', async (t) => {
  const { dir, tree } = await bench.filled();
  const objects = open(t);
  objects.prepare(dir);
  objects.prepare(dir);
  const pids = objects.pids();
  t.is(pids.length, 1);
  const next = await commitFile(tree, { path: 'b', content: 'new', message: 'Next' });
  await git(tree, 'push', '--quiet', dir, 'master');
  t.is((await objects.readCommit(dir, 'refs/heads/master'))?.sha, next);
  t.deepEqual(objects.pids(), pids);
  objects.close();
  objects.prepare(dir);
  t.deepEqual(objects.pids(), []);
});

test('reads go on after the process has died, also those that were waiting for it', async (t) => {
  const { dir, sha } = await bench.filled();
  const objects = open(t);
  await objects.readInfo(dir, sha);
  const [pid = 0] = objects.pids();
  process.kill(pid, 'SIGSTOP');
  const reads = Array.from({ length: 20 }, () => objects.readCommit(dir, sha));
  process.kill(pid, 'SIGKILL');
  t.true((await Promise.all(reads)).every((commit) => commit?.sha === sha));
  t.notDeepEqual(objects.pids(), [pid]);
});

test('a process that hangs is ended, and the read tried once more', async (t) => {
  const { dir, sha } = await bench.filled();
  const objects = open(t, { timeoutMs: 300 });
  await objects.readInfo(dir, sha);
  const [pid = 0] = objects.pids();
  process.kill(pid, 'SIGSTOP');
  t.is((await objects.readInfo(dir, sha))?.sha, sha);
});

test('an object above the limit is not read, and the next read works', async (t) => {
  const { dir, tree } = await bench.filled();
  const sha = await commitFile(tree, { path: 'large', content: 'x'.repeat(5000), message: 'Large' });
  await git(tree, 'push', '--quiet', dir, 'master');
  const objects = open(t, { objectLimit: 4999 });
  const error = await t.throwsAsync(objects.readBlob(dir, `${sha}:large`), {
    instanceOf: ObjectTooLargeError,
  });
  t.is((error as ObjectTooLargeError).size, 5000);
  t.is((await objects.readBlob(dir, `${sha}:large`, 5000))?.length, 5000);
});

test('paths may have any name', async (t) => {
  const { dir, tree } = await bench.filled();
  const names = [
    'ü/ä',
    'two words',
    'a:b',
    '-x',
    'line\nbreak',
    '"quoted"',
    'missing missing',
    'tab\t',
    '\u{1f600}',
  ];
  let sha = '';
  for (const path of names) sha = await commitFile(tree, { path, content: path, message: 'Odd' });
  await git(tree, 'push', '--quiet', dir, 'master');
  const objects = open(t);
  for (const path of names) t.is((await objects.readBlob(dir, `${sha}:${path}`))?.toString(), path);
  for (const path of [
    'nothing',
    'no\nthing',
    'no missing',
    'nothing\n',
    'ü',
    './README',
    '../x',
    '/README',
  ]) {
    t.is(await objects.readBlob(dir, `${sha}:${path}`), null, path);
  }
  t.is(objects.pids().length, 1);
});

test('a small file is remembered, and a large one read anew', async (t) => {
  const { dir, tree } = await bench.filled();
  await commitFile(tree, { path: 'small', content: 'small', message: 'Small' });
  const sha = await commitFile(tree, { path: 'large', content: 'x'.repeat(70_000), message: 'Large' });
  await git(tree, 'push', '--quiet', dir, 'master');
  const objects = open(t);
  for (const [path, length, processes] of [
    ['small', 5, 0],
    ['large', 70_000, 1],
  ] as const) {
    const id = await git(tree, 'rev-parse', `${sha}:${path}`);
    t.is((await objects.readFile(dir, id))?.length, length);
    objects.forget(dir);
    t.is((await objects.readFile(dir, id))?.length, length);
    t.is(objects.pids().length, processes, path);
  }
  const small = await git(tree, 'rev-parse', `${sha}:small`);
  await t.throwsAsync(objects.readFile(dir, small, 4), { instanceOf: ObjectTooLargeError });
  t.is(await objects.readFile(dir, await git(tree, 'rev-parse', `${sha}^{tree}`)), null);
});

test('a question that looks like an answer is not asked', async (t) => {
  const { dir, sha } = await bench.filled();
  const objects = open(t);
  const specs = [
    `${sha} blob 4\nevil`,
    `${sha}:a\0contents ${sha}`,
    ':/Start',
    'master@{1}',
    `${sha}^2`,
    '--batch',
  ];
  for (const spec of specs) t.is(await objects.readInfo(dir, spec), null, spec);
  t.deepEqual(objects.pids(), []);
});

test('a tree is no file, and a file no commit', async (t) => {
  const { dir, sha } = await bench.filled();
  const objects = open(t);
  t.is(await objects.readBlob(dir, `${sha}:`), null);
  t.is((await objects.readObject(dir, `${sha}:`))?.type, 'tree');
  const blob = await objects.readInfo(dir, `${sha}:README`);
  t.is(await objects.readCommit(dir, blob?.sha ?? ''), null);
});

test('more repositories than processes allowed are read by turns', async (t) => {
  const all = await Promise.all(Array.from({ length: 5 }, () => bench.filled()));
  const objects = open(t, { maxProcesses: 2 });
  const reads = Array.from({ length: 60 }, async (_, index) => {
    const { dir, sha } = all[index % 5] ?? { dir: '', sha: '' };
    const commit = await objects.readCommit(dir, 'refs/heads/master');
    return commit?.sha === sha && objects.pids().length <= 2;
  });
  t.true((await Promise.all(reads)).every(Boolean));
});

test('an unused process is closed', async (t) => {
  const { dir, sha } = await bench.filled();
  const objects = open(t, { idleMs: 1 });
  await objects.readInfo(dir, sha);
  for (let tries = 0; tries < 500 && objects.pids().length > 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.deepEqual(objects.pids(), []);
  t.is((await objects.readInfo(dir, sha))?.sha, sha);
});

test('a repository that is not there, and reads after the end, are errors', async (t) => {
  const objects = open(t);
  const missing = join(bench.folder, 'nowhere.git');
  await t.throwsAsync(objects.readInfo(missing, 'HEAD'), { instanceOf: GitError });
  objects.close();
  await t.throwsAsync(objects.readInfo(missing, 'HEAD'), { instanceOf: GitError });
});
