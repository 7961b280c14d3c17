import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import test from 'ava';
import { pktLine } from '../../server/git/pkt-line.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { readRef } from '../../server/git/refs.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { cloneUrl, tryGit, type WorkTree, withWorkTrees } from '../support/git.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();
const trees = withWorkTrees();

interface Pushed {
  project: MadeProject;
  url: string;
  dir: string;
  tree: WorkTree;
}

/** A project whose `master` has two commits. */
async function filled(): Promise<Pushed> {
  const project = await holder.app.make.project();
  const url = cloneUrl(holder.app, project, { password: project.owner.token });
  const tree = await trees.fresh();
  await tree.commit({ README: 'One\n' }, 'First');
  await tree.commit({ README: 'Two\n' }, 'Second');
  await tree.git('push', '--quiet', url, 'master');
  return { project, url, tree, dir: repositoryDir(holder.app.services.repositoriesDir, project.id) };
}

for (const version of ['0', '1', '2']) {
  test(`a client of protocol version ${version} clones, pushes and fetches`, async (t) => {
    const { url, tree, dir } = await filled();
    const flags = ['-c', `protocol.version=${version}`];
    const copy = await trees.clone(url, ...flags);
    t.is(await copy.head(), await tree.head());
    t.is(await copy.git('symbolic-ref', '--short', 'HEAD'), 'master');
    const next = await copy.commit({ a: 'a' });
    await copy.git(...flags, 'push', '--quiet', 'origin', 'master', 'HEAD:refs/tags/v1');
    t.is(await readRef(dir, 'refs/tags/v1'), next);
    await tree.git(...flags, 'fetch', '--quiet', url, 'master');
    t.is(await tree.git('rev-parse', 'FETCH_HEAD'), next);
  });
}

test('an empty repository is cloned, and its first push goes where the client is', async (t) => {
  const project = await holder.app.make.project();
  const url = cloneUrl(holder.app, project, { password: project.owner.token });
  const copy = await trees.clone(url);
  t.is(await copy.git('symbolic-ref', '--short', 'HEAD'), 'master');
  await copy.commit({ a: 'a' });
  await copy.git('push', '--quiet', 'origin', 'HEAD');
  t.is(await (await trees.clone(url)).head(), await copy.head());
});

test('a shallow clone has one commit, deepens, and can be pushed from', async (t) => {
  const { url, dir } = await filled();
  for (const version of ['0', '2']) {
    const flags = ['-c', `protocol.version=${version}`];
    const copy = await trees.clone(url, ...flags, '--depth=1');
    t.is(await copy.git('rev-list', '--count', 'HEAD'), '1');
    const next = await copy.commit({ [`from-${version}`]: 'x' });
    await copy.git(...flags, 'push', '--quiet', 'origin', `HEAD:shallow-${version}`);
    t.is(await readRef(dir, `refs/heads/shallow-${version}`), next);
    await copy.git(...flags, 'fetch', '--quiet', '--unshallow');
    t.is(await copy.git('rev-list', '--count', 'HEAD'), '3');
  }
});

test('a commit is fetched by its id, with and without a depth', async (t) => {
  const { url, tree } = await filled();
  const first = await tree.git('rev-parse', 'HEAD~1');
  for (const version of ['0', '2']) {
    for (const depth of [[], ['--depth=1']]) {
      const copy = await trees.fresh();
      await copy.git('-c', `protocol.version=${version}`, 'fetch', '--quiet', ...depth, url, first);
      t.is(await copy.git('rev-parse', 'FETCH_HEAD'), first);
    }
  }
});

test('a partial clone without files gets them later', async (t) => {
  const { url } = await filled();
  const copy = await trees.clone(url, '--filter=blob:none', '--no-checkout');
  t.is(await copy.git('show', 'HEAD~1:README'), 'One');
});

