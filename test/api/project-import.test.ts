import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { importProject } from '../../server/actions/import-project.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { serveGit, type TestServer } from '../git/http-server.ts';
import { type Bench, git, gitWithInput, makeBench } from '../git/real-git.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { cloneUrl, tryGit, withWorkTrees } from '../support/git.ts';
import type { MadeUser } from '../support/make.ts';

const holder = withApp();
const trees = withWorkTrees();
let bench: Bench;
test.serial.before(async () => {
  bench = await makeBench();
  await holder.app.rows('update settings set local_requests_allowed = true');
});
test.after.always(() => bench.clean());

type Project = Record<string, unknown> & { id: number; path_with_namespace: string; message?: unknown };
type Instead = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
const limits = { timeMs: 60_000, bytes: 100 * 1024 * 1024 };
let count = 0;

/** A repository with branches, tags and other refs, and a server that it can be imported from. */
async function elsewhere(
  t: ExecutionContext,
  instead?: Instead,
): Promise<TestServer & { dir: string; sha: string }> {
  const { dir, sha } = await bench.filled();
  await git(dir, 'branch', 'trunk', 'master');
  await git(dir, 'symbolic-ref', 'HEAD', 'refs/heads/trunk');
  await git(dir, 'tag', '-a', '-m', 'x', 'v1', 'master');
  await git(dir, 'update-ref', 'refs/pull/1/head', 'master');
  const server = await serveGit({ dir, ...(instead ? { instead } : {}) });
  t.teardown(() => server.close());
  return { ...server, dir, sha };
}

async function create(user: MadeUser, json: Record<string, unknown>): Promise<Answer<Project>> {
  count += 1;
  const given = { name: `Import ${count}`, ...json };
  return holder.app.call<Project>('POST', '/api/v3/projects', { as: user.token, json: given });
}

async function get(id: number, as = rootToken): Promise<Project> {
  return (await holder.app.call<Project>('GET', `/api/v3/projects/${id}`, { as })).body;
}

/** Lets the tasks run until it has ended. Another test may be carrying this one out. */
async function ended(id: number): Promise<Project> {
  await holder.app.runTasks();
  await eventually(async () => (await get(id)).import_status !== 'started');
  return get(id);
}

async function failed(t: ExecutionContext, url: string): Promise<string> {
  const { status, body } = await create(await holder.app.make.user(), { import_url: url });
  t.is(status, 201);
  const project = await ended(body.id);
  t.is(project.import_status, 'failed');
  t.is(project.default_branch, null);
  t.is(await git(dirOf(project), 'for-each-ref'), '');
  return String(project.import_error);
}

function dirOf({ id }: { id: number }): string {
  return repositoryDir(holder.app.services.repositoriesDir, id);
}

function events({ id }: { id: number }): Promise<unknown[]> {
  return holder.app.rows('select action, author_id from events where project_id = $1', [id]);
}

test('a project is filled with branches and tags, and with nothing else', async (t) => {
  const { app } = holder;
  const source = await elsewhere(t);
  const user = await app.make.user();
  const { status, body } = await create(user, { import_url: source.url });
  t.is(status, 201);
  t.is(body.default_branch, null);
  t.is((await get(body.id)).import_status, 'started');
  const project = await ended(body.id);
  t.like(project, { import_status: 'finished', import_error: null, default_branch: 'trunk' });
  const dir = dirOf(project);
  t.is(await git(dir, 'show-ref', '-d'), await git(source.dir, 'show-ref', '-d', '--heads', '--tags'));
  t.is(await git(dir, 'symbolic-ref', 'HEAD'), 'refs/heads/trunk');
  t.is(await git(dir, 'fsck', '--full', '--strict'), '');
  t.deepEqual(await events(project), [{ action: 'imported', author_id: user.id }]);
  t.deepEqual(await app.rows('select 1 from pipelines where project_id = $1', [project.id]), []);
  t.deepEqual(await app.rows('select 1 from project_imports where project_id = $1', [project.id]), []);
  const staged = await readdir(join(app.services.repositoriesDir, 'staging'));
  t.false(staged.some((name) => name.startsWith(`import-${body.id}-`)));
  const place = { fullPath: project.path_with_namespace };
  const tree = await trees.clone(cloneUrl(app, place, { password: user.token }));
  t.is(await tree.head(), source.sha);
  const sha = await tree.commit({ more: 'x' });
  await tree.git('push', '--quiet', 'origin', 'HEAD:refs/heads/trunk');
  t.is(await git(dir, 'rev-parse', 'trunk'), sha);
});

