import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { zeroSha } from '../../server/git/ref-name.ts';
import { wasApplied } from '../../server/git/reflog.ts';
import { updateRef } from '../../server/git/refs.ts';
import { removeStaleLocks } from '../../server/git/stale-locks.ts';
import { tidyRepository } from '../../server/git/tidy.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

const day = 86_400;
const ref = 'refs/heads/master';
const now = Math.floor(Date.now() / 1000);

/** A repository whose master has gone to and fro, so many days ago each; the oldest first. */
async function scene(ages: readonly number[], padding = '') {
  const { dir, sha } = await bench.filled();
  const next = await git(dir, 'commit-tree', '-p', sha, '-m', 'Next', `${sha}^{tree}`);
  let [from, to] = [sha, next];
  let lines = '';
  for (const [index, age] of ages.entries()) {
    const time = now - Math.round(age * day);
    lines += `${from} ${to} Push <push-${index}> ${time} +0000\tpush${padding}\n`;
    [from, to] = [to, from];
  }
  await git(dir, 'update-ref', ref, from);
  await mkdir(join(dir, 'logs/refs/heads'), { recursive: true });
  for (const name of [ref, 'HEAD']) await writeFile(join(dir, 'logs', name), lines);
  return { dir, from, to, log: async (name = ref) => readFile(join(dir, 'logs', name), 'utf8') };
}

const tidy = (dir: string, keepLogs = false) => tidyRepository(dir, { timeLimitMs: 120_000, keepLogs });
const pushes = (log: string) => [...log.matchAll(/<push-(\d+)>/g)].map(([, number]) => Number(number));

test('lines of more than ninety days go, from all logs', async (t) => {
  const { dir, log } = await scene([400, 91, 89, 1, 0]);
  await tidy(dir);
  for (const name of [ref, 'HEAD']) t.deepEqual(pushes(await log(name)), [2, 3, 4], name);
});

test('the newest line stays, however old, and tells of a move whose line a power cut took', async (t) => {
  const { dir, from, to, log } = await scene([400, 300, 200]);
  await tidy(dir);
  t.deepEqual(pushes(await log()), [2]);
  const before = await log();
  await updateRef({ dir, ref, expectedOld: from, newSha: to, identity: { name: 'P', email: 'push-9' } });
  await writeFile(join(dir, 'logs', ref), before);
  t.true(await wasApplied(dir, { ref, oldSha: from, newSha: to, email: 'push-9' }));
});

test('of a log that is large the older half goes, but nothing of the last day', async (t) => {
  const long = Array.from({ length: 4000 }, (_, index) => 2 + (4000 - index) / 100);
  const { dir, log } = await scene([...long, 0.5], 'x'.repeat(300));
  const size = (await log()).length;
  t.true(size > 1024 * 1024);
  await tidy(dir);
  const left = await log();
  t.true(left.length > 400 * 1024 && left.length <= 513 * 1024, `${size} became ${left.length}`);
  t.is(pushes(left).at(-1), 4000);
  const busy = await scene(
    Array.from({ length: 4000 }, () => 0.9),
    'x'.repeat(300),
  );
  await tidy(busy.dir);
  t.is(pushes(await busy.log()).length, 4000);
});

test('what is left still proves the moves that it tells of', async (t) => {
  const { dir, from, to } = await scene([400, 100, 50, 10]);
  await tidy(dir);
  t.true(await wasApplied(dir, { ref, oldSha: from, newSha: to, email: 'push-2' }));
  t.true(await wasApplied(dir, { ref, oldSha: to, newSha: from, email: 'push-3' }));
  t.false(await wasApplied(dir, { ref, oldSha: from, newSha: to, email: 'push-7' }));
});

test('while a push is open all of it stays; what cannot be read or is in use stops nothing', async (t) => {
  const { dir, log } = await scene([400, 1]);
  await tidy(dir, true);
  t.deepEqual(pushes(await log()), [0, 1]);
  const other = await scene([400, 1]);
  await writeFile(join(other.dir, 'logs/refs/heads/gone'), await other.log());
  await writeFile(join(other.dir, 'logs/refs/heads/torn'), `${zeroSha} \0\0`);
  await writeFile(join(other.dir, 'refs/heads/master.lock'), '');
  await writeFile(join(other.dir, 'logs/refs/heads/master.lock'), '');
  t.true((await tidy(other.dir)).bytes > 0);
  t.deepEqual(pushes(await other.log()), [0, 1]);
  const removed = await removeStaleLocks(other.dir, { lockMs: 0, packMs: 0 });
  t.deepEqual(removed.sort(), ['logs/refs/heads/master.lock', 'refs/heads/master.lock']);
});