test('a request that is gzipped is read', async (t) => {
  const { url, tree } = await filled();
  const root = await tree.git('rev-parse', 'HEAD^{tree}');
  for (let index = 0; index < 30; index += 1) {
    await tree.git('branch', `b${index}`, await tree.git('commit-tree', '-m', `${index}`, root));
  }
  await tree.git('push', '--quiet', '--all', url);
  const ran = await tryGit(await trees.folder(), ['clone', url, '.'], { GIT_TRACE_CURL: '1' });
  t.is(ran.code, 0);
  t.regex(ran.stderr, /Content-Encoding: gzip/i);
});

test('a pack of 60 MB goes up and down', async (t) => {
  const { url, tree } = await filled();
  await tree.commit({ large: randomBytes(60 * 1024 * 1024) });
  await tree.git('push', '--quiet', url, 'master');
  const copy = await trees.clone(url);
  t.is(await digest(join(copy.dir, 'large')), await digest(join(tree.dir, 'large')));
  t.deepEqual(
    await holder.app.rows('select id from pushes where changes = $1', ['[]']),
    [],
    'no row for a probe',
  );
});

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

const magic = Buffer.from('PACK\0\0\0\u0002\0\0\u0001\0', 'latin1');

for (const [where, sent] of [
  ['among its commands', (command: Buffer) => command.subarray(0, 30)],
  ['after its commands', (command: Buffer) => command],
  ['in the middle of its pack', (command: Buffer) => Buffer.concat([command, magic])],
] as const) {
  test(`a client that goes away ${where} leaves nothing`, async (t) => {
    const { app } = holder;
    const { project, dir } = await filled();
    const command = Buffer.concat([
      pktLine(`${zeroSha} ${'1'.repeat(40)} refs/heads/side\0report-status`),
      Buffer.from('0000'),
    ]);
    const socket = request(`${app.url}/${project.fullPath}.git/git-receive-pack`, {
      method: 'POST',
      auth: `x:${project.owner.token}`,
      headers: { 'Transfer-Encoding': 'chunked' },
    });
    socket.on('error', () => undefined);
    const bytes = sent(command);
    await new Promise((resolve) => socket.write(bytes, resolve));
    const pushes = () => app.rows('select id from pushes where project_id = $1', [project.id]);
    if (bytes.length >= command.length) await eventually(async () => (await pushes()).length === 1);
    const requests = app.logLines.length;
    socket.destroy();
    await eventually(() => app.logLines.slice(requests).some((line) => line.includes(`${project.path}.git`)));
    await eventually(async () => (await pushes()).length === 0);
    t.is(await readRef(dir, 'refs/heads/side'), null);
    await eventually(async () =>
      (await readdir(join(dir, 'objects'))).every((name) => !/incoming/.test(name)),
    );
    const events = await app.rows('select ref from events where project_id = $1', [project.id]);
    t.deepEqual(events, [{ ref: 'refs/heads/master' }]);
  });
}

test('what is no push at all is refused in words', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const post = (body: string | Uint8Array, headers = {}) =>
    app.call<string>('POST', `/${project.fullPath}.git/git-receive-pack`, {
      headers: {
        Authorization: `Basic ${Buffer.from(`x:${project.owner.token}`).toString('base64')}`,
        ...headers,
      },
      body,
    });
  for (const body of ['', 'hello', '0008abcd', pktLine('nothing of the kind')]) {
    const answer = await post(body);
    t.is(answer.status, 400);
    t.is(answer.headers.get('content-type'), 'text/plain');
  }
  t.is((await post('not gzipped', { 'Content-Encoding': 'gzip' })).status, 400);
});

test('a refused push of many megabytes is answered after all of it was read', async (t) => {
  const { url, project, tree } = await filled();
  await tree.commit({ large: randomBytes(8 * 1024 * 1024) });
  await tree.git('push', '--quiet', url, 'HEAD~1:refs/tags/v1');
  const developer = await holder.app.make.member(project, 'developer');
  const byDeveloper = cloneUrl(holder.app, project, { password: developer.token });
  const ran = await tree.try('push', '--force', byDeveloper, 'HEAD:refs/tags/v1', 'HEAD:master');
  t.not(ran.code, 0);
  t.regex(ran.stderr, /v1 \(You are not allowed to change existing tags on this project\.\)/);
  t.regex(ran.stderr, /master \(You are not allowed/, 'all of the push is refused');
});
