import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { RunnerConfig } from '../../runner/config.ts';
import { createLog } from '../../runner/log.ts';
import { Worker } from '../../runner/worker.ts';
import { makePayload } from '../support/build-payload.ts';
import type { FakeBuild, FakeCiServer } from '../support/fake-ci-server.ts';
import { fakeCiServer } from '../support/fake-ci-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Workers with one token would take the processes of each other for leftovers. */
let tokens = 0;

interface Working {
  worker: Worker;
  folder: string;
  servers: FakeCiServer[];
  /** One registration per server, in order. */
  registrations: { name: string; url: string; token: string; executor: 'shell'; limit?: number }[];
  config(settings: { concurrent: number; runners?: Working['registrations'] }): RunnerConfig;
}

/** Registrations at servers of their own, in one process; builds run in a real shell. */
async function working(
  t: ExecutionContext,
  settings: { registrations: number; concurrent: number },
): Promise<Working> {
  const folder = await temporaryFolder(t);
  const servers = await Promise.all(Array.from({ length: settings.registrations }, () => fakeCiServer(t)));
  const registrations = servers.map(({ url }, index) => {
    tokens += 1;
    return { name: `r${index}`, url, token: `${tokens}-${process.pid}-token`, executor: 'shell' as const };
  });
  const config: Working['config'] = ({ concurrent, runners = registrations }) =>
    RunnerConfig.parse({ concurrent, check_interval: 0.05, runners });
  const environment = { PATH: process.env.PATH ?? '' };
  const worker = new Worker({
    config: config(settings),
    configPath: join(folder, 'config.json'),
    hostEnvironment: { job: environment, git: environment },
    log: createLog('silent'),
  });
  worker.start();
  t.teardown(async () => {
    worker.abort();
    await worker.finished();
  });
  return { worker, folder, servers, registrations, config };
}

function enqueue(server: FakeCiServer | undefined, script: string): FakeBuild {
  const variables = [{ key: 'GIT_STRATEGY', value: 'none', public: true }];
  const build = server?.enqueue(makePayload({ variables, ext: { script: [script] } }));
  if (!build) throw new Error('there is no such server');
  return build;
}

function isOver({ status }: FakeBuild): boolean {
  return status === 'success' || status === 'failed';
}

test('with one slot for several registrations each gets its turn, one build at a time', async (t) => {
  const { servers } = await working(t, { registrations: 3, concurrent: 1 });
  const busy = Array.from({ length: 3 }, () => enqueue(servers[0], 'true'));
  const others = [enqueue(servers[1], 'true'), enqueue(servers[2], 'true')];
  const all = [...busy, ...others];
  const ended: FakeBuild[] = [];
  let most = 0;
  for (const server of servers) {
    server.intercept = () => {
      most = Math.max(most, all.filter((build) => build.status === 'running').length);
      return false;
    };
  }
  const look = () => {
    ended.push(...all.filter((build) => isOver(build) && !ended.includes(build)));
    return ended.length === all.length;
  };
  await servers[0]?.until(look);
  t.true(all.every((build) => build.status === 'success'));
  t.is(most, 1);
  // Whoever has much to do does not keep the slot from the others.
  const last = ended.at(-1);
  t.true(last !== undefined && busy.includes(last));
});

test('a registration that waits for builds does not keep the others from the slots', async (t) => {
  const { servers, folder } = await working(t, { registrations: 2, concurrent: 2 });
  await servers[0]?.until(() => servers.every((server) => server.waiting > 0));
  const go = join(folder, 'go');
  const meet = `touch '${folder}'/$CI_JOB_ID; until [ -e '${go}' ]; do sleep 0.05; done`;
  const builds = [enqueue(servers[0], meet), enqueue(servers[0], meet)];
  await servers[0]?.until(() => builds.every((build) => build.status === 'running'));
  await writeFile(go, '');
  await servers[0]?.until(() => builds.every((build) => build.status === 'success'));
  const questions = servers.flatMap((server) => server.requests('POST', /register/));
  const waits = questions.map(({ headers }) => Number(/wait=(\d+)/.exec(String(headers.prefer))?.[1]));
  t.true(Math.max(...waits) <= 3);
});

