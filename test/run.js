// `npm test [-- files or options of ava]`: installs if needed, brings its own PostgreSQL, runs ava, counts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { ensureDependencies, missingTools } from '../server/install.js';
import { ensureClients, wantsClients } from './support/client-packages.js';
import { resultCounter } from './support/result-counter.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEMPLATE = new URL('./support/template.ts', import.meta.url);

const errorsOnly = {
  debug() {},
  warn() {},
  /** @param {string} text */
  error(text) {
    process.stderr.write(`${text}\n`);
  },
};

/** @type {NodeJS.Signals | null} */
let interruptedBy = null;
/** @type {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null> | undefined} */
let ava;

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => interrupt(signal));
}
// The reader of a pipe went away (`npm test | head`): without this, the process would end and leave PostgreSQL.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => interrupt('SIGTERM'));
}

process.exitCode = await main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  return 1;
});

/**
 * @param {string[]} args
 * @returns {Promise<number>} exit code
 */
async function main(args) {
  const missing = missingTools();
  for (const line of missing) process.stderr.write(`${line}\n`);
  if (missing.length > 0) return 1;
  await ensureDependencies(process.env);
  const { register } = await import('tsx/esm/api');
  register();
  const docker = await probeDocker();
  if (docker === null) return 1;
  const clients = wantsClients(args) ? await ensureClients(process.env) : '0';
  if (clients === null) return 1;
  return await withDatabase((url) =>
    runAva(args, {
      HEARTH_TEST_DATABASE_URL: url,
      HEARTH_TEST_DOCKER: docker,
      HEARTH_TEST_CLIENTS: clients,
    }),
  );
}

/** '1' or '0' for the tests; null when an engine is required and none answers. */
async function probeDocker() {
  const { dockerEngine } = await import('./support/docker-engine.ts');
  try {
    if (await dockerEngine()) return '1';
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).message}\n`);
    return null;
  }
  const address = process.env.DOCKER_HOST ?? '/var/run/docker.sock';
  process.stderr.write(`DOCKER TESTS SKIPPED: no Docker engine answers on ${address}\n`);
  return '0';
}

/** @param {(url: string) => Promise<number>} use */
async function withDatabase(use) {
  const { startEmbeddedPostgres } = await import('../server/postgres/embedded.ts');
  const dir = await mkdtemp(join(tmpdir(), 'hearth-test-'));
  try {
    const postgres = await startEmbeddedPostgres({ dir, durable: false, log: errorsOnly });
    try {
      if (existsSync(TEMPLATE)) {
        const { prepareTemplate } = await import(TEMPLATE.href);
        await prepareTemplate(postgres.url);
      }
      return await use(postgres.url);
    } finally {
      await postgres.stop();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} variables
 */
async function runAva(args, variables) {
  if (interruptedBy) return 1;
  const counter = resultCounter();
  const isTerminal = process.stdout.isTTY === true;
  const colour = isTerminal && !process.env.NO_COLOR ? { FORCE_COLOR: '1' } : {};
  const program = [
    join(ROOT, 'node_modules/ava/entrypoints/cli.mjs'),
    // One more than can compute at once: tests of outages and of waiting mostly sleep.
    `--concurrency=${availableParallelism() + 1}`,
  ];
  ava = spawn(process.execPath, [...program, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...colour, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group, so that the processes of the tests can be ended with it.
    detached: true,
  });
  ava.stdout.on('data', (chunk) => {
    counter.add(chunk);
    process.stdout.write(chunk);
  });
  const [code] = await once(ava, 'exit');
  signalTests('SIGKILL');
  await finished(ava.stdout);
  const { passed, failed, skipped, failures } = counter.results(code === 0);
  if (passed + failed === 0) process.stderr.write('no test ran\n');
  // Once more, where the eye falls: before come all their reasons, which may be long.
  for (const line of failures) process.stdout.write(`${line}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  return interruptedBy || passed + failed === 0 ? code || 1 : (code ?? 1);
}

/**
 * Reaches ava, its workers and what they started; workers alone do not notice that ava is gone.
 * @param {NodeJS.Signals} signal
 */
function signalTests(signal) {
  if (!ava?.pid) return;
  try {
    process.kill(-ava.pid, signal);
  } catch {
    // nobody is left
  }
}

/**
 * Ends the tests; the run then cleans up and fails. Asked a second time, it leaves them no time.
 * @param {NodeJS.Signals} signal
 */
function interrupt(signal) {
  signalTests(interruptedBy ? 'SIGKILL' : signal);
  interruptedBy = signal;
}
