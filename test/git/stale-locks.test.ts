import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { removeStaleLocks } from '../../server/git/stale-locks.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
const now = { lockMs: 0, packMs: 0 };
test.after.always(() => bench.clean());

test('old locks and half-received packs go, fresh ones and everything else stay', async (t) => {
  const { dir, sha } = await bench.filled();
  const old = [
    'HEAD.lock',
    'packed-refs.lock',
    'packed-refs.new',
    'refs/heads/master.lock',
    'refs/heads/a/b.lock',
    'objects/pack/tmp_pack_x',
    'objects/pack/.tmp-12-pack-x.pack',
    'objects/pack/multi-pack-index.lock',
    'objects/pack/pack-x.keep',
    'objects/info/commit-graph.lock',
    'objects/info/commit-graphs/commit-graph-chain.lock',
  ];
  await mkdir(join(dir, 'refs/heads/a'), { recursive: true });
  for (const path of ['incoming-x/pack', 'info/commit-graphs']) {
    await mkdir(join(dir, 'objects', path), { recursive: true });
  }
  for (const path of [...old, 'refs/heads/fresh.lock']) await writeFile(join(dir, path), '');
  for (const path of [...old, 'objects/incoming-x']) await utimes(join(dir, path), 1, 1);
  const removed = await removeStaleLocks(dir, { lockMs: 60_000, packMs: 60_000 });
  t.deepEqual(removed.sort(), [...old, 'objects/incoming-x'].sort());
  t.is(await git(dir, 'rev-parse', 'master'), sha);
  t.deepEqual(await removeStaleLocks(dir, now), ['refs/heads/fresh.lock']);
});

test('a pack may take longer than a lock', async (t) => {
  const { dir } = await bench.filled();
  const anHourAgo = Date.now() / 1000 - 3600;
  for (const path of ['HEAD.lock', 'objects/pack/tmp_pack_x']) {
    await writeFile(join(dir, path), '');
    await utimes(join(dir, path), anHourAgo, anHourAgo);
  }
  t.deepEqual(await removeStaleLocks(dir, { lockMs: 60_000, packMs: 7_200_000 }), ['HEAD.lock']);
});

test('a repository that is not there has no locks', async (t) => {
  t.deepEqual(await removeStaleLocks(join(bench.folder, 'nowhere.git'), now), []);
});
