import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { resumePushes } from './actions/resume-pushes.ts';
import { TraceAppender } from './actions/trace-appender.ts';
import { createApp } from './app.ts';
import { bootstrap } from './bootstrap.ts';
import type { Config } from './config.ts';
import type { ListenAddress } from './config-parsers.ts';
import { readOrCreateSecret } from './data-dir.ts';
import { CatFile } from './git/cat-file.ts';
import { createHttpServer } from './http/http-server.ts';
import { startWorker } from './jobs/worker.ts';
import type { MailAddress, Mailer } from './mail/mailer.ts';
import { migrate } from './migrate.ts';
import { openOrm } from './orm.ts';
import { Queue } from './queue.ts';
import { Secrets } from './secrets.ts';
import type { Services, Work } from './services.ts';
import type { SshServer } from './ssh/ssh-server.ts';
import { StartError } from './start-error.ts';
import { LocalStorage } from './storage/local.ts';
import { BuildWakeups } from './wakeups.ts';

export interface RunningServer {
  services: Services;
  /** Where it listens, with the real port. */
  address: { host: string; port: number };
  /** This start made the user root. */
  isFirstStart: boolean;
  /** Takes no new requests, lets running ones finish, and closes everything. */
  stop(): Promise<void>;
}

const poolSize = 20;
/** How long running requests may take to finish once the server stops. */
const drainMs = 20_000;

/**
 * Starts the server on a database that is there.
 *
 * @throws StartError for what the administrator can mend.
 */
export async function startServer(config: Config, databaseUrl: string, log: Logger): Promise<RunningServer> {
  if (config.blobs.kind !== 'file') {
    throw new StartError(
      'HEARTH_BLOBS names a store that this version does not have',
      'leave it out: blobs are then kept in the data directory',
    );
  }
  const dataDir = config.dataDir;
  const key = config.secretKey ?? (await readOrCreateSecret({ dir: dataDir, name: 'secret-key', bytes: 32 }));
  const orm = await openOrm({ url: databaseUrl, poolSize }).catch(noDatabase);
  const wakeups = new BuildWakeups(databaseUrl, log);
  const objects = new CatFile();
  const server = createHttpServer();
  let ssh: SshServer | null = null;
  try {
    await migrate(databaseUrl);
    const services = await makeServices({ config, orm, wakeups, objects, log, key });
    const isFirstStart = await bootstrap(services, {
      rootPassword: async () =>
        config.rootPassword ?? (await readOrCreateSecret({ dir: dataDir, name: 'root-password', bytes: 10 })),
      rootToken: config.rootToken,
      registrationToken: config.runnersRegistrationToken,
    });
    const address = await listen(server, { ...config.listen, setting: 'HEARTH_LISTEN' });
    if (!services.baseUrlFixed) services.baseUrl = `http://${urlHost(address.host)}:${address.port}`;
    ssh = await startSsh(services, config);
    server.on('request', createApp(services).callback());
    await wakeups.start();
    await resumePushes({ ...services, em: orm.em.fork() as Work['em'], origin: services.baseUrl });
    const worker = await startWorker(services, databaseUrl);
    const stop = async () => {
      const drained = [close(server), ssh?.close(drainMs)];
      await wakeups.stop();
      await Promise.all([...drained, worker.stop()]);
      objects.close();
      await orm.close();
    };
    return { services, address, isFirstStart, stop };
  } catch (error) {
    server.close();
    await ssh?.close(0);
    objects.close();
    await wakeups.stop();
    await orm.close();
    throw error;
  }
}

function noDatabase(error: Error): never {
  const advice = 'check DATABASE_URL and that PostgreSQL runs there';
  throw new StartError(`the database does not answer: ${error.message}`, advice, error);
}

interface ServiceParts extends Pick<Services, 'orm' | 'wakeups' | 'objects' | 'log'> {
  config: Config;
  key: string;
}

async function makeServices({ config, key, ...parts }: ServiceParts): Promise<Services> {
  const repositoriesDir = join(config.dataDir, 'repositories');
  const blobsDir = join(config.dataDir, 'blobs');
  const writtenDirs = [repositoriesDir, blobsDir];
  for (const dir of writtenDirs) await mkdir(dir, { recursive: true, mode: 0o700 });
  const postgresDir = join(config.dataDir, 'postgres');
  if (existsSync(postgresDir)) writtenDirs.push(postgresDir);
  return {
    ...parts,
    storage: new LocalStorage(blobsDir),
    secrets: new Secrets(Buffer.from(key, 'hex')),
    queue: new Queue(),
    mail: await openMailer(config),
    traceAppender: new TraceAppender(parts.orm.em.fork()),
    repositoriesDir,
    writtenDirs,
    baseUrl: config.baseUrl ?? `http://${urlHost(config.listen.host)}:${config.listen.port}`,
    baseUrlFixed: config.baseUrl !== null,
    sshPort: null,
    createStatus: config.createStatus,
    signInsPerMinute: config.signInsPerMinute,
  };
}

/** Most instances send no mail, and need not read what sends it. */
async function openMailer({ smtp, mailFrom, baseUrl }: Config): Promise<Mailer | null> {
  if (!smtp) return null;
  const { Mailer } = await import('./mail/mailer.ts');
  return new Mailer({ server: smtp, from: mailFrom ?? defaultSender(baseUrl) });
}

function defaultSender(baseUrl: string | null): MailAddress {
  const host = baseUrl === null ? '' : new URL(baseUrl).hostname;
  // An address of the network is no domain for mail.
  const domain = /^(?=.*[a-z])[a-z0-9.-]+$/.test(host) ? host : 'localhost';
  return { name: 'Hearth', address: `hearth@${domain}` };
}

/** Not every instance serves SSH, and need then not read what does. */
async function startSsh(services: Services, { sshListen, dataDir }: Config): Promise<SshServer | null> {
  if (!sshListen) return null;
  const [{ createSshServer }, { readHostKeys }] = await Promise.all([
    import('./ssh/ssh-server.ts'),
    import('./ssh/host-keys.ts'),
  ]);
  const ssh = createSshServer(services, { hostKeys: await readHostKeys(dataDir) });
  const { port } = await listen(ssh.net, { ...sshListen, setting: 'HEARTH_SSH_LISTEN' });
  services.sshPort = port;
  return ssh;
}

interface Place extends ListenAddress {
  /** The setting that says so. */
  setting: string;
}

async function listen(server: Server, { host, port, setting }: Place): Promise<ListenAddress> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(listenError(error, { place: `${host}:${port}`, setting })),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return { host, port: typeof address === 'object' && address ? address.port : port };
}

function listenError(
  error: NodeJS.ErrnoException,
  { place, setting }: { place: string; setting: string },
): StartError {
  if (error.code === 'EADDRINUSE') {
    return new StartError(
      `the address ${place} is in use`,
      `stop the other program or set ${setting}`,
      error,
    );
  }
  return new StartError(
    `cannot listen on ${place}: ${error.message}`,
    `set ${setting} to an address of this machine`,
    error,
  );
}

/** Connections without a request are closed at once, busy ones after their answer. */
async function close(server: HttpServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