test('an empty repository is imported as what it is', async (t) => {
  const server = await serveGit({ dir: await bench.repository() });
  t.teardown(() => server.close());
  const { body } = await create(await holder.app.make.user(), { import_url: server.url });
  t.like(await ended(body.id), { import_status: 'finished', default_branch: null });
});

test.serial('an address of this machine is refused, unless the administrator lets it be', async (t) => {
  const { app } = holder;
  const source = await elsewhere(t);
  await app.rows('update settings set local_requests_allowed = false');
  t.teardown(() => app.rows('update settings set local_requests_allowed = true').then(() => {}));
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0.0.0.0']) {
    for (const scheme of ['http', 'git', 'ssh']) {
      const url = source.url.replace('http://127.0.0.1', `${scheme}://${host}`);
      t.regex(
        await failed(t, url),
        /in a network that may not be reached|is not known to the name servers/,
        url,
      );
    }
  }
  t.deepEqual(source.seen, []);
});

test('what failed is a project like any other, whose masters read why', async (t) => {
  const { app } = holder;
  const source = await elsewhere(t, (_request, response) => {
    response.writeHead(404).end();
    return true;
  });
  const user = await app.make.user();
  const { body } = await create(user, { import_url: source.url, visibility_level: 20 });
  const project = await ended(body.id);
  t.is(project.import_status, 'failed');
  t.is(project.import_error, `${new URL(source.url).host} has no repository at this address`);
  t.deepEqual(await events(project), [{ action: 'created', author_id: user.id }]);
  const stranger = await get(body.id, (await app.make.user()).token);
  t.is(stranger.import_status, 'failed');
  t.false('import_error' in stranger);
  const tree = await trees.fresh();
  await tree.commit({ a: 'b' });
  const url = cloneUrl(app, { fullPath: project.path_with_namespace }, { password: user.token });
  await tree.git('push', '--quiet', url, 'master');
});

test('nobody pushes while it goes on', async (t) => {
  const { app } = holder;
  const user = await app.make.user();
  const project = await app.make.project({ owner: user, columns: { import_status: 'started' } });
  const tree = await trees.fresh();
  await tree.commit({ a: 'b' });
  const url = cloneUrl(app, project, { password: user.token });
  const push = await tree.try('push', '--quiet', url, 'master');
  t.not(push.code, 0);
  t.regex(push.stderr, /This project is being imported. Push to it when that has ended./);
  t.is((await tryGit(tree.dir, ['ls-remote', url])).code, 0);
});

const secret = 'pa/ss:wörd%1';

test('credentials open the other side, and show nowhere', async (t) => {
  const { app } = holder;
  const argumentsSeen: string[] = [];
  const source = await elsewhere(t, async (request, response) => {
    argumentsSeen.push(await commandLines());
    if (request.headers.authorization) return false;
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
    return true;
  });
  const url = new URL(source.url);
  url.username = 'ada';
  url.password = encodeURIComponent(secret);
  const { body } = await create(await app.make.user(), { import_url: url.href });
  const [row] = await app.rows('select * from project_imports where project_id = $1', [body.id]);
  const project = await ended(body.id);
  t.is(project.import_status, 'finished');
  const expected = `Basic ${Buffer.from(`ada:${secret}`).toString('base64')}`;
  t.true(source.seen.length > 1);
  t.true(source.seen.every(({ authorization }) => authorization === expected));
  t.true(argumentsSeen.join('').includes('upload-pack') || argumentsSeen.join('').includes('fetch'));
  const shown = [JSON.stringify(row), JSON.stringify(body), JSON.stringify(project), ...argumentsSeen];
  for (const text of [...shown, ...app.logLines]) {
    for (const form of [secret, encodeURIComponent(secret), expected]) t.false(text.includes(form), text);
  }
});

