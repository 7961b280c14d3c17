import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { removeStaleLocks } from '../../server/git/stale-locks.ts';
import { git, makeBench } from './real-git.ts';

const bench = await makeBench();
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
  ];
  await mkdir(join(dir, 'refs/heads/a'), { recursive: true });
  await mkdir(join(dir, 'objects/incoming-x/pack'), { recursive: true });
  for (const path of [...old, 'refs/heads/fresh.lock']) await writeFile(join(dir, path), '');
  for (const path of [...old, 'objects/incoming-x']) await utimes(join(dir, path), 1, 1);
  const removed = await removeStaleLocks(dir, 60_000);
  t.deepEqual(removed.sort(), [...old, 'objects/incoming-x'].sort());
  t.is(await git(dir, 'rev-parse', 'master'), sha);
  t.deepEqual(await removeStaleLocks(dir, 0), ['refs/heads/fresh.lock']);
});

test('a repository that is not there has no locks', async (t) => {
  t.deepEqual(await removeStaleLocks(join(bench.folder, 'nowhere.git'), 0), []);
});