test('concurrent is taken over while builds run', async (t) => {
  const { worker, servers, folder, config } = await working(t, { registrations: 1, concurrent: 1 });
  const go = join(folder, 'go');
  const builds = Array.from({ length: 3 }, () =>
    enqueue(servers[0], `until [ -e '${go}' ]; do sleep 0.05; done`),
  );
  const running = () => builds.filter((build) => build.status === 'running').length;
  await servers[0]?.until(() => running() === 1);
  worker.apply(config({ concurrent: 3 }));
  await servers[0]?.until(() => running() === 3);
  worker.apply(config({ concurrent: 1 }));
  await writeFile(go, '');
  await servers[0]?.until(() => builds.every((build) => build.status === 'success'));
  const later = Array.from({ length: 2 }, () =>
    enqueue(servers[0], `mkdir '${folder}/alone' && sleep 0.2 && rmdir '${folder}/alone'`),
  );
  await servers[0]?.until(() => later.every(isOver));
  t.true(later.every((build) => build.status === 'success'));
});

test('a registration that is taken out of the config ends its builds and asks no more; a new one starts', async (t) => {
  const { worker, servers, folder, registrations, config } = await working(t, {
    registrations: 2,
    concurrent: 4,
  });
  const [first, second] = servers;
  const go = join(folder, 'go');
  const old = enqueue(first, `echo started; until [ -e '${go}' ]; do sleep 0.05; done`);
  await first?.until(() => old.trace.includes('started\n'));
  worker.apply(config({ concurrent: 4, runners: registrations.slice(1) }));
  await first?.until(() => first.waiting === 0);
  const never = enqueue(first, 'true');
  await writeFile(go, '');
  await first?.until(() => old.status === 'success');
  const other = enqueue(second, 'true');
  await second?.until(() => other.status === 'success');
  t.is(never.status, 'pending');
  worker.apply(config({ concurrent: 4 }));
  await first?.until(() => never.status === 'success');
});

test('a registration whose settings change goes on with the new ones, its builds with the old ones', async (t) => {
  const { worker, servers, folder, registrations, config } = await working(t, {
    registrations: 1,
    concurrent: 4,
  });
  const [server] = servers;
  const go = join(folder, 'go');
  const old = enqueue(
    server,
    `echo started; until [ -e '${go}' ]; do sleep 0.05; done; echo "value:$ADDED."`,
  );
  await server?.until(() => old.trace.includes('started\n'));
  const questions = () => server?.requests('POST', /register/).length ?? 0;
  await server?.until(() => server.waiting === 1);
  const asked = questions();
  const changed = registrations.map((each) => ({ ...each, environment: { ADDED: 'new' } }));
  worker.apply(config({ concurrent: 4, runners: changed }));
  // The question of the old one is given up: a build given as its answer would be lost.
  await server?.until(() => questions() > asked && server.waiting === 1);
  const build = enqueue(server, 'echo "value:$ADDED."');
  await server?.until(() => build.status === 'success');
  t.true(build.trace.includes('value:new.'));
  t.is(old.status, 'running');
  await writeFile(go, '');
  await server?.until(() => old.status === 'success');
  t.true(old.trace.includes('value:.'));
});

test('draining waits for builds, and an abort after it ends them', async (t) => {
  const { worker, servers } = await working(t, { registrations: 1, concurrent: 2 });
  const build = enqueue(servers[0], 'echo started; sleep 1000');
  await servers[0]?.until(() => build.trace.includes('started\n'));
  worker.drain();
  await servers[0]?.until(() => servers[0]?.waiting === 0);
  t.is(build.status, 'running');
  worker.abort();
  await worker.finished();
  t.is(build.status, 'failed');
  t.true(build.trace.includes('the runner is shutting down'));
});