test('without credentials, or with wrong ones, the reason is told', async (t) => {
  const source = await elsewhere(t, (_request, response) => {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
    return true;
  });
  const { host } = new URL(source.url);
  const said = `${host} asks for another user name and password`;
  t.is(await failed(t, source.url), said);
  t.is(await failed(t, source.url.replace('http://', 'http://a:b@')), said);
});

test('redirects lead to the repository, without credentials where that is another server', async (t) => {
  const target = await elsewhere(t);
  const moved = await elsewhere(t, (request, response) => {
    const location = request.url?.startsWith('/old')
      ? request.url.replace('/old', '/new')
      : `${target.url}/info/refs`;
    response.writeHead(302, { Location: location }).end();
    return true;
  });
  const url = moved.url.replace('http://', 'http://a:b@').replace('/r.git', '/old/r.git');
  const { body } = await create(await holder.app.make.user(), { import_url: url });
  t.is((await ended(body.id)).import_status, 'finished');
  t.true(moved.seen.every(({ authorization }) => authorization !== undefined));
  t.true(target.seen.length > 0);
  t.true(target.seen.every(({ authorization }) => authorization === undefined));
});

test('servers that answer in strange ways fail the import, and say why', async (t) => {
  const redirect =
    (location: string): Instead =>
    (_request, response) => {
      response.writeHead(301, { Location: location }).end();
      return true;
    };
  const plain =
    (status: number, type: string): Instead =>
    (_request, response) => {
      response.writeHead(status, { 'Content-Type': type }).end('x');
      return true;
    };
  const cases: [Instead, RegExp][] = [
    [redirect('/again/info/refs'), /redirects too often/],
    [redirect('ssh://host/r.git/info/refs'), /no repository/],
    [redirect('/login'), /no repository/],
    [plain(200, 'text/html'), /does not answer as a git server does/],
    [plain(500, 'text/html'), /answered with status 500/],
    [plain(403, 'text/html'), /does not let this server read/],
    [plain(200, 'application/x-git-upload-pack-advertisement'), /./],
    [
      (request, response) => {
        if (request.method === 'POST') response.destroy();
        return request.method === 'POST';
      },
      /./,
    ],
    [
      (_request, response) => {
        response.destroy();
        return true;
      },
      /failed: ECONNRESET/,
    ],
  ];
  for (const [instead, said] of cases) {
    const error = await failed(t, (await elsewhere(t, instead)).url);
    t.regex(error, said);
    t.notRegex(error, /repository\/info|x-hearth-relay/);
  }
  t.regex(await failed(t, 'http://127.0.0.1:1/r.git'), /127.0.0.1:1 failed: ECONNREFUSED/);
  t.regex(await failed(t, 'http://no-such-host.invalid/r.git'), /no-such-host.invalid is not known/);
});

test('what breaks the rules for pushes is not taken', async (t) => {
  const { dir, sha } = await bench.filled();
  const blob = await git(dir, 'rev-parse', `${sha}:README`);
  const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]);
  const tree = (
    await gitWithInput(dir, ['hash-object', '-t', 'tree', '--literally', '-w', '--stdin'], entry)
  ).trim();
  await git(dir, 'update-ref', 'refs/heads/master', await git(dir, 'commit-tree', '-m', 'x', tree));
  const server = await serveGit({ dir });
  t.teardown(() => server.close());
  t.regex(await failed(t, server.url), /hasDotgit/);
});

/** As `create`, for an import that the test runs itself. */
async function createUntouched(url: string): Promise<Project> {
  const { body } = await create(await holder.app.make.user(), { import_url: url });
  await holder.app.services.queue.remove(holder.app.work.em, `import_project:${body.id}`);
  return body;
}

