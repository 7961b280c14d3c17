import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import { CatFile } from '../../server/git/cat-file.ts';
import { GitError } from '../../server/git/errors.ts';
import { forkRepository } from '../../server/git/fork.ts';
import { keepAround } from '../../server/git/refs.ts';
import { uploadPack } from '../../server/git/smart-http.ts';
import { removeStaleLocks } from '../../server/git/stale-locks.ts';
import { tidyRepository } from '../../server/git/tidy.ts';
import { addCommits, agePacks, ageUseless, packNames } from '../support/many-packs.ts';
import { git, gitWithInput, makeBench, tryGit } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

const week = 7 * 86_400;
const timeLimitMs = 120_000;
const tidy = (dir: string, graceSeconds?: number) =>
  tidyRepository(dir, { timeLimitMs, ...(graceSeconds === undefined ? {} : { graceSeconds }) });

/** Lets the next round pack everything anew, as it does once a week. */
const nextWeek = (dir: string) => agePacks(dir, week + 60);

async function isWhole(dir: string): Promise<boolean> {
  return (await tryGit(dir, 'fsck', '--full', '--connectivity-only')).code === 0;
}

test('what many pushes leave becomes one pack, and a clone of it is the same', async (t) => {
  const dir = await bench.repository();
  await addCommits(dir, { packs: 60, loose: 200 });
  await git(dir, 'update-ref', 'refs/heads/other', 'master~5');
  await keepAround(dir, await git(dir, 'rev-parse', 'master~3'));
  const before = await git(dir, 'for-each-ref');
  t.is((await packNames(dir)).length, 60);
  const { bytes, packs } = await tidy(dir);
  t.is(packs, 1);
  t.true(bytes > 260 * 100 && bytes < 2_000_000, `${bytes} bytes`);
  t.is((await packNames(dir, '.bitmap')).length, 1);
  t.regex(await git(dir, 'count-objects'), /^0 objects/);
  t.is(await git(dir, 'for-each-ref'), before);
  t.true(await isWhole(dir));
  const clone = join(bench.folder, 'clone-of-many.git');
  await git(bench.folder, 'clone', '--quiet', '--bare', `file://${dir}`, clone);
  t.is(
    await git(clone, 'rev-list', '--all', '--objects'),
    await git(dir, 'rev-list', '--branches', '--objects'),
  );
});

test('pushes of an hour are joined without packing everything anew', async (t) => {
  const dir = await bench.repository();
  await addCommits(dir, { packs: 0, loose: 200 });
  await tidy(dir);
  const [large = ''] = await packNames(dir);
  await addCommits(dir, { packs: 8, loose: 5, fileSize: 60 });
  t.is((await tidy(dir)).packs, 2);
  t.true((await packNames(dir)).includes(large));
  await nextWeek(dir);
  t.is((await tidy(dir)).packs, 1);
  t.true(await isWhole(dir));
});

test('what nothing leads to stays for the time of grace from when that was first seen', async (t) => {
  const { dir } = await bench.filled();
  const lost = await gitWithInput(dir, ['hash-object', '-w', '--stdin'], 'of no use');
  const isThere = async () => (await tryGit(dir, 'cat-file', '-e', lost.trim())).code === 0;
  await git(dir, 'repack', '-adq', '--keep-unreachable');
  await agePacks(dir, 100 * week);
  await tidy(dir);
  t.true(await isThere(), 'however old its pack was');
  await ageUseless(dir, 2 * week - 60);
  await nextWeek(dir);
  await tidy(dir);
  t.true(await isThere());
  await ageUseless(dir, 120);
  await nextWeek(dir);
  await tidy(dir);
  t.false(await isThere());
  t.true(await isWhole(dir));
});

test('a clone that has begun gets everything, though the packs that it reads are replaced', async (t) => {
  const dir = await bench.repository();
  const tip = await addCommits(dir, { packs: 20, loose: 20, fileSize: 300 });
  const large = randomBytes(8 * 1024 * 1024);
  const blob = (await gitWithInput(dir, ['hash-object', '-w', '--stdin'], large)).trim();
  await git(dir, 'tag', 'large', blob);
  const want = (sha: string, rest = '') => {
    const line = `want ${sha}${rest}\n`;
    return `${(line.length + 4).toString(16).padStart(4, '0')}${line}`;
  };
  const request = `${want(tip, ' ofs-delta')}${want(blob)}00000009done\n`;
  const answer = uploadPack({ dir, body: Readable.from([Buffer.from(request)]) });
  await once(answer, 'readable');
  const old = await packNames(dir);
  t.is((await tidy(dir)).packs, 1);
  t.deepEqual(
    (await packNames(dir)).filter((name) => old.includes(name)),
    [],
  );
  const all = await buffer(answer.pipe(new PassThrough()));
  const target = await bench.repository();
  await gitWithInput(target, ['index-pack', '--stdin', '--fix-thin'], all.subarray('0008NAK\n'.length));
  await git(target, 'update-ref', 'refs/heads/master', tip);
  await git(target, 'tag', 'large', blob);
  t.true(await isWhole(target));
  t.is(await git(target, 'rev-list', '--all', '--objects'), await git(dir, 'rev-list', '--all', '--objects'));
});

test('a reader that stays open finds what was packed behind its back', async (t) => {
  const dir = await bench.repository();
  await addCommits(dir, { packs: 30, loose: 30 });
  const objects = new CatFile();
  t.teardown(() => objects.close());
  await objects.readCommit(dir, 'refs/heads/master');
  const pids = objects.pids();
  await tidy(dir);
  await addCommits(dir, { packs: 3, loose: 3, fileSize: 70 });
  await nextWeek(dir);
  await tidy(dir);
  for (const sha of (await git(dir, 'rev-list', 'master')).split('\n')) {
    t.is((await objects.readCommit(dir, sha))?.sha, sha);
  }
  t.deepEqual(objects.pids(), pids);
});

test('neither the source of a fork nor the fork needs the other', async (t) => {
  const source = await bench.repository();
  await addCommits(source, { packs: 5, loose: 5 });
  const forks = await Promise.all(
    ['first', 'second'].map(async (name) => {
      const target = join(bench.folder, `${name}-fork.git`);
      await forkRepository({
        source,
        target,
        staging: join(bench.folder, `${name}-staging`),
        head: 'master',
      });
      return target;
    }),
  );
  const [first = '', second = ''] = forks;
  await git(source, 'update-ref', '-d', 'refs/heads/master');
  await tidy(source);
  await ageUseless(source, 3 * week);
  await nextWeek(source);
  await tidy(source);
  t.is(await git(source, 'count-objects', '-v').then((text) => /in-pack: (\d+)/.exec(text)?.[1]), '0');
  t.true(await isWhole(first));
  await tidy(first);
  await rm(source, { recursive: true });
  await rm(first, { recursive: true });
  t.true(await isWhole(second));
  await tidy(second);
  t.is(await git(second, 'rev-list', '--count', 'master'), '10');
});

test('out of time it stops, and goes on the next time', async (t) => {
  const dir = await bench.repository();
  await addCommits(dir, { packs: 10, loose: 10 });
  await t.throwsAsync(tidyRepository(dir, { timeLimitMs: 1 }), { instanceOf: GitError });
  t.true(await isWhole(dir));
  // A git that was ended before it could see to that leaves its locks; whoever tidies clears them first.
  await removeStaleLocks(dir, { lockMs: 0, packMs: 0 });
  t.is((await tidy(dir)).packs, 1);
});

test('an empty repository is in order', async (t) => {
  t.deepEqual(await tidy(await bench.repository()), { bytes: 0, packs: 0 });
});
