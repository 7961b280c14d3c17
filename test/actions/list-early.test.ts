import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { listEarly } from '../../server/actions/list-early.ts';
import type { RefChange } from '../../server/entities/push.ts';
import { CatFile } from '../../server/git/cat-file.ts';
import type { ConfigEntry } from '../../server/git/environment.ts';
import { flushPkt, pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { readRef } from '../../server/git/refs.ts';
import { receivePack } from '../../server/git/smart-http.ts';
import { commitFile, makeBench } from '../git/real-git.ts';
import { packOf } from '../support/git.ts';

const bench = await makeBench();
const objects = new CatFile();
test.after.always(async () => {
  objects.close();
  await bench.clean();
});

const branch = 'refs/heads/master';

/** A repository with one commit, and two more that are only in a work tree. */
async function withNew() {
  const { dir, tree, sha } = await bench.filled();
  const next = await commitFile(tree, { path: 'a', content: 'a', message: 'Next' });
  const last = await commitFile(tree, { path: 'b', content: 'b', message: 'Last' });
  return { dir, tree, sha, next, last };
}

interface Pushed {
  dir: string;
  changes: RefChange[];
  pack: Buffer | string;
  defaultBranch?: string | null;
  guard?: ConfigEntry[];
}

function push({ dir, changes, pack, defaultBranch = 'master', guard = [] }: Pushed) {
  const lines = changes.map(({ oldSha, newSha, ref }) => `${oldSha} ${newSha} ${ref}`);
  const commands = lines.map((line, index) => pktLine(index === 0 ? `${line}\0report-status` : line));
  const body = Readable.from([Buffer.concat([...commands, flushPkt, Buffer.from(pack)])]);
  const running = receivePack({ dir, body, identity: { name: 'Push', email: 'push-1' }, guard });
  running.output.resume();
  const early = listEarly({ objects }, { dir, defaultBranch, changes, quarantine: running.quarantine });
  return { done: running.done, early };
}

test('what a push brings is listed before git moves the ref', async (t) => {
  const { dir, tree, sha, next, last } = await withNew();
  const hooks = await mkdtemp(join(bench.folder, 'hooks-'));
  const go = join(hooks, 'go');
  const hook = `#!/bin/sh\nuntil [ -e '${go}' ]; do sleep 0.05; done\n`;
  await writeFile(join(hooks, 'pre-receive'), hook, { mode: 0o755 });
  const { early, done } = push({
    dir,
    changes: [{ ref: branch, oldSha: sha, newSha: last }],
    pack: await packOf(tree, last, `^${sha}`),
    guard: [['core.hooksPath', hooks]],
  });
  t.deepEqual(await early, { oldSha: sha, newSha: last, total: 2, newest: [last, next] });
  t.is(await readRef(dir, branch), sha);
  await mkdir(go);
  t.is((await done).code, 0);
  t.is(await readRef(dir, branch), last);
});

test('a push of many objects, which git keeps as one pack, is listed too', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  const shas: string[] = [];
  for (let index = 0; index < 40; index += 1) {
    shas.unshift(await commitFile(tree, { path: 'a', content: `${index}`, message: `Commit ${index}` }));
  }
  const [last = ''] = shas;
  const pack = await packOf(tree, last, `^${sha}`);
  const { early } = push({ dir, changes: [{ ref: branch, oldSha: sha, newSha: last }], pack });
  t.deepEqual(await early, { oldSha: sha, newSha: last, total: 40, newest: shas.slice(0, 20) });
});

test('a new branch starts at the default one, and the first branch at nothing', async (t) => {
  const { dir, tree, sha, next, last } = await withNew();
  const change = { ref: 'refs/heads/side', oldSha: zeroSha, newSha: last };
  const pack = await packOf(tree, last);
  const side = push({ dir, changes: [change], pack });
  t.deepEqual(await side.early, { oldSha: sha, newSha: last, total: 2, newest: [last, next] });
  await side.done;
  const empty = await bench.repository();
  const first = push({ dir: empty, changes: [change], pack, defaultBranch: null });
  t.deepEqual(await first.early, { oldSha: zeroSha, newSha: last, total: 3, newest: [last, next, sha] });
  await first.done;
});

const others: Record<string, (at: Awaited<ReturnType<typeof withNew>>) => Pushed | Promise<Pushed>> = {
  'a deletion': ({ dir, sha }) => ({
    dir,
    changes: [{ ref: branch, oldSha: sha, newSha: zeroSha }],
    pack: '',
  }),
  'a tag': async ({ dir, tree, last }) => ({
    dir,
    changes: [{ ref: 'refs/tags/v1', oldSha: zeroSha, newSha: last }],
    pack: await packOf(tree, last),
  }),
  'several branches': async ({ dir, tree, sha, last }) => ({
    dir,
    changes: [
      { ref: branch, oldSha: sha, newSha: last },
      { ref: 'refs/heads/side', oldSha: zeroSha, newSha: last },
    ],
    pack: await packOf(tree, last),
  }),
  'a broken pack': async ({ dir, tree, sha, last }) => ({
    dir,
    changes: [{ ref: branch, oldSha: sha, newSha: last }],
    pack: (await packOf(tree, last)).subarray(0, -30),
  }),
};

for (const [name, pushed] of Object.entries(others)) {
  test(`${name} is not listed early`, async (t) => {
    const { early, done } = push(await pushed(await withNew()));
    t.is(await early, null);
    await done;
  });
}
