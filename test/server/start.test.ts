import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** `npm start` with nothing but the server, in a process group of its own as under a terminal. */
function start(t: ExecutionContext, dataDir: string, settings: Record<string, string> = {}) {
  const defaults = { HEARTH_LISTEN: '127.0.0.1:0', HEARTH_DEMO: '0', HEARTH_BUNDLED_RUNNER: '0' };
  const { PATH } = process.env;
  const child = spawn(process.execPath, ['server/start.js'], {
    cwd: ROOT,
    env: { PATH, ...defaults, HEARTH_SSH_LISTEN: '', HEARTH_DATA_DIR: dataDir, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  t.teardown(() => child.kill('SIGTERM'));
  return child;
}

/** The address it prints, once it serves. */
async function serving(child: ReturnType<typeof start>): Promise<string> {
  child.stderr.resume();
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (address) {
      child.stdout.resume();
      return address;
    }
  }
  throw new Error(`ended with ${child.exitCode ?? child.signalCode}`);
}

async function failure(child: ReturnType<typeof start>) {
  const ended = once(child, 'close');
  child.stdout.resume();
  const lines = (await text(child.stderr)).trim().split('\n');
  const [code] = await ended;
  return { code, lines };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const ended = once(child, 'exit');
  process.kill(-(child.pid ?? 0), signal);
  return (await ended)[0];
}

async function postgresPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8'), 10);
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`);
}

test('every wrong setting is one line, and nothing is started', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const { code, lines } = await failure(
    start(t, dataDir, { HEARTH_LISTEN: 'here', HEARTH_LOGLEVEL: 'info' }),
  );
  t.is(code, 2);
  t.is(lines.length, 2);
  t.regex(lines[0] ?? '', /^hearth: HEARTH_LOGLEVEL: .*HEARTH_LOG_LEVEL/);
  t.regex(lines[1] ?? '', /^hearth: HEARTH_LISTEN: "here"/);
  t.false(existsSync(dataDir));
});

test('a second start on the same data is refused in one line and disturbs nothing', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const first = start(t, dataDir);
  const address = await serving(first);
  const { code, lines } = await failure(start(t, dataDir));
  t.is(code, 1);
  t.is(lines.length, 1);
  t.true(
    lines[0]?.startsWith(`hearth: another Hearth (process ${first.pid}) already uses the data directory`),
  );
  t.is((await fetch(`${address}/healthz`)).status, 200);
  t.is(await end(first, 'SIGTERM'), 0);
});

test('a taken port is named, and PostgreSQL is stopped again', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { code, lines } = await failure(start(t, dataDir, { HEARTH_LISTEN: `127.0.0.1:${port}` }));
  t.is(code, 1);
  t.regex(lines.at(-1) ?? '', new RegExp(`^hearth: .*127\\.0\\.0\\.1:${port}`));
  t.false((await readdir(join(dataDir, 'postgres', 'cluster'))).includes('postmaster.pid'));
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  test(`${signal} to all of the terminal's processes ends cleanly, and the data serves the next start`, async (t) => {
    const dataDir = join(await temporaryFolder(t), 'data');
    const first = start(t, dataDir);
    await serving(first);
    const postgres = await postgresPid(dataDir);
    t.is(await end(first, signal), 0);
    t.false(isRunning(postgres));
    t.false((await readdir(dataDir)).includes('lock'));
    const second = start(t, dataDir);
    t.is((await fetch(`${await serving(second)}/healthz`)).status, 200);
    t.is(await end(second, signal), 0);
  });
}

test('after kill -9 the next start takes over', async (t) => {
  const dataDir = join(await temporaryFolder(t), 'data');
  const first = start(t, dataDir);
  await serving(first);
  const orphan = await postgresPid(dataDir);
  await end(first, 'SIGKILL');
  t.true(isRunning(orphan));
  const second = start(t, dataDir);
  t.is((await fetch(`${await serving(second)}/healthz`)).status, 200);
  t.false(isRunning(orphan));
  t.is(await end(second, 'SIGTERM'), 0);
});
