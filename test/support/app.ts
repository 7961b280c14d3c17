import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { runOnce } from 'graphile-worker';
import pg from 'pg';
import pino from 'pino';
import { TraceAppender } from '../../server/actions/trace-appender.ts';
import { createApp } from '../../server/app.ts';
import { bootstrap } from '../../server/bootstrap.ts';
import { CatFile } from '../../server/git/cat-file.ts';
import { createHttpServer } from '../../server/http/http-server.ts';
import { queueLogger, taskList } from '../../server/jobs/worker.ts';
import { openOrm } from '../../server/orm.ts';
import { Queue } from '../../server/queue.ts';
import { Secrets } from '../../server/secrets.ts';
import type { Services, Work } from '../../server/services.ts';
import { LocalStorage } from '../../server/storage/local.ts';
import { BuildWakeups } from '../../server/wakeups.ts';
import { createDatabase } from './database.ts';
import { Make } from './make.ts';

export interface TestAppOptions {
  /** One connection unless told: code that needs a second one inside a transaction then hangs at once. */
  poolSize?: number;
  createStatus?: Services['createStatus'];
  /** Without limit unless told: tests sign in often. */
  signInsPerMinute?: number;
}

export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  /** Parsed when it is JSON, else as text. */
  body: T;
}

export interface CallOptions {
  /** Private token. */
  as?: string | undefined;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent urlencoded. */
  form?: Record<string, string>;
  body?: string | Uint8Array | ReadableStream;
}

export const rootToken = 'root-token-123456789';
export const registrationToken = 'registration-token-1';

/** The whole server of one test file, in this process, on a database, folder and port of its own. */
export interface TestApp {
  url: string;
  databaseUrl: string;
  services: Services;
  work: Work;
  make: Make;
  /** Every line that was logged, as text. */
  logLines: string[];
  call<T = unknown>(method: string, path: string, options?: CallOptions): Promise<Answer<T>>;
  /** Carries out every background task that is due. */
  runTasks(): Promise<void>;
  /** Lets delayed tasks be due now, and carries them out. */
  runAllTasks(): Promise<void>;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
  close(): Promise<void>;
}

/** Starts an application before the tests of a file and stops it after them. Call at the top of the file. */
export function withApp(options: TestAppOptions = {}): { app: TestApp } {
  const holder = {} as { app: TestApp };
  // In order, so that a file may prepare things on the application in a serial hook of its own.
  test.serial.before(async () => {
    holder.app = await startApp(options);
  });
  test.after.always(async (t) => {
    await holder.app?.close();
    const faults = holder.app?.logLines.filter((line) => line.includes('"level":50')) ?? [];
    t.deepEqual(faults, [], 'nothing was logged as an error');
  });
  return holder;
}

export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = await createDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'hearth-app-'));
  const logLines: string[] = [];
  const services = await testServices(options, { databaseUrl: database.url, folder, logLines });
  await bootstrap(services, {
    rootPassword: async () => 'root-password',
    rootToken,
    registrationToken,
  });
  const server = createHttpServer();
  server.on('request', createApp(services, { checkAnswers: true }).callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  services.baseUrl = url;
  await services.wakeups.start();
  const work: Work = { ...services, em: services.orm.em.fork() as Work['em'], origin: url };
  const pool = new pg.Pool({ connectionString: database.url, max: 3 });
  // Tests may end its connections; the next statement gets a new one.
  pool.on('error', () => undefined);
  return {
    url,
    databaseUrl: database.url,
    services,
    work,
    make: new Make(work),
    logLines,
    call: (method, path, options) => call(url, method, path, options),
    ...taskRunner(services, pool),
    rows: async (text, values) => (await pool.query(text, values)).rows,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await services.wakeups.stop();
      services.objects.close();
      await pool.end();
      await services.orm.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface TestPlaces {
  databaseUrl: string;
  folder: string;
  logLines: string[];
}

async function testServices(
  { poolSize = 1, createStatus = 'documented', signInsPerMinute = 0 }: TestAppOptions,
  { databaseUrl, folder, logLines }: TestPlaces,
): Promise<Services> {
  const log = pino({ level: 'debug' }, collector(logLines));
  const orm = await openOrm({ url: databaseUrl, poolSize });
  return {
    orm,
    wakeups: new BuildWakeups(databaseUrl, log),
    log,
    objects: new CatFile({ maxProcesses: 4 }),
    storage: new LocalStorage(join(folder, 'blobs')),
    secrets: new Secrets(Buffer.alloc(32, 7)),
    queue: new Queue(),
    mail: null,
    traceAppender: new TraceAppender(orm.em.fork()),
    repositoriesDir: join(folder, 'repositories'),
    writtenDirs: [folder],
    baseUrl: 'http://127.0.0.1',
    baseUrlFixed: false,
    sshPort: null,
    createStatus,
    signInsPerMinute,
  };
}

/** A queue that somebody else holds is not waited for without end. */
const mostRounds = 100;

function taskRunner(services: Services, pool: pg.Pool): Pick<TestApp, 'runTasks' | 'runAllTasks'> {
  const onLoss = (err: Error) => {
    // Connections that are saying goodbye may be cut off by the drop of their database.
    if (!pool.ending) services.log.error({ err }, 'a connection of the test was lost');
  };
  pool.on('error', onLoss);
  pool.on('connect', (client) => client.on('error', onLoss));
  const running = new Set<Promise<void>>();
  const isAnyDue = async () => {
    const due = 'select 1 from graphile_worker._private_jobs where is_available and run_at <= now() limit 1';
    return (await pool.query(due)).rows.length > 0;
  };
  const runAvailable = async () => {
    const run = runOnce({
      pgPool: pool,
      taskList: taskList(services),
      noHandleSignals: true,
      logger: queueLogger(services),
    });
    running.add(run);
    try {
      await run;
    } finally {
      running.delete(run);
    }
    // What a test beside this one has taken meanwhile may be what this one waits for.
    await Promise.allSettled([...running]);
  };
  const runTasks = async () => {
    // The library does not wait until the end of a task is noted, and passes over the rest of its queue until then.
    for (let round = 0; round < mostRounds; round += 1) {
      await runAvailable();
      if (!(await isAnyDue())) return;
      await wait(10);
    }
  };
  return {
    runTasks,
    async runAllTasks() {
      await pool.query('update graphile_worker._private_jobs set run_at = now() where run_at > now()');
      await runTasks();
    },
  };
}

async function call<T>(
  url: string,
  method: string,
  path: string,
  { as, headers = {}, query, json, form, body }: CallOptions = {},
): Promise<Answer<T>> {
  const search = query ? `?${new URLSearchParams(query)}` : '';
  const type =
    json !== undefined ? 'application/json' : form ? 'application/x-www-form-urlencoded' : undefined;
  const sent = json !== undefined ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : body;
  const response = await fetch(`${url}${path}${search}`, {
    method,
    headers: {
      ...(as === undefined ? {} : { 'PRIVATE-TOKEN': as }),
      ...(type === undefined ? {} : { 'Content-Type': type }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
    ...(sent instanceof ReadableStream ? { duplex: 'half' } : {}),
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson ? JSON.parse(text) : text) as T,
  };
}

function collector(lines: string[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
}
