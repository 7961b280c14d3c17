import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { cacheFile, cacheKey, saveCache } from '../../../runner/job/cache.ts';
import { selectedFiles } from '../../../runner/job/selected-files.ts';
import type { BuildPayload, BuildVariable } from '../../../shared/protocol/build.ts';
import { files } from '../../support/file-entries.ts';
import { readable, type ScriptedJob, scriptedJob } from '../../support/scripted-job.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface CachedJob extends ScriptedJob {
  /** Paths that were unpacked into the job, by all runs. */
  imported: string[];
  /** Runs the build once more, with another payload. */
  again(change: Partial<BuildPayload>): Promise<void>;
}

const cached = { cache: { paths: ['kept'] } };

function plain(key: string, value: string): BuildVariable {
  return { key, value, public: true };
}

/** A job that always has the file `kept/x` beside one that is not asked for. */
async function cachedJob(t: ExecutionContext, payload: Partial<BuildPayload> = {}): Promise<CachedJob> {
  const imported: string[] = [];
  const script = {
    exportFiles: () => files(['kept/x', 'X'], ['other', 'O'], ['a.txt', 'tracked']),
    importFiles: async (entries: AsyncIterable<{ path: string }>) => {
      for await (const entry of entries) imported.push(entry.path);
    },
  };
  const job = await scriptedJob(t, script, { options: cached, ...payload });
  const again = async (change: Partial<BuildPayload>) => {
    Object.assign(job.build.payload, change);
    job.build.status = 'running';
    job.build.trace = Buffer.alloc(0);
    await job.run();
  };
  return { ...job, imported, again };
}

test('a cache saved by one build is there for the next', async (t) => {
  const { run, again, trace, imported } = await cachedJob(t, {
    options: { cache: { key: '$CI_BUILD_REF_NAME', paths: ['kept'] } },
  });
  await run();
  t.true(trace().includes('There is no cache main yet'));
  t.true(trace().includes('Saved cache main'));
  t.deepEqual(imported, []);
  await again({});
  t.true(trace().includes('Restored cache main'));
  t.deepEqual(imported, ['kept/x']);
});

test('untracked keeps what the commit does not hold', async (t) => {
  const { run, again, imported } = await cachedJob(t, { options: { cache: { untracked: true } } });
  await run();
  await again({});
  t.deepEqual(imported, ['kept/x', 'other']);
});

test('without a key each job of each ref has its own cache', async (t) => {
  const { run, again, trace } = await cachedJob(t);
  await run();
  await again({ name: 'lint' });
  t.true(trace().includes('There is no cache lint/main yet'));
  await again({ ref: 'feature', variables: [plain('GIT_STRATEGY', 'none')] });
  t.true(trace().includes('There is no cache lint/feature yet'));
  await again({ name: 'test', ref: 'main', variables: [] });
  t.true(trace().includes('Restored cache test/main'));
});

test('a job that failed keeps no cache', async (t) => {
  const script = { exportFiles: () => files(['kept/x', 'X']), run: async () => ({ exitCode: 1 }) };
  const { run, trace, folder } = await scriptedJob(t, script, { options: cached });
  await run();
  t.false(trace().includes('Saved cache'));
  await t.throwsAsync(stat(join(folder, 'cache')), { code: 'ENOENT' });
});

test('CACHE_FALLBACK_KEY stands in for a cache that is not there yet', async (t) => {
  const { run, again, trace, imported } = await cachedJob(t, { name: 'base' });
  await run();
  await again({ name: 'test', variables: [plain('CACHE_FALLBACK_KEY', 'base/main')] });
  t.true(trace().includes('There is no cache test/main yet'));
  t.true(trace().includes('Restored cache base/main'));
  t.deepEqual(imported, ['kept/x']);
  await again({});
  t.true(trace().includes('Restored cache test/main'));
  t.false(trace().includes('base/main'));
});

test('builds of protected branches do not share caches with others', async (t) => {
  const { run, again, trace } = await cachedJob(t);
  await run();
  await again({ variables: [plain('CI_COMMIT_REF_PROTECTED', 'true')] });
  t.true(trace().includes('There is no cache test/main yet'));
  await again({});
  t.true(trace().includes('Restored cache test/main'));
});

