import test from 'ava';
import { type CommitQuery, listCommits } from '../../server/git/commit-list.ts';
import { GitError } from '../../server/git/errors.ts';
import { importCommits } from '../support/import-commits.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

const minute = (index: number) => 1_400_000_000 + index * 60;

async function history(count: number) {
  const dir = await bench.repository();
  const commits = Array.from({ length: count }, (_, index) => ({
    files: { [`d${index % 3}/f`]: `${index}\n` },
    committer: `Grace <grace@example.org> ${minute(index)} +0200`,
  }));
  const shas = await importCommits(dir, 'master', commits);
  return { dir, newestFirst: shas.toReversed(), from: shas.at(-1) ?? '' };
}

async function all(query: CommitQuery): Promise<string[]> {
  const { shas, total } = await listCommits(query, { start: 0, count: 1000 });
  if (shas.length !== total) throw new Error(`${shas.length} of ${total}`);
  return shas;
}

test('pages follow each other, and each knows how many there are in all', async (t) => {
  const { dir, from, newestFirst } = await history(25);
  for (const start of [20, 0, 10, 30]) {
    const { shas, total } = await listCommits({ dir, from }, { start, count: 10 });
    t.is(total, 25);
    t.deepEqual(shas, newestFirst.slice(start, start + 10));
  }
  const far = await listCommits({ dir, from }, { start: 99_999_999_999_999, count: 100 });
  t.deepEqual(far, { shas: [], total: 25 });
});

test('a history that nobody has asked for yet has an end, wherever one begins', async (t) => {
  const { dir, from, newestFirst } = await history(5);
  const far = await listCommits({ dir, from }, { start: 99_999_999_999_999, count: 100 });
  t.deepEqual(far, { shas: [], total: 5 });
  const { dir: other, from: tip } = await history(7);
  t.deepEqual(await listCommits({ dir: other, from: tip }, { start: 50, count: 10 }), { shas: [], total: 7 });
  t.deepEqual(await all({ dir, from }), newestFirst);
});

test('moments count with what was committed in their own second', async (t) => {
  const { dir, from, newestFirst } = await history(10);
  const at = (index: number, ms = 0) => new Date(minute(index) * 1000 + ms);
  t.deepEqual(await all({ dir, from, since: at(4) }), newestFirst.slice(0, 6));
  t.deepEqual(await all({ dir, from, since: at(4, 1) }), newestFirst.slice(0, 5));
  t.deepEqual(await all({ dir, from, until: at(4) }), newestFirst.slice(5));
  t.deepEqual(await all({ dir, from, until: at(4, 999) }), newestFirst.slice(5));
  t.deepEqual(await all({ dir, from, until: at(4, -1) }), newestFirst.slice(6));
  t.deepEqual(await all({ dir, from, since: at(3), until: at(5) }), newestFirst.slice(4, 7));
  t.deepEqual(await all({ dir, from, since: new Date(-1), until: new Date(8.64e15) }), newestFirst);
  t.deepEqual(await all({ dir, from, since: new Date(8.64e15) }), []);
});

test('a commit of a clock that was wrong hides none before it', async (t) => {
  const dir = await bench.repository();
  const committers = [5, -100_000, 6].map((index) => ({
    committer: `G <g@example.org> ${minute(index)} +0000`,
  }));
  const [first, , last = ''] = await importCommits(dir, 'master', committers);
  t.deepEqual(await all({ dir, from: last, since: new Date(minute(0) * 1000) }), [last, first ?? '']);
});

test('paths are taken literally', async (t) => {
  const { dir, from } = await history(9);
  for (const path of ['d1', 'd1/f', 'd2']) {
    const expected = (await git(dir, 'log', '--format=%H', 'master', '--', path)).split('\n');
    t.deepEqual(await all({ dir, from, rawPaths: [path] }), expected);
    t.is(expected.length, 3);
  }
  for (const path of ['d*', ':/', ':(top)d1', '--all', 'd1/f/x', 'D1']) {
    t.deepEqual(await all({ dir, from, rawPaths: [path] }), [], path);
  }
});

test('merges bring in both sides, in the order of git', async (t) => {
  const dir = await bench.repository();
  const commits = [{}, { parents: [0] }, { parents: [0] }, { parents: [0] }, { parents: [1, 2, 3] }, {}];
  const shas = await importCommits(dir, 'master', commits);
  const expected = (await git(dir, 'log', '--format=%H', 'master')).split('\n');
  t.is(expected.length, 6);
  t.deepEqual(await all({ dir, from: shas.at(-1) ?? '' }), expected);
});

test('only an id says where to begin', async (t) => {
  const { dir } = await history(1);
  for (const from of ['master', '--all', 'HEAD']) {
    await t.throwsAsync(listCommits({ dir, from }, { start: 0, count: 1 }), { instanceOf: GitError });
  }
});
