import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { withAttempts } from '../../../runner/job/attempts.ts';
import { fetchSources, listTracked } from '../../../runner/job/sources.ts';
import { git, place } from '../../support/source-place.ts';

const execute = promisify(execFile);

test('the commit of the build is checked out detached', async (t) => {
  const { origin, directory, request } = await place(t);
  const old = await origin.commit({ 'a.txt': 'old' });
  await origin.commit({ 'a.txt': 'new' });
  await fetchSources(request(old));
  t.is(await readFile(join(directory, 'a.txt'), 'utf8'), 'old');
  t.is(await git(directory, 'rev-parse', 'HEAD'), old);
  await t.throwsAsync(git(directory, 'symbolic-ref', '--quiet', 'HEAD'));
});

test('a fetch keeps the repository and leaves nothing untracked', async (t) => {
  const { origin, directory, request, notices } = await place(t);
  await fetchSources(request(await origin.commit({ 'a.txt': '1', '.gitignore': 'out\n' })));
  await writeFile(join(directory, 'left.txt'), '');
  await mkdir(join(directory, 'out'));
  await writeFile(join(directory, 'a.txt'), 'changed');
  const { ino } = await stat(join(directory, '.git'));
  await fetchSources(request(await origin.commit({ 'a.txt': '2' })));
  t.is((await stat(join(directory, '.git'))).ino, ino);
  t.deepEqual((await readdir(directory)).sort(), ['.git', '.gitignore', 'a.txt']);
  t.is(await readFile(join(directory, 'a.txt'), 'utf8'), '2');
  t.true(notices.includes('Fetching changes…'));
});

test('a clone starts from nothing', async (t) => {
  const { origin, directory, request, notices } = await place(t);
  const sha = await origin.commit({ 'a.txt': '1' });
  await fetchSources(request(sha));
  await writeFile(join(directory, '.git', 'mark'), '');
  await fetchSources(request(sha, {}, { GIT_STRATEGY: 'clone' }));
  await t.throwsAsync(stat(join(directory, '.git', 'mark')), { code: 'ENOENT' });
  t.false(notices.includes('Fetching changes…'));
});

test('without leave of the project every build clones', async (t) => {
  const { origin, request, notices } = await place(t);
  const base = request(await origin.commit({ 'a.txt': '1' }));
  const build = { ...base.build, allow_git_fetch: false };
  await fetchSources({ ...base, build });
  await fetchSources({ ...base, build });
  t.false(notices.includes('Fetching changes…'));
});

test('with GIT_STRATEGY=none the directory stays as it is', async (t) => {
  const { directory, request } = await place(t);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'mine.txt'), '');
  await fetchSources(request('a'.repeat(40), {}, { GIT_STRATEGY: 'none' }));
  t.deepEqual(await readdir(directory), ['mine.txt']);
});

test('with GIT_DEPTH an old commit is found all the same', async (t) => {
  const { origin, directory, request } = await place(t);
  const old = await origin.commit({ 'a.txt': 'old' });
  for (const text of ['1', '2', '3']) await origin.commit({ 'a.txt': text });
  await fetchSources(request(old, {}, { GIT_DEPTH: '1' }));
  t.is(await readFile(join(directory, 'a.txt'), 'utf8'), 'old');
  t.is(await git(directory, 'rev-list', '--count', 'HEAD'), '1');
});

test('a full fetch after a shallow one brings the history', async (t) => {
  const { origin, directory, request } = await place(t);
  await origin.commit({ 'a.txt': '1' });
  const sha = await origin.commit({ 'a.txt': '2' });
  await fetchSources(request(sha, {}, { GIT_DEPTH: '1' }));
  await fetchSources(request(sha));
  t.is(await git(directory, 'rev-list', '--count', 'HEAD'), '2');
});

test('a commit whose branch is gone is fetched by its name', async (t) => {
  const { origin, directory, request } = await place(t);
  await origin.commit({ 'a.txt': '1' });
  await origin.git('checkout', '--quiet', '-b', 'gone');
  const sha = await origin.commit({ 'b.txt': '2' });
  await origin.git('checkout', '--quiet', 'main');
  await origin.git('branch', '--quiet', '-D', 'gone');
  const base = request(sha);
  await fetchSources({ ...base, build: { ...base.build, ref: 'gone' } });
  t.is(await git(directory, 'rev-parse', 'HEAD'), sha);
});

test('branches that were removed go, tags come', async (t) => {
  const { origin, directory, request } = await place(t);
  const sha = await origin.commit({ 'a.txt': '1' });
  await origin.git('branch', 'extra');
  await fetchSources(request(sha));
  await origin.git('branch', '-D', 'extra');
  await origin.git('tag', 'v1');
  await fetchSources(request(sha));
  const refs = await git(directory, 'for-each-ref', '--format=%(refname)');
  t.deepEqual(refs.split('\n'), ['refs/remotes/origin/main', 'refs/tags/v1']);
});

test('a commit that does not exist is said so', async (t) => {
  const { origin, request } = await place(t);
  await origin.commit({ 'a.txt': '1' });
  await t.throwsAsync(fetchSources(request('b'.repeat(40))), { message: /cannot be fetched/ });
});

