import { once } from 'node:events';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ExecutorError } from '../../../runner/executor/executor-error.ts';
import { fetchSources } from '../../../runner/job/sources.ts';
import { git, place } from '../../support/source-place.ts';
import { type SourceRepository, sourceRepository } from '../../support/source-repository.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const credentials = 'gitlab-ci-token:s3cr3t';

/** Serves what is below the folder as plain files, to those who bring the credentials. */
async function serve(t: ExecutionContext, folder: string): Promise<string> {
  const wanted = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization !== wanted) return response.writeHead(401).end();
    const path = new URL(request.url ?? '', 'http://x').pathname;
    readFile(join(folder, path)).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Nested {
  main: SourceRepository;
  sha: string;
  repoUrl: string;
}

/** A repository with a submodule that holds another, all of them private on one server. */
async function nested(t: ExecutionContext): Promise<Nested> {
  const folder = await temporaryFolder(t);
  const url = await serve(t, folder);
  const make = (name: string) => sourceRepository(join(folder, name));
  const [main, outer, inner] = [await make('main'), await make('outer'), await make('inner')];
  await inner.commit({ 'inner.txt': 'inner' });
  await addSubmodule(outer, { url: `${url}/inner/.git`, path: 'deep', sha: await head(inner) });
  await addSubmodule(main, { url: '../../outer/.git', path: 'vendor/lib', sha: await head(outer) });
  for (const repository of [main, outer, inner]) await repository.git('update-server-info');
  return {
    main,
    sha: await head(main),
    repoUrl: `${url.replace('http://', `http://${credentials}@`)}/main/.git`,
  };
}

function head(repository: SourceRepository): Promise<string> {
  return repository.git('rev-parse', 'HEAD');
}

async function addSubmodule(
  to: SourceRepository,
  module: { url: string; path: string; sha: string },
): Promise<void> {
  const { url, path, sha } = module;
  await to.commit({ '.gitmodules': `[submodule "x"]\n\tpath = ${path}\n\turl = ${url}\n`, 'a.txt': 'a' });
  await to.git('update-index', '--add', '--cacheinfo', `160000,${sha},${path}`);
  await to.git('commit', '--quiet', '--message=submodule');
}

function exists(...path: string[]): Promise<boolean> {
  return access(join(...path)).then(
    () => true,
    () => false,
  );
}

for (const [value, hasOuter, hasInner] of [
  ['none', false, false],
  ['', false, false],
  ['normal', true, false],
  ['recursive', true, true],
] as const) {
  test(`submodules with GIT_SUBMODULE_STRATEGY="${value}"`, async (t) => {
    const { sha, repoUrl } = await nested(t);
    const { directory, request } = await place(t);
    const base = request(sha, {}, { GIT_SUBMODULE_STRATEGY: value });
    await fetchSources({ ...base, build: { ...base.build, repo_url: repoUrl } });
    t.true(await exists(directory, 'a.txt'));
    t.is(await exists(directory, 'vendor/lib/a.txt'), hasOuter);
    t.is(await exists(directory, 'vendor/lib/deep/inner.txt'), hasInner);
  });
}

test('what a job left in a submodule is gone for the next one, with and without submodules', async (t) => {
  const { sha, repoUrl } = await nested(t);
  const { directory, request } = await place(t);
  const bring = async (strategy: string) => {
    const base = request(sha, {}, { GIT_SUBMODULE_STRATEGY: strategy });
    await fetchSources({ ...base, build: { ...base.build, repo_url: repoUrl } });
  };
  const left = join(directory, 'vendor', 'lib', 'left.txt');
  await bring('normal');
  await writeFile(left, '');
  await bring('normal');
  t.false(await exists(left));
  t.true(await exists(directory, 'vendor/lib/a.txt'));
  await writeFile(left, '');
  await bring('none');
  t.deepEqual(await readdir(join(directory, 'vendor', 'lib')), []);
});

