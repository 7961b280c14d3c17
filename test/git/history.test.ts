import test from 'ava';
import { CatFile } from '../../server/git/cat-file.ts';
import { GitError } from '../../server/git/errors.ts';
import { commitsBetween, isAncestor, mergeBase } from '../../server/git/history.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
const objects = new CatFile();
test.after.always(async () => {
  objects.close();
  await bench.clean();
});

async function withCommits(count: number) {
  const { dir, sha } = await bench.filled();
  const shas = [sha];
  for (let index = 1; index <= count; index += 1) {
    const parent = shas.at(-1) ?? sha;
    shas.push(await git(dir, 'commit-tree', '-p', parent, '-m', `Commit ${index}`, `${sha}^{tree}`));
  }
  return { dir, shas, first: sha, last: shas.at(-1) ?? sha };
}

test('the newest commits of a move come first, with the number of all', async (t) => {
  const { dir, first, last } = await withCommits(5);
  const range = { dir, oldSha: first, newSha: last, limit: 3 };
  const { total, commits } = await commitsBetween(objects, range);
  t.is(total, 5);
  t.deepEqual(
    commits.map(({ title }) => title),
    ['Commit 5', 'Commit 4', 'Commit 3'],
  );
});

test('a new branch brings in its whole history, a move back nothing', async (t) => {
  const { dir, first, last } = await withCommits(2);
  t.is((await commitsBetween(objects, { dir, oldSha: zeroSha, newSha: last, limit: 20 })).commits.length, 3);
  t.is((await commitsBetween(objects, { dir, oldSha: last, newSha: first, limit: 20 })).total, 0);
});

test('ancestors and merge bases are found', async (t) => {
  const { dir, first, last } = await withCommits(2);
  const other = await git(dir, 'commit-tree', '-p', first, '-m', 'Other', `${first}^{tree}`);
  const alone = await git(dir, 'commit-tree', '-m', 'Alone', `${first}^{tree}`);
  t.is(await mergeBase(dir, [last, other]), first);
  t.is(await mergeBase(dir, [last, alone]), null);
  t.true(await isAncestor(dir, { ancestor: first, descendant: last }));
  t.false(await isAncestor(dir, { ancestor: last, descendant: first }));
});

test('commits that are missing, and what is no id, are errors', async (t) => {
  const { dir, first } = await withCommits(0);
  const missing = '1'.repeat(40);
  await t.throwsAsync(mergeBase(dir, [first, missing]), { instanceOf: GitError });
  await t.throwsAsync(isAncestor(dir, { ancestor: first, descendant: missing }), { instanceOf: GitError });
  const range = { dir, oldSha: '--all', newSha: first, limit: 1 };
  await t.throwsAsync(commitsBetween(objects, range), { instanceOf: GitError });
});