test('locks, hooks and settings of an earlier job do not matter', async (t) => {
  const { origin, directory, request } = await place(t);
  await fetchSources(request(await origin.commit({ 'a.txt': '1' })));
  const mark = join(directory, '..', 'hook-ran');
  const program = `#!/bin/sh\ntouch '${mark}'\n`;
  const repository = join(directory, '.git');
  await mkdir(join(repository, 'hooks'), { recursive: true });
  await writeFile(join(repository, 'hooks', 'post-checkout'), program, { mode: 0o755 });
  await writeFile(join(repository, 'index.lock'), '');
  await writeFile(join(directory, '..', 'evil'), program, { mode: 0o755 });
  const filter = `[filter "x"]\n\tsmudge = ${join(directory, '..', 'evil')}\n`;
  await writeFile(
    join(repository, 'config'),
    `[core]\n\tfsmonitor = ${join(directory, '..', 'evil')}\n${filter}`,
  );
  await mkdir(join(repository, 'info'), { recursive: true });
  await writeFile(join(repository, 'info', 'attributes'), '* filter=x\n');
  await fetchSources(request(await origin.commit({ 'a.txt': '2' })));
  t.is(await readFile(join(directory, 'a.txt'), 'utf8'), '2');
  await t.throwsAsync(stat(mark), { code: 'ENOENT' });
});

test('a repository that is broken or a link is made anew', async (t) => {
  const { origin, directory, request, notices } = await place(t);
  const sha = await origin.commit({ 'a.txt': '1' });
  await fetchSources(request(sha));
  await writeFile(join(directory, '.git', 'HEAD'), 'nonsense');
  await writeFile(join(directory, '.git', 'objects', 'info'), '').catch(() => {});
  await fetchSources(request(sha));
  t.is(await git(directory, 'rev-parse', 'HEAD'), sha);
  await execute('rm', ['-r', join(directory, '.git')]);
  await symlink(join(origin.directory, '.git'), join(directory, '.git'));
  await fetchSources(request(sha));
  t.true((await stat(join(origin.directory, '.git', 'HEAD'))).isFile());
  t.true(notices.length > 0);
});

test('directories without the write bit do not stop the next build', async (t) => {
  const { origin, directory, request } = await place(t);
  const sha = await origin.commit({ 'a.txt': '1' });
  await fetchSources(request(sha));
  await mkdir(join(directory, 'locked', 'deep'), { recursive: true });
  await writeFile(join(directory, 'locked', 'deep', 'file'), '');
  await chmod(join(directory, 'locked', 'deep'), 0o500);
  await chmod(join(directory, 'locked'), 0o500);
  await fetchSources(request(sha));
  t.deepEqual((await readdir(directory)).sort(), ['.git', 'a.txt']);
});

test('the job finds the credentials in the remote of its working copy only', async (t) => {
  const { origin, directory, request } = await place(t);
  const sha = await origin.commit({ 'a.txt': '1' });
  await fetchSources(request(sha));
  t.is(await git(directory, 'remote', 'get-url', 'origin'), origin.url);
  t.is((await stat(join(directory, '.git', 'config'))).mode & 0o777, 0o600);
});

test('credentials travel as a header, from the first request on', async (t) => {
  const { request, notices } = await place(t);
  const seen: (string | undefined)[] = [];
  const server = createServer((incoming, response) => {
    seen.push(incoming.headers.authorization);
    response.writeHead(500).end();
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const base = request('c'.repeat(40));
  const build = { ...base.build, repo_url: `http://gitlab-ci-token:s3cr3t@127.0.0.1:${port}/g/p.git` };
  const error = await t.throwsAsync(fetchSources({ ...base, build }));
  t.is(seen[0], `Basic ${Buffer.from('gitlab-ci-token:s3cr3t').toString('base64')}`);
  t.false(`${error?.message}${notices.join()}`.includes('s3cr3t'));
});

test('a stop ends a fetch from a server that says nothing', async (t) => {
  const { request } = await place(t);
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const controller = new AbortController();
  const base = request('c'.repeat(40), { signal: controller.signal });
  const build = { ...base.build, repo_url: `http://127.0.0.1:${port}/g/p.git` };
  const fetched = fetchSources({ ...base, build });
  const [connection] = await once(server, 'connection');
  const closed = once(connection, 'close');
  controller.abort(new Error('stopped'));
  await t.throwsAsync(fetched, { message: 'stopped' });
  await closed;
});

test('the paths in the commit are listed as they are', async (t) => {
  const { origin, request } = await place(t);
  const sha = await origin.commit({ 'a b.txt': '', 'é/ü.txt': '' });
  await fetchSources(request(sha));
  t.deepEqual([...(await listTracked(request(sha)))].sort(), ['a b.txt', 'é/ü.txt']);
});

test('a server that is away is waited for; what it says when it is back counts, and the working copy stays', async (t) => {
  const { origin, directory, request } = await place(t);
  await fetchSources(request(await origin.commit({ 'a.txt': '1' })));
  await writeFile(join(directory, '.git', 'mark'), '');
  const answers = [503, 502, 403];
  const server = createServer((_, response) => {
    response.writeHead(answers.shift() ?? 403).end();
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const base = request('c'.repeat(40));
  const build = { ...base.build, repo_url: `http://127.0.0.1:${port}/g/p.git` };
  const marks: boolean[] = [];
  const attempts = {
    count: 1,
    pause: 1,
    signal: base.signal,
    async onFailure() {
      marks.push((await readdir(join(directory, '.git'))).includes('mark'));
    },
  };
  await t.throwsAsync(
    withAttempts(attempts, () => fetchSources({ ...base, build })),
    { message: /403/ },
  );
  t.deepEqual(marks, [true, true]);
});
