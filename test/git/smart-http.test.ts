import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { GitError, GitProtocolError } from '../../server/git/errors.ts';
import { pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { wasApplied } from '../../server/git/reflog.ts';
import { readRef } from '../../server/git/refs.ts';
import { decodeBody } from '../../server/git/request-body.ts';
import { advertiseRefs, receivePack, uploadPack } from '../../server/git/smart-http.ts';
import { packOf } from '../support/git.ts';
import { serveGit, type TestServer, type TestServerOptions } from './http-server.ts';
import { commitFile, git, makeBench, tryGit } from './real-git.ts';

const bench = await makeBench();
test.after.always(() => bench.clean());

for (const version of ['0', '1', '2']) {
  test(`a client of protocol version ${version} clones, fetches and pushes`, async (t) => {
    const { dir, tree, sha } = await bench.filled();
    const server = await serve(t, { dir });
    const copy = await mkdtemp(join(bench.folder, 'copy-'));
    const flags = ['-c', `protocol.version=${version}`];
    await git(copy, ...flags, 'clone', '--quiet', server.url, '.');
    t.is(await git(copy, 'rev-parse', 'HEAD'), sha);
    const next = await commitFile(copy, { path: 'a', content: 'a', message: 'Next' });
    await git(copy, ...flags, 'push', '--quiet', 'origin', 'HEAD:master', 'HEAD:refs/tags/v1');
    t.is(await readRef(dir, 'refs/tags/v1'), next);
    await git(tree, ...flags, 'fetch', '--quiet', server.url, 'master');
    t.is(await git(tree, 'rev-parse', 'FETCH_HEAD'), next);
    t.is(server.seen[0]?.protocol, version === '0' ? undefined : `version=${version}`);
  });
}

test('a shallow clone gets one commit, and deepens later', async (t) => {
  const { dir, tree } = await bench.filled();
  await commitFile(tree, { path: 'a', content: 'a', message: 'Second' });
  await git(tree, 'push', '--quiet', dir, 'master');
  const server = await serve(t, { dir });
  for (const version of ['0', '2']) {
    const copy = await mkdtemp(join(bench.folder, 'copy-'));
    const flags = ['-c', `protocol.version=${version}`];
    await git(copy, ...flags, 'clone', '--quiet', '--depth=1', server.url, '.');
    t.is(await git(copy, 'rev-list', '--count', 'HEAD'), '1');
    await git(copy, ...flags, 'fetch', '--quiet', '--unshallow');
    t.is(await git(copy, 'rev-list', '--count', 'HEAD'), '2');
  }
});

test('a commit no ref shows any more can be fetched by its id while it is kept around', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  await git(dir, 'update-ref', `refs/keep-around/${sha}`, sha);
  await git(tree, 'commit', '--quiet', '--amend', '-m', 'Other');
  await git(tree, 'push', '--quiet', '--force', dir, 'master');
  const server = await serve(t, { dir });
  t.notRegex(await git(tree, 'ls-remote', server.url), new RegExp(sha));
  for (const version of ['0', '2']) {
    const copy = await mkdtemp(join(bench.folder, 'copy-'));
    await git(copy, 'init', '--quiet');
    await git(copy, '-c', `protocol.version=${version}`, 'fetch', '--quiet', '--depth=1', server.url, sha);
    t.is(await git(copy, 'rev-parse', 'FETCH_HEAD'), sha);
  }
});

test('clients cannot write the hidden refs that keep commits around', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  const server = await serve(t, { dir });
  const ran = await tryGit(tree, 'push', server.url, `HEAD:refs/keep-around/${sha}`);
  t.not(ran.code, 0);
  t.is(await readRef(dir, `refs/keep-around/${sha}`), null);
});

test('a fetch whose request is gzipped is answered', async (t) => {
  const { dir, tree } = await bench.filled();
  const root = await git(tree, 'rev-parse', 'HEAD^{tree}');
  for (let index = 0; index < 30; index += 1) {
    const commit = await git(tree, 'commit-tree', '-m', `Branch ${index}`, root);
    await git(tree, 'update-ref', `refs/heads/b${index}`, commit);
  }
  await git(tree, 'push', '--quiet', '--all', dir);
  const server = await serve(t, { dir });
  for (const version of ['0', '2']) {
    const copy = await mkdtemp(join(bench.folder, 'copy-'));
    await git(copy, '-c', `protocol.version=${version}`, 'clone', '--quiet', server.url, '.');
    t.is(server.seen.at(-1)?.encoding, 'gzip');
    t.is(await git(copy, 'rev-parse', 'origin/b7'), await git(tree, 'rev-parse', 'b7'));
  }
});