test.serial('an import that takes too long is given up', async (t) => {
  const source = await elsewhere(t, async (request) => {
    if (request.method === 'POST') await new Promise((resolve) => request.socket.once('close', resolve));
    return false;
  });
  const { id } = await createUntouched(source.url);
  await importProject(holder.app.work, id, { limits: { ...limits, timeMs: 1500 } });
  t.like(await get(id), {
    import_status: 'failed',
    import_error: 'the import took longer than 1.5 seconds',
  });
});

test.serial('a repository that is too large is given up', async (t) => {
  const source = await elsewhere(t);
  const blob = await gitWithInput(source.dir, ['hash-object', '-w', '--stdin'], randomBytes(200_000));
  await git(source.dir, 'tag', 'large', blob.trim());
  const { id } = await createUntouched(source.url);
  await importProject(holder.app.work, id, { limits: { ...limits, bytes: 100_000 } });
  t.like(await get(id), {
    import_status: 'failed',
    import_error: 'the repository is larger than 100000 bytes',
  });
});

test('two that run at once do no harm: one counts', async (t) => {
  const { app } = holder;
  const source = await elsewhere(t);
  const { body } = await create(await app.make.user(), { import_url: source.url });
  await Promise.all([1, 2, 3].map(() => importProject(app.work, body.id)));
  t.is((await ended(body.id)).import_status, 'finished');
  t.is((await events(body)).length, 1);
  t.is(await git(dirOf(body), 'fsck', '--full', '--strict'), '');
});

test('a project that is removed meanwhile stays removed', async (t) => {
  const { app } = holder;
  let id = 0;
  const source = await elsewhere(t, async () => {
    await app.rows('update projects set pending_delete = true where id = $1', [id]);
    return false;
  });
  const { body } = await create(await app.make.user(), { import_url: source.url });
  id = body.id;
  await importProject(app.work, id);
  t.true(source.seen.length > 0);
  t.deepEqual(await app.rows('select import_status from projects where id = $1', [id]), [
    { import_status: 'started' },
  ]);
  t.is(await git(dirOf(body), 'for-each-ref'), '');
});

test('the protocol of git itself', async (t) => {
  const { dir, sha } = await bench.filled();
  const port = await freePort();
  const options = [`--base-path=${dirname(dir)}`, '--export-all', '--listen=127.0.0.1', `--port=${port}`];
  const daemon = spawn('git', ['daemon', '--reuseaddr', '--verbose', ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => daemon.kill());
  await new Promise((resolve) => daemon.stderr.once('data', resolve));
  const { body } = await create(await holder.app.make.user(), {
    import_url: `git://localhost:${port}/${basename(dir)}`,
  });
  const project = await ended(body.id);
  t.is(project.import_error, null);
  t.is(await git(dirOf(project), 'rev-parse', 'master'), sha);
  t.regex(
    await failed(t, `git://127.0.0.1:${port}/no-such`),
    /access denied or repository not exported|git could not fetch|fatal: /,
  );
});

test('what is no address to import from', async (t) => {
  const user = await holder.app.make.user();
  for (const import_url of ['x', 'ftp://example.com/r.git', 'ssh://-oProxyCommand=x/r.git']) {
    const answer = await create(user, { import_url });
    t.is(answer.status, 400, import_url);
    t.deepEqual(answer.body.message, { import_url: ['must be a valid URL'] }, import_url);
  }
  const several = await create(user, { name: '-', path: '-', import_url: 'x', visibility_level: 5 });
  t.deepEqual(Object.keys(several.body.message as object).sort(), [
    'import_url',
    'name',
    'path',
    'visibility_level',
  ]);
  const elsewhereToo = await create(user, { name: '-', path: 'ok', import_url: 'x', namespace_id: 999_999 });
  t.deepEqual(Object.keys(elsewhereToo.body.message as object).sort(), ['import_url', 'name', 'namespace']);
  t.is((await holder.app.rows('select 1 from projects where creator_id = $1', [user.id])).length, 0);
});

async function commandLines(): Promise<string> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => '')));
  return lines.join('\n');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
