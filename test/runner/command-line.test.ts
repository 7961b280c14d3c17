import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { SlotPool } from '../../runner/slots.ts';
import { makePayload } from '../support/build-payload.ts';
import { type FakeCiServer, reply } from '../support/fake-ci-server.ts';
import { fakeCiServer } from '../support/fake-ci-test.ts';
import { sourceRepository } from '../support/source-repository.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const start = fileURLToPath(new URL('../../runner/start.js', import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** More processes at the same time would only wait for each other. */
const places = new SlotPool(2);

async function runner(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: '/nowhere', ...environment };
  const place = await places.acquire(new AbortController().signal);
  return new Promise((resolve) => {
    execFile(process.execPath, [start, ...args], { env }, (error, stdout, stderr) => {
      place?.release();
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
  });
}

for (const command of ['register', 'run', 'verify', 'unregister', 'list']) {
  test(`${command} --help has an example and names the environment of every option`, async (t) => {
    const { code, stdout, stderr } = await runner([command, '--help']);
    t.is(code, 0);
    t.is(stderr, '');
    t.true(stdout.includes(`npm run${command === 'list' ? ' --silent' : ''} runner -- ${command}`));
    const options = [...stdout.matchAll(/^ {2}--([a-z-]+)/gm)].map((match) => String(match[1]));
    t.true(options.includes('config'));
    for (const name of options) {
      t.true(
        stdout
          .replaceAll(/\s+/g, ' ')
          .includes(`env: HEARTH_RUNNER_${name.replaceAll('-', '_').toUpperCase()}`),
      );
    }
  });
}

for (const args of [
  [],
  ['bogus'],
  ['register'],
  ['register', '--url', 'http://x'],
  ['register', '--url', 'http://x', '--token', 'x', '--executor', 'vm'],
  ['register', '--url', 'ftp://x', '--token', 'x'],
  ['register', '--url', 'http://x', '--token', 'x', '--limit', '0'],
  ['run', '--concurrent', 'many'],
  ['unregister'],
  ['list', '--surprise'],
]) {
  test(`"runner ${args.join(' ')}" is wrong usage`, async (t) => {
    const { code, stdout, stderr } = await runner(args);
    t.is(code, 2);
    t.is(stdout, '');
    t.not(stderr, '');
  });
}

test('a config file with faults is wrong usage, with a line per fault', async (t) => {
  const path = join(await temporaryFolder(t), 'config.json');
  await writeFile(path, '{"concurrent": "x", "colour": 1}');
  const { code, stderr } = await runner(['list', '--config', path]);
  t.is(code, 2);
  t.is(stderr.trim().split('\n').length, 2);
});

test('a runner is registered, listed, verified and removed', async (t) => {
  const server = await fakeCiServer(t);
  const config = join(await temporaryFolder(t), 'config.json');
  const made = await runner(
    [
      'register',
      '--url',
      server.url,
      '--name',
      'box',
      '--executor',
      'shell',
      '--tags',
      'a, b',
      '--config',
      config,
    ],
    { HEARTH_RUNNER_TOKEN: 'right', HEARTH_RUNNER_LIMIT: '3' },
  );
  t.is(made.code, 0, made.stderr);
  t.true(made.stdout.includes('Registered box (runner 7)'));
  t.like(JSON.parse(String(server.seen[0]?.body)), { token: 'right', tag_list: 'a,b', run_untagged: false });
  t.like(JSON.parse(await readFile(config, 'utf8')), {
    runners: [{ name: 'box', executor: 'shell', limit: 3 }],
  });

  const list = await runner(['list', '--json', '--config', config]);
  const row = { name: 'box', url: server.url, executor: 'shell', limit: 3, image: null };
  t.deepEqual(JSON.parse(list.stdout), [row]);

  const verified = await runner(['verify', '--config', config]);
  t.deepEqual([verified.code, verified.stdout], [0, 'box\talive\n']);

  const again = await runner([
    'register',
    '--url',
    server.url,
    '--name',
    'box',
    '--token',
    'x',
    '--config',
    config,
  ]);
  t.is(again.code, 1);

  const removed = await runner(['unregister', '--name', 'box', '--config', config]);
  t.deepEqual([removed.code, removed.stdout], [0, 'box\tremoved\n']);
  t.deepEqual(JSON.parse((await runner(['list', '--json', '--config', config])).stdout), []);
});

test('the token may come from a file, and a runner that is there already is fine when asked so', async (t) => {
  const server = await fakeCiServer(t);
  const folder = await temporaryFolder(t);
  const config = join(folder, 'config.json');
  await writeFile(join(folder, 'token'), 'from-file\n');
  const token = ['--token-file', join(folder, 'token')];
  const args = [
    'register',
    '--url',
    server.url,
    '--name',
    'box',
    '--if-missing',
    '--config',
    config,
    ...token,
  ];
  t.is((await runner(args)).code, 0);
  t.is((await runner(args)).code, 0);
  t.is(server.seen.length, 1);
  t.like(JSON.parse(String(server.seen[0]?.body)), { token: 'from-file' });
});

test('a refused registration changes nothing and says why', async (t) => {
  const server = await fakeCiServer(t);
  const config = join(await temporaryFolder(t), 'config.json');
  const { code, stderr } = await runner([
    'register',
    '--url',
    server.url,
    '--token',
    'wrong',
    '--config',
    config,
  ]);
  t.is(code, 1);
  t.true(stderr.includes('403'));
  await t.throwsAsync(readFile(config), { code: 'ENOENT' });
});

test('verify fails for a server that is not there', async (t) => {
  const config = join(await temporaryFolder(t), 'config.json');
  await writeFile(
    config,
    JSON.stringify({ runners: [{ name: 'box', url: 'http://127.0.0.1:1', token: 'x' }] }),
  );
  const { code, stdout } = await runner(['verify', '--config', config]);
  t.is(code, 1);
  t.true(stdout.startsWith('box\tunknown'));
});

/** Runners with one token would take the jobs of each other for leftovers. */
let daemons = 0;

interface Daemon {
  server: FakeCiServer;
  child: ChildProcess;
  exited: Promise<unknown[]>;
  folder: string;
  token: string;
  log(): string;
  enqueue(script: string[]): ReturnType<FakeCiServer['enqueue']>;
}

function startDaemon(t: ExecutionContext, folder: string): Pick<Daemon, 'child' | 'exited' | 'log'> {
  const args = [start, 'run', '--config', join(folder, 'config.json'), '--concurrent', '2'];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let log = '';
  child.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  return { child, exited, log: () => log };
}

async function daemon(t: ExecutionContext): Promise<Daemon> {
  const server = await fakeCiServer(t);
  const folder = await temporaryFolder(t);
  const origin = await sourceRepository(join(folder, 'origin'));
  const sha = await origin.commit({ 'hello.txt': 'hello from the repository\n' });
  const config = join(folder, 'config.json');
  daemons += 1;
  const token = `${daemons}-${process.pid}-the-runner-token`;
  const registration = { name: 'box', url: server.url, token, executor: 'shell' };
  await writeFile(config, JSON.stringify({ runners: [registration] }));
  const { child, exited, log } = startDaemon(t, folder);
  return {
    server,
    child,
    exited,
    folder,
    token,
    log,
    enqueue: (script) => server.enqueue(makePayload({ sha, repo_url: origin.url, ext: { script } })),
  };
}

test('the daemon runs a build from its sources and stops on TERM', async (t) => {
  const { server, child, exited, enqueue, log } = await daemon(t);
  const build = enqueue(['cat hello.txt', 'echo "token: $CI_JOB_TOKEN"']);
  await server.until(() => build.status === 'success');
  t.true(build.trace.includes('hello from the repository\n'));
  t.true(build.trace.includes('token: [MASKED]'));
  child.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
  t.false(log().includes('the-runner-token'));
  t.false(log().includes(build.payload.token));
});

test('TERM ends the builds that run, and they are reported as failed', async (t) => {
  const { server, child, exited, enqueue } = await daemon(t);
  const build = enqueue(['echo started; sleep 1000']);
  await server.until(() => build.trace.includes('started\n'));
  child.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
  t.is(build.status, 'failed');
  t.true(build.trace.includes('the runner is shutting down'));
});

test('QUIT waits for the builds that run', async (t) => {
  const { server, child, exited, enqueue, log, folder, token } = await daemon(t);
  const build = enqueue(['echo started; until [ -e go ]; do sleep 0.05; done; echo finished']);
  await server.until(() => build.trace.includes('started\n'));
  child.kill('SIGQUIT');
  await server.until(() => log().includes('waiting for the builds'));
  await writeFile(join(folder, 'builds', token.slice(0, 8), '0', 'project-5', 'go'), '');
  t.deepEqual(await exited, [0, null]);
  t.is(build.status, 'success');
});

test('TERM after QUIT ends the builds that were waited for', async (t) => {
  const { server, child, exited, enqueue, log } = await daemon(t);
  const build = enqueue(['echo started; sleep 1000']);
  await server.until(() => build.trace.includes('started\n'));
  child.kill('SIGQUIT');
  await server.until(() => log().includes('waiting for the builds') && server.waiting === 0);
  const late = enqueue(['true']);
  child.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
  t.is(build.status, 'failed');
  t.true(build.trace.includes('the runner is shutting down'));
  t.is(late.status, 'pending');
});

test('a second TERM exits at once; the next daemon reports the builds', async (t) => {
  const { server, child, exited, enqueue, log, folder } = await daemon(t);
  const build = enqueue([`trap '' TERM; echo started; while :; do sleep 1 || :; done`]);
  await server.until(() => build.trace.includes('started\n'));
  child.kill('SIGTERM');
  await server.until(() => log().includes('ending the builds'));
  child.kill('SIGTERM');
  t.deepEqual(await exited, [1, null]);
  t.is(build.status, 'running');
  startDaemon(t, folder);
  await server.until(() => build.status === 'failed');
  t.true(build.trace.includes('the runner was restarted'));
});

test('builds of a daemon that was killed are reported by the next one, with their trace', async (t) => {
  const { server, child, exited, enqueue, folder } = await daemon(t);
  const build = enqueue(['echo started; sleep 1000']);
  await server.until(() => build.trace.includes('started\n'));
  child.kill('SIGKILL');
  await exited;
  build.trace = Buffer.alloc(0);
  startDaemon(t, folder);
  await server.until(() => build.status === 'failed');
  t.true(build.trace.includes('started\n'));
  t.true(build.trace.includes('the runner was restarted'));
});

test('a build that had ended when the daemon was killed is reported as it ended, with its whole trace', async (t) => {
  const { server, child, exited, enqueue, folder } = await daemon(t);
  let isAway = true;
  server.intercept = (request, response) => {
    if (!isAway || !/builds.\d/.test(request.path)) return false;
    reply(response, 503);
    return true;
  };
  const build = enqueue(['echo all done']);
  await server.until(() => server.seen.some((request) => request.body.includes('Job succeeded')));
  child.kill('SIGKILL');
  await exited;
  startDaemon(t, folder);
  await server.until(() => server.requests('PUT', /builds/).length > 0);
  isAway = false;
  await server.until(() => build.status === 'success');
  t.regex(build.trace.toString(), /all done\n(.|\s)*Job succeeded/);
  t.false(build.trace.includes('restarted'));
});

test('a cancel is seen without output, and ends the build', async (t) => {
  const { server, enqueue } = await daemon(t);
  const build = enqueue(['echo started; sleep 1000']);
  await server.until(() => build.trace.includes('started\n'));
  build.status = 'canceled';
  await server.until(() => build.trace.includes('Job canceled'));
  t.is(server.requests('PUT', /builds/).length, 0);
});

test('HUP takes over a changed config file', async (t) => {
  const { server, child, enqueue, log, folder } = await daemon(t);
  await server.until(() => server.seen.length > 0);
  const path = join(folder, 'config.json');
  await writeFile(path, '{ broken');
  child.kill('SIGHUP');
  await server.until(() => log().includes('the old one stays'));
  const build = enqueue(['true']);
  await server.until(() => build.status === 'success');
  await writeFile(path, JSON.stringify({ runners: [] }));
  child.kill('SIGHUP');
  await server.until(() => log().includes('"runners":0'));
  t.is(child.exitCode, null);
});

test('a change of the config file is noticed without a signal', async (t) => {
  const { server, folder, log } = await daemon(t);
  await server.until(() => server.seen.length > 0);
  await writeFile(join(folder, 'config.json'), JSON.stringify({ runners: [] }));
  await server.until(() => log().includes('"runners":0'));
  t.pass();
});
