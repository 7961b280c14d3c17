import { appendFile, chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { GitError } from '../../server/git/errors.ts';
import { fetchHead, headRef, removeHeadRef, setHeadRef } from '../../server/git/merge-request-refs.ts';
import { type Bench, commitFile, git, makeBench, tryGit } from './real-git.ts';

let bench: Bench;
test.before(async () => {
  bench = await makeBench();
});
test.after.always(() => bench.clean());

/** Two repositories with one history, of which the second goes on with a commit of its own. */
async function pair() {
  const { dir: targetDir, tree, sha: common } = await bench.filled();
  const sourceDir = await bench.repository();
  await git(tree, 'push', '--quiet', sourceDir, 'master');
  const sha = await commitFile(tree, { path: 'new', content: 'new\n', message: 'Go on' });
  await git(tree, 'push', '--quiet', sourceDir, 'master');
  return { targetDir, sourceDir, tree, common, sha };
}

function packsOf(dir: string): Promise<string[]> {
  return readdir(join(dir, 'objects', 'pack'));
}

test('a commit arrives with all that the other repository lacks, and no more', async (t) => {
  const { targetDir, sourceDir, tree, common, sha } = await pair();
  const secret = await commitFile(tree, { path: 'secret', content: 'not meant\n', message: 'Secret' });
  await git(tree, 'push', '--quiet', sourceDir, 'master:secret');
  await fetchHead({ targetDir, sourceDir, sha });
  await setHeadRef({ dir: targetDir, iid: 7, sha });
  t.is(headRef(7), 'refs/merge-requests/7/head');
  t.is(await git(targetDir, 'rev-parse', headRef(7)), sha);
  await git(targetDir, 'fsck', '--full', '--strict');
  t.is(await git(targetDir, 'show', `${sha}:new`), 'new');
  t.is((await tryGit(targetDir, 'cat-file', '-e', secret)).code, 1);
  const [index = ''] = (await packsOf(targetDir)).filter((name) => name.endsWith('.idx'));
  const packed = await git(targetDir, 'verify-pack', '-v', join(targetDir, 'objects', 'pack', index));
  t.false(packed.includes(common));
  t.deepEqual(await git(targetDir, 'for-each-ref', '--format=%(refname)', 'refs/heads'), 'refs/heads/master');
});

test('nothing is written for what is there', async (t) => {
  const { targetDir, sourceDir, common, sha } = await pair();
  await fetchHead({ targetDir, sourceDir, sha: common });
  t.deepEqual(await packsOf(targetDir), []);
  await fetchHead({ targetDir, sourceDir, sha });
  await setHeadRef({ dir: targetDir, iid: 1, sha });
  const packs = await packsOf(targetDir);
  await fetchHead({ targetDir, sourceDir, sha });
  t.deepEqual(await packsOf(targetDir), packs);
});

test('the source is left as it is, and may have any name', async (t) => {
  const { targetDir, sourceDir, sha } = await pair();
  const odd = join(bench.folder, 'a:b "c" \\d.git');
  await git(bench.folder, 'clone', '--quiet', '--bare', sourceDir, odd);
  const before = await git(odd, 'count-objects', '-v');
  await fetchHead({ targetDir, sourceDir: odd, sha });
  await git(targetDir, 'fsck', '--full', sha);
  t.is(await git(odd, 'count-objects', '-v'), before);
  await t.throwsAsync(readdir(join(targetDir, 'objects', 'info', 'alternates')));
});

test('histories without anything in common, and into an empty repository', async (t) => {
  const { sourceDir, sha } = await pair();
  for (const targetDir of [await bench.repository(), (await bench.filled()).dir]) {
    await fetchHead({ targetDir, sourceDir, sha });
    await setHeadRef({ dir: targetDir, iid: 1, sha });
    t.is(await git(targetDir, 'rev-list', '--count', headRef(1)), '2');
    await git(targetDir, 'fsck', '--full', '--strict');
  }
});

test('what is not there, or is damaged, is an error and leaves nothing', async (t) => {
  const { targetDir, sourceDir, sha } = await pair();
  await t.throwsAsync(fetchHead({ targetDir, sourceDir, sha: 'c'.repeat(40) }), { instanceOf: GitError });
  await t.throwsAsync(fetchHead({ targetDir, sourceDir, sha: '--all' }), { instanceOf: GitError });
  await t.throwsAsync(setHeadRef({ dir: targetDir, iid: 1, sha: 'c'.repeat(40) }), { instanceOf: GitError });
  await t.throwsAsync(setHeadRef({ dir: targetDir, iid: 1, sha: 'master' }), { instanceOf: GitError });
  await git(sourceDir, 'repack', '-adq');
  const [pack = ''] = (await packsOf(sourceDir)).filter((name) => name.endsWith('.idx'));
  await chmod(join(sourceDir, 'objects', 'pack', pack), 0o600);
  await appendFile(join(sourceDir, 'objects', 'pack', pack), 'damage');
  await t.throwsAsync(fetchHead({ targetDir, sourceDir, sha }), { instanceOf: GitError });
  t.is(await git(targetDir, 'for-each-ref', 'refs/merge-requests'), '');
});

test('a head moves wherever it has to, without a log, and goes', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  const next = await commitFile(tree, { path: 'b', content: 'b\n', message: 'Next' });
  await git(tree, 'push', '--quiet', dir, 'master');
  for (const to of [next, sha, sha]) {
    await setHeadRef({ dir, iid: 3, sha: to });
    t.is(await git(dir, 'rev-parse', headRef(3)), to);
  }
  t.is((await tryGit(dir, 'reflog', 'exists', headRef(3))).code, 1);
  await removeHeadRef({ dir, iid: 3 });
  await removeHeadRef({ dir, iid: 3 });
  t.is(await git(dir, 'for-each-ref', 'refs/merge-requests'), '');
});