test('a gzip bomb is cut off at the limit', async (t) => {
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
  const body = decodeBody(Readable.from([bomb]), { gzip: true, limit: 1024 * 1024 });
  await t.throwsAsync(buffer(body), { instanceOf: GitProtocolError });
});

test('a request that is broken fails the answer, and is told apart from faults of the server', async (t) => {
  const { dir } = await bench.filled();
  const body = Readable.from([gzipSync('0000').subarray(0, 12)]);
  await t.throwsAsync(buffer(uploadPack({ dir, body, gzip: true })), { instanceOf: GitProtocolError });
  const nonsense = Readable.from([Buffer.from('hello')]);
  await t.throwsAsync(buffer(uploadPack({ dir, body: nonsense })), { instanceOf: GitProtocolError });
});

test('a repository that is not there is an error before any byte is sent', async (t) => {
  const dir = join(bench.folder, 'nowhere.git');
  await t.throwsAsync(advertiseRefs({ dir, service: 'git-upload-pack' }), { instanceOf: GitError });
  await t.throwsAsync(buffer(uploadPack({ dir, body: Readable.from([]) })), { instanceOf: GitError });
});

test('a want that git refuses reaches the client as a message', async (t) => {
  const { dir } = await bench.filled();
  const want = pktLine(`want ${'1'.repeat(40)} no-progress\n`);
  const body = Readable.from([Buffer.concat([want, Buffer.from('00000009done\n')])]);
  t.regex((await buffer(uploadPack({ dir, body }))).toString(), /ERR upload-pack: not our ref/);
});

test('a protocol version that is none does not reach git', async (t) => {
  const { dir } = await bench.filled();
  const protocol = 'version=2:version=1';
  const { body } = await advertiseRefs({ dir, service: 'git-upload-pack', protocol });
  t.regex((await buffer(body)).toString(), /^001e# service=git-upload-pack\n0000/);
});

test('what a push wants and which push moved a ref are known', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  const server = await serve(t, { dir, email: (count) => `push-${count + 40}` });
  const next = await commitFile(tree, { path: 'a', content: 'a', message: 'Next' });
  await git(tree, 'push', '--quiet', '-o', 'ci.skip', server.url, 'HEAD:master', 'HEAD:refs/heads/ümlaut');
  const head = server.seen.find(({ push }) => push)?.push;
  t.deepEqual(head?.commands, [
    { oldSha: sha, newSha: next, ref: 'refs/heads/master' },
    { oldSha: zeroSha, newSha: next, ref: 'refs/heads/ümlaut' },
  ]);
  t.deepEqual(head?.pushOptions, ['ci.skip']);
  const update = { ref: 'refs/heads/master', oldSha: sha, newSha: next };
  t.true(await wasApplied(dir, { ...update, email: 'push-41' }));
  t.false(await wasApplied(dir, { ...update, email: 'push-42' }));
});

test('deleting, forcing and pushing from a shallow clone work', async (t) => {
  const { dir, tree } = await bench.filled();
  const server = await serve(t, { dir });
  await git(tree, 'push', '--quiet', server.url, 'HEAD:side');
  await git(tree, 'push', '--quiet', server.url, ':side');
  t.is(await readRef(dir, 'refs/heads/side'), null);
  await git(tree, 'commit', '--quiet', '--amend', '-m', 'Other');
  t.not((await tryGit(tree, 'push', server.url, 'master')).code, 0);
  await git(tree, 'push', '--quiet', '--force', server.url, 'master');
  const copy = await mkdtemp(join(bench.folder, 'copy-'));
  await commitFile(tree, { path: 'b', content: 'b', message: 'More' });
  await git(tree, 'push', '--quiet', server.url, 'master');
  await git(copy, 'clone', '--quiet', '--depth=1', server.url, '.');
  const next = await commitFile(copy, { path: 'c', content: 'c', message: 'Shallow' });
  await git(copy, 'push', '--quiet', 'origin', 'master');
  t.is(await readRef(dir, 'refs/heads/master'), next);
});