test('without GIT_CHECKOUT the working copy stays as it is, and the commit is there', async (t) => {
  const { origin, directory, request, notices } = await place(t);
  await fetchSources(request(await origin.commit({ 'a.txt': 'old' })));
  await writeFile(join(directory, 'left.txt'), '');
  const sha = await origin.commit({ 'a.txt': 'new' });
  await fetchSources(request(sha, {}, { GIT_CHECKOUT: 'false' }));
  t.is(await readFile(join(directory, 'a.txt'), 'utf8'), 'old');
  t.true(await exists(directory, 'left.txt'));
  t.is(await git(directory, 'cat-file', '-t', sha), 'commit');
  t.true(notices.join().includes('GIT_CHECKOUT'));
});

for (const [flags, left] of [
  ['-ffdx', []],
  ['-ffdx -e keep.o', ['keep.o']],
  ['-ffd', ['keep.o', 'other.o']],
  ['none', ['keep.o', 'new.txt', 'other.o']],
] as [string, string[]][]) {
  test(`GIT_CLEAN_FLAGS="${flags}" decides what stays`, async (t) => {
    const { origin, directory, request } = await place(t);
    const sha = await origin.commit({ '.gitignore': '*.o\n' });
    await fetchSources(request(sha));
    for (const name of ['keep.o', 'other.o', 'new.txt']) await writeFile(join(directory, name), '');
    await fetchSources(request(sha, {}, { GIT_CLEAN_FLAGS: flags }));
    const names = (await readdir(directory)).filter((name) => !name.startsWith('.git'));
    t.deepEqual(names.sort(), left);
  });
}

test('GIT_FETCH_EXTRA_FLAGS reach the fetch', async (t) => {
  const { origin, directory, request } = await place(t);
  await origin.commit({ 'a.txt': '1' });
  const sha = await origin.commit({ 'a.txt': '2' });
  await fetchSources(request(sha, {}, { GIT_FETCH_EXTRA_FLAGS: '--depth=1  --no-show-forced-updates' }));
  t.is(await git(directory, 'rev-list', '--count', 'HEAD'), '1');
});

for (const flag of [
  '--upload-pack=/bin/evil',
  '--upload-pa=/bin/evil',
  '--upload-pack',
  '-o',
  '--multiple',
  '--stdin',
  '--exec=x',
  '--recurse-submodules',
  '--prune=x',
  '--depth',
  '--',
  '-',
  'ext::/bin/evil',
  '-u/bin/evil',
  '-c',
  '--output=/etc/passwd',
]) {
  test(`"${flag}" is refused among the flags of the fetch`, async (t) => {
    const { request, directory } = await place(t);
    const fetched = fetchSources(request('a'.repeat(40), {}, { GIT_FETCH_EXTRA_FLAGS: `--prune ${flag}` }));
    const error = await t.throwsAsync(fetched, { instanceOf: ExecutorError });
    t.is(error?.kind, 'user');
    t.is(error?.message, `GIT_FETCH_EXTRA_FLAGS must not hold "${flag}"`);
    t.false(await exists(directory));
  });
}

for (const [name, values] of [
  ['GIT_STRATEGY', 'clone, fetch or none'],
  ['GIT_SUBMODULE_STRATEGY', 'none, normal or recursive'],
  ['GIT_CHECKOUT', 'true or false'],
] as const) {
  test(`another value of ${name} is the fault of the job`, async (t) => {
    const { origin, request } = await place(t);
    const sha = await origin.commit({ 'a.txt': '1' });
    const error = await t.throwsAsync(fetchSources(request(sha, {}, { [name]: 'sometimes' })), {
      instanceOf: ExecutorError,
    });
    t.is(error?.kind, 'user');
    t.is(error?.message, `${name} must be ${values}, not "sometimes"`);
  });
}

test('a GIT_DEPTH that is no number is a warning, and all history comes', async (t) => {
  const { origin, directory, request, warnings } = await place(t);
  await origin.commit({ 'a.txt': '1' });
  const sha = await origin.commit({ 'a.txt': '2' });
  await fetchSources(request(sha, {}, { GIT_DEPTH: '-3' }));
  t.is(await git(directory, 'rev-list', '--count', 'HEAD'), '2');
  t.is(warnings.length, 1);
  t.regex(warnings[0] ?? '', /^GIT_DEPTH must be a whole number .* not "-3"; 0 is taken$/);
});
