import { randomInt } from 'node:crypto';
import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { flushPkt, pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { wasApplied, wereApplied } from '../../server/git/reflog.ts';
import { listRefs, updateRef } from '../../server/git/refs.ts';
import { spawnGit } from '../../server/git/run-git.ts';
import { removeStaleLocks } from '../../server/git/stale-locks.ts';
import { packOf } from '../support/git.ts';
import { commitFile, git, gitWithInput, makeBench } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

const ref = 'refs/heads/master';
const push = (number: number) => ({ name: 'Push', email: `push-${number}` });
const isLaterThan = (number: number) => (email: string) => Number(email.slice(5)) > number;

/** A repository whose master is at the first of some commits. */
async function prepare() {
  const { dir, sha } = await bench.filled();
  await git(dir, 'update-ref', '-d', ref);
  await move(dir, zeroSha, sha, 0);
  const make = (message: string) => git(dir, 'commit-tree', '-p', sha, '-m', message, `${sha}^{tree}`);
  return { dir, a: sha, b: await make('B'), c: await make('C') };
}

function move(dir: string, from: string, to: string, number: number, name = ref): Promise<void> {
  return updateRef({ dir, ref: name, expectedOld: from, newSha: to, identity: push(number) });
}

/** The state a process leaves that is killed after it wrote the log and before it moved the ref. */
function ghost(dir: string, from: string, to: string, number: number): Promise<void> {
  return appendFile(join(dir, 'logs', ref), `${from} ${to} Push <push-${number}> 1464937902 +0000\tpush\n`);
}

test('an update that took place is told from one that did not', async (t) => {
  const { dir, a, b, c } = await prepare();
  await move(dir, a, b, 1);
  t.true(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-1' }));
  t.false(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-2' }));
  t.false(await wasApplied(dir, { ref, oldSha: b, newSha: c, email: 'push-1' }));
  t.false(await wasApplied(dir, { ref: 'refs/heads/none', oldSha: a, newSha: b, email: 'push-1' }));
});

test('an update counts as done also when the ref has moved on, or back', async (t) => {
  const { dir, a, b, c } = await prepare();
  await move(dir, a, b, 1);
  await move(dir, b, c, 2);
  await move(dir, c, a, 3);
  t.true(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-1' }));
  t.true(await wasApplied(dir, { ref, oldSha: b, newSha: c, email: 'push-2' }));
  t.true(await wasApplied(dir, { ref, oldSha: c, newSha: a, email: 'push-3' }));
});

test('a line in the log without the move is not taken for one', async (t) => {
  const { dir, a, b } = await prepare();
  await ghost(dir, a, b, 1);
  t.false(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-1' }));
});

test('a line without a move stays one when another push makes the same move later', async (t) => {
  const { dir, a, b, c } = await prepare();
  await ghost(dir, a, b, 1);
  await move(dir, a, b, 2);
  t.false(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-1' }));
  t.true(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-2' }));
  await ghost(dir, b, c, 3);
  t.true(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-2' }));
});

test('a line torn by a power cut loses neither its own move nor the next one', async (t) => {
  const { dir, a, b, c } = await prepare();
  await appendFile(join(dir, 'logs', ref), `${a} ${b} Pu`);
  await writeFile(join(dir, ref), `${b}\n`);
  t.true(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-1' }));
  t.false(await wasApplied(dir, { ref, oldSha: a, newSha: c, email: 'push-2' }));
  await move(dir, b, c, 3);
  t.true(await wasApplied(dir, { ref, oldSha: b, newSha: c, email: 'push-3' }));
});

test('a name that looks like a line of the log does not make one', async (t) => {
  const { dir, a, b, c } = await prepare();
  await move(dir, a, b, 1);
  const identity = { name: `${a} ${c} Eve <push-9> 1 +0000`, email: 'push-2' };
  await updateRef({ dir, ref, expectedOld: b, newSha: c, identity });
  t.true(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-1' }));
  t.false(await wasApplied(dir, { ref, oldSha: a, newSha: c, email: 'push-9' }));
});

test('a deletion is seen by the ref being gone or made anew', async (t) => {
  const { dir, a, b } = await prepare();
  const side = 'refs/heads/side';
  await move(dir, zeroSha, a, 1, side);
  const question = { ref: side, oldSha: a, newSha: zeroSha, email: 'push-2', isLater: isLaterThan(2) };
  t.false(await wasApplied(dir, question));
  await move(dir, a, b, 3, side);
  t.false(await wasApplied(dir, question));
  await move(dir, b, zeroSha, 4, side);
  t.true(await wasApplied(dir, question));
  await move(dir, zeroSha, a, 5, side);
  t.true(await wasApplied(dir, question));
  t.false(await wasApplied(dir, { ...question, isLater: isLaterThan(6) }));
});

test('a branch made where a folder of branches was is seen', async (t) => {
  const { dir, a } = await prepare();
  await move(dir, zeroSha, a, 1, 'refs/heads/x/y');
  await move(dir, a, zeroSha, 2, 'refs/heads/x/y');
  await mkdir(join(dir, 'logs/refs/heads/x'), { recursive: true });
  t.false(await wasApplied(dir, { ref: 'refs/heads/x', oldSha: zeroSha, newSha: a, email: 'push-3' }));
  await move(dir, zeroSha, a, 3, 'refs/heads/x');
  t.true(await wasApplied(dir, { ref: 'refs/heads/x', oldSha: zeroSha, newSha: a, email: 'push-3' }));
});

test('an old update is found in a long log', async (t) => {
  const { dir, a, b } = await prepare();
  await move(dir, a, b, 1);
  const filler = `${b} ${b} Push <push-2> 1464937902 +0000\tpush\n`;
  await appendFile(join(dir, 'logs', ref), filler.repeat(5000));
  t.true(await wasApplied(dir, { ref, oldSha: a, newSha: b, email: 'push-1' }));
});

test('a push killed before it moves anything has not taken place, and blocks nothing once cleared', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  const hooks = await makeHook('killing', 'kill -9 $PPID');
  const next = await commitFile(tree, { path: 'a', content: 'a', message: 'Next' });
  const pack = await packOf(tree, next);
  const line = `${sha} ${next} ${ref}\0report-status`;
  const killed = spawnGit({
    args: ['receive-pack', '--stateless-rpc', dir],
    identity: push(1),
    config: [['core.hooksPath', hooks]],
  });
  killed.child.stdout.resume();
  killed.child.stdin.end(Buffer.concat([pktLine(line), flushPkt, pack]));
  t.is((await killed.ended).signal, 'SIGKILL');
  const question = { ref, oldSha: sha, newSha: next, email: 'push-1' };
  t.false(await wasApplied(dir, question));
  await t.throwsAsync(move(dir, sha, next, 2), { message: /File exists/ });
  t.true((await removeStaleLocks(dir, { lockMs: 0, packMs: 0 })).includes('refs/heads/master.lock'));
  await move(dir, sha, next, 3);
  t.false(await wasApplied(dir, question));
});

test('whenever an update of many refs is killed, the verdict on each ref is the truth', async (t) => {
  const { dir, a, b } = await prepare();
  const names = Array.from({ length: 250 }, (_, index) => `refs/heads/many/${index}`);
  await gitWithInput(dir, ['update-ref', '--stdin'], names.map((name) => `create ${name} ${a}\n`).join(''));
  const seen = { moved: 0, left: 0, partly: 0 };
  for (let round = 1; round <= 6; round += 1) {
    await moveAllAndKill(dir, { input: names.map((name) => `update ${name} ${b} ${a}\n`).join(''), round });
    await removeStaleLocks(dir, { lockMs: 0, packMs: 0 });
    const refs = await listRefs(dir, ['refs/heads/many']);
    const moved = refs.filter(({ sha }) => sha === b).map(({ name }) => name);
    const verdicts = await wereApplied(
      dir,
      names.map((name) => ({ ref: name, oldSha: a, newSha: b, email: `push-${round}` })),
    );
    t.deepEqual(names.filter((_, index) => verdicts[index]).sort(), moved.sort());
    seen.moved += moved.length;
    seen.left += names.length - moved.length;
    seen.partly += moved.length > 0 && moved.length < names.length ? 1 : 0;
    await gitWithInput(
      dir,
      ['update-ref', '--stdin'],
      moved.map((name) => `update ${name} ${a} ${b}\n`).join(''),
    );
  }
  t.log(`${seen.moved} moved, ${seen.left} left, ${seen.partly} rounds killed in between`);
});

/** Kills git a few milliseconds after it has locked all refs, while it moves one after the other. */
async function moveAllAndKill(
  dir: string,
  { input, round }: { input: string; round: number },
): Promise<void> {
  const hooks = await makeHook(
    `many-${round}`,
    `(sleep 0.00${randomInt(0, 9)}; kill -9 $PPID) >/dev/null 2>&1 &`,
  );
  const config = [
    ['core.hooksPath', hooks],
    ['core.fsync', 'none'],
  ] as const;
  const process = spawnGit({ dir, args: ['update-ref', '--stdin'], identity: push(round), config });
  process.child.stdout.resume();
  process.child.stdin.end(input);
  await process.ended;
}

/** A folder of hooks with a command that git runs once it has locked the refs it is going to move. */
async function makeHook(name: string, command: string): Promise<string> {
  const hooks = join(bench.folder, name);
  await mkdir(hooks);
  const hook = join(hooks, 'reference-transaction');
  await writeFile(hook, `#!/bin/sh\nif [ "$1" = prepared ]; then ${command}\nfi\n`);
  await chmod(hook, 0o755);
  return hooks;
}