test('a client that goes away in the middle of its pack ends git and moves nothing', async (t) => {
  const { dir } = await bench.filled();
  const server = await serve(t, { dir });
  const command = `${zeroSha} ${'1'.repeat(40)} refs/heads/side\0report-status`;
  const start = Buffer.concat([
    pktLine(command),
    Buffer.from('0000PACK'),
    Buffer.from([0, 0, 0, 2, 0, 0, 1, 0]),
  ]);
  const socket = request(`${server.url}/git-receive-pack`, { method: 'POST' });
  socket.on('error', () => undefined);
  socket.write(start);
  await waitFor(() => server.seen.at(-1)?.done !== undefined);
  socket.destroy();
  const end = await server.seen.at(-1)?.done;
  t.is(end?.signal, null, 'by itself, so that it cleans up');
  t.is(await readRef(dir, 'refs/heads/side'), null);
  t.deepEqual(
    (await readdir(join(dir, 'objects'))).filter((name) => /incoming/.test(name)),
    [],
  );
});

test('a client that goes away during a fetch ends git', async (t) => {
  const { dir, tree } = await bench.filled();
  await git(tree, 'commit', '--quiet', '--allow-empty', '-m', 'x');
  const want = pktLine(`want ${await git(dir, 'rev-parse', 'master')} side-band-64k\n`);
  const gone = new AbortController();
  // The request never ends, so git waits for more.
  const body = new Readable({ read: () => undefined });
  body.push(want);
  const output = uploadPack({ dir, body, signal: gone.signal });
  gone.abort();
  await t.throwsAsync(buffer(output), { instanceOf: GitError });
  body.destroy();
});

test('a push that takes too long is ended', async (t) => {
  const { dir } = await bench.filled();
  const body = new Readable({ read: () => undefined });
  const identity = { name: 'Push', email: 'push-1' };
  const { output, done } = receivePack({ dir, body, identity, timeoutMs: 1 });
  output.on('error', () => undefined);
  t.not((await done).code, 0);
  t.true(body.destroyed);
});

test('a push larger than allowed is refused, and the client is told', async (t) => {
  const { dir, tree } = await bench.filled();
  const large = randomBytes(100_000).toString('hex');
  const next = await commitFile(tree, { path: 'large', content: large, message: 'Large' });
  const pack = await packOf(tree, next);
  const command = pktLine(`${zeroSha} ${next} refs/heads/side\0report-status`);
  const body = Readable.from([Buffer.concat([command, Buffer.from('0000'), pack])]);
  const identity = { name: 'Push', email: 'push-1' };
  const { output, done } = receivePack({ dir, body, identity, packLimit: 10_000 });
  const report = (await buffer(output)).toString();
  await done;
  t.regex(report, /unpack .*(abnormal|exceeds|eof)/i);
  t.is(await readRef(dir, 'refs/heads/side'), null);
});

test('a push runs to its end when nobody reads the report', async (t) => {
  const { dir, tree, sha } = await bench.filled();
  // Their report is larger than what a pipe holds.
  const commands = Array.from(
    { length: 400 },
    (_, index) => `${zeroSha} ${sha} refs/heads/${'b'.repeat(200)}${index}`,
  );
  const lines = commands.map((line, index) => pktLine(index === 0 ? `${line}\0report-status` : line));
  const body = Readable.from([Buffer.concat([...lines, Buffer.from('0000'), await packOf(tree, sha)])]);
  const { output, done } = receivePack({ dir, body, identity: { name: 'Push', email: 'push-1' } });
  output.destroy();
  t.is((await done).code, 0);
  t.is(await readRef(dir, `refs/heads/${'b'.repeat(200)}399`), sha);
});

async function serve(t: ExecutionContext, options: TestServerOptions): Promise<TestServer> {
  const server = await serveGit(options);
  t.teardown(server.close);
  return server;
}

/** Polls a condition, for what offers no event to wait on. */
async function waitFor(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the condition never came true');
}