for (const key of ['../other', 'a/../../b', '/..', '$UP/x']) {
  test(`the key ${key} is refused with a warning, and the job goes on`, async (t) => {
    const { run, trace, folder } = await cachedJob(t, {
      options: { cache: { key, paths: ['kept'] } },
      variables: [plain('UP', '..')],
    });
    t.is((await run()).kind, 'success');
    t.true(trace().includes('must not hold ".."'));
    await t.throwsAsync(stat(join(folder, 'cache')), { code: 'ENOENT' });
  });
}

test('an empty key means that there is no cache', async (t) => {
  const { run, trace, folder } = await cachedJob(t, {
    options: { cache: { key: '$NONE', paths: ['kept'] } },
  });
  t.is((await run()).kind, 'success');
  t.true(trace().includes('key of the cache is empty'));
  await t.throwsAsync(stat(join(folder, 'cache')), { code: 'ENOENT' });
});

test('a slash in front of a key does not count', (t) => {
  const build = { name: 'test', ref: 'main', options: { cache: { key: '//deps' } } };
  t.is(cacheKey(build, []), 'deps');
});

test('an archive that is broken is tried as often as wanted, and then a warning', async (t) => {
  const { run, again, trace, folder } = await cachedJob(t);
  await run();
  const directory = join(folder, 'cache');
  for (const name of await readdir(directory)) await writeFile(join(directory, name), 'broken');
  await again({ variables: [plain('RESTORE_CACHE_ATTEMPTS', '3')] });
  t.is(trace().split('trying again').length, 3);
  t.regex(readable(trace()), /WARNING: The cache cannot be restored/);
  t.regex(trace(), /Job succeeded/);
  await again({ variables: [] });
  t.true(trace().includes('Restored cache'));
});

async function save(directory: string, key: string, { size = 1000, limit = 5000 } = {}): Promise<boolean> {
  const environment = {
    projectDir: '/p',
    // No two bytes alike in a row, so that packing makes it no smaller than half.
    exportFiles: () =>
      files([
        'x',
        Array.from({ length: size }, () => Math.random())
          .join('')
          .slice(0, size),
      ]),
  };
  const selected = selectedFiles({ environment, paths: ['x'], tracked: null, warn: () => {} });
  const signal = new AbortController().signal;
  return saveCache({ file: cacheFile(directory, key, []), files: selected, signal, limit });
}

test('beyond the limit of a project the caches unused for longest go', async (t) => {
  const directory = join(await temporaryFolder(t), 'cache');
  const age = async (key: string, seconds: number) => {
    const time = new Date(Date.now() - seconds * 1000);
    await utimes(cacheFile(directory, key, []), time, time);
  };
  t.true(await save(directory, 'used long ago'));
  t.true(await save(directory, 'used lately'));
  await age('used long ago', 7200);
  await age('used lately', 60);
  const { size } = await stat(cacheFile(directory, 'used lately', []));
  t.true(await save(directory, 'new', { limit: Math.floor(size * 2.5) }));
  const left = await readdir(directory);
  t.is(left.length, 2);
  t.true(left.every((name) => !cacheFile(directory, 'used long ago', []).endsWith(name)));
});

test('a cache beyond the limit alone is not kept', async (t) => {
  const directory = join(await temporaryFolder(t), 'cache');
  t.false(await save(directory, 'huge', { size: 5000, limit: 1000 }));
  t.deepEqual(await readdir(directory), []);
});

test('what a dead runner was writing goes after a day', async (t) => {
  const directory = join(await temporaryFolder(t), 'cache');
  await mkdir(directory);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  for (const name of ['old.zip.1.tmp', 'new.zip.1.tmp']) await writeFile(join(directory, name), '');
  await utimes(join(directory, 'old.zip.1.tmp'), yesterday, yesterday);
  await save(directory, 'any');
  const left = await readdir(directory);
  t.false(left.includes('old.zip.1.tmp'));
  t.true(left.includes('new.zip.1.tmp'));
});

test('paths that lead out of the project are left out with a warning', async (t) => {
  const { run, trace } = await cachedJob(t, { options: { cache: { paths: ['../x', 'kept'] } } });
  await run();
  t.true(trace().includes('../x: outside of the project directory, left out'));
  t.true(trace().includes('Saved cache'));
});
