import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../server/postgres/embedded.ts';
import { Program } from '../test/support/program.ts';
import { type BenchmarkSettings, bound, type Figure, surplus } from './figure.ts';
import { Cleanup } from './support/cleanup.ts';
import { elapsed, takeTurns } from './support/measure.ts';
import { memoryOf, processesBelow } from './support/memory.ts';
import { temporaryFolder } from './support/world.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const silent = { debug: () => undefined, warn: () => undefined, error: () => undefined };
/** Until what the start left behind has been collected, in milliseconds. */
const settleMs = 10_000;

/** `npm start` on a data directory that was used before. */
export async function start({ scale }: BenchmarkSettings): Promise<Figure[]> {
  const cleanup = new Cleanup();
  try {
    const place = { dataDir: join(await temporaryFolder(cleanup), 'data'), port: await freePort() };
    await startAndStop(place);
    const pair = await takeTurns({
      rounds: Math.max(3, Math.round(7 * scale)),
      ours: async () => (await startAndStop(place)).seconds,
      limit: () => startPostgres(place.dataDir),
    });
    const { memory } = await startAndStop({ ...place, settle: settleMs * scale });
    return [
      surplus({ name: 'start, to the first answer', unit: 's', ...pair }, 1.5),
      bound({ name: 'start, idle memory', unit: 'MiB', ours: memory, limit: 250 }),
    ];
  } finally {
    await cleanup.run();
  }
}

interface Place {
  dataDir: string;
  port: number;
  /** Milliseconds that it is left alone for before its memory is measured. */
  settle?: number;
}

async function startAndStop({ dataDir, port, settle = 0 }: Place) {
  const program = new Program({
    cwd: root,
    env: environment(dataDir, port),
    command: 'npm',
    args: ['start'],
  });
  try {
    const ms = await elapsed(() => answers(`http://127.0.0.1:${port}/healthz`, program));
    await wait(settle);
    return {
      seconds: ms / 1000,
      memory: await memoryOf(await started(program, /^\S*(node server|postgres)/)),
    };
  } finally {
    // npm's shell passes no signal on, as a terminal would.
    for (const pid of await started(program, /^\S*node server/)) process.kill(pid, 'SIGTERM');
    await program.ended;
  }
}

function started({ child }: Program, command: RegExp): Promise<number[]> {
  return processesBelow(child.pid ?? 0, command);
}

function environment(dataDir: string, port: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: join(dataDir, '..'),
    TMPDIR: tmpdir(),
    HEARTH_DATA_DIR: dataDir,
    HEARTH_LISTEN: `127.0.0.1:${port}`,
    HEARTH_SSH_LISTEN: '',
    HEARTH_DEMO: '0',
    HEARTH_BUNDLED_RUNNER: '0',
  };
}

async function answers(url: string, program: Program): Promise<void> {
  let hasEnded = false;
  void program.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    // Refused until it listens.
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return;
    await wait(5);
  }
  throw new Error(`npm start ended:\n${program.stderr}`);
}

async function startPostgres(dataDir: string): Promise<number> {
  const request = { dir: join(dataDir, 'postgres'), durable: true, log: silent };
  const start = performance.now();
  const postgres = await startEmbeddedPostgres(request);
  const ms = performance.now() - start;
  await postgres.stop();
  return ms / 1000;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
