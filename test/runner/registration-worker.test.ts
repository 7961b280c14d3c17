import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Registration } from '../../runner/config.ts';
import { createScriptedExecutor, hang, type Script } from '../../runner/executor/scripted.ts';
import { createLog } from '../../runner/log.ts';
import { RegistrationWorker, type WorkerTiming } from '../../runner/registration-worker.ts';
import { SlotPool } from '../../runner/slots.ts';
import { makePayload } from '../support/build-payload.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeCiServer, reply } from '../support/fake-ci-server.ts';
import { fakeCiServer, fakeClient, quickTrace } from '../support/fake-ci-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const timing: WorkerTiming = {
  job: { trace: quickTrace, stepRetry: 1, afterScriptLimit: 1000 },
  backoffFirst: 5,
  backoffMax: 20,
  housekeeping: 3_600_000,
  longWait: 20,
  shortWait: 0,
};

interface Running {
  server: FakeCiServer;
  slots: SlotPool;
  drain: AbortController;
  shutdown: AbortController;
  done: Promise<void>;
  calls: string[];
}

/** Builds without sources: what they run is played by the script. */
const plain = { variables: [{ key: 'GIT_STRATEGY', value: 'none', public: true }] };

async function start(t: ExecutionContext, script: Script, options: { slots?: number; limit?: number } = {}) {
  const server = await fakeCiServer(t);
  const folder = await temporaryFolder(t);
  const slots = new SlotPool(options.slots ?? 10);
  const [drain, shutdown] = [new AbortController(), new AbortController()];
  const executor = createScriptedExecutor(script);
  const registration = Registration.parse({
    name: 'box',
    url: server.url,
    token: 'runner-token',
    limit: options.limit,
  });
  const worker = new RegistrationWorker({
    registration,
    client: fakeClient(server),
    executor,
    slots,
    live: new Set(),
    drain: drain.signal,
    shutdown: shutdown.signal,
    configPath: join(folder, 'config.json'),
    checkInterval: () => 0.01,
    siblings: () => 1,
    hostEnvironment: { job: {}, git: {} },
    log: createLog('silent'),
    timing,
  });
  const done = worker.run();
  t.teardown(async () => {
    shutdown.abort();
    drain.abort();
    await done;
  });
  const running: Running = { server, slots, drain, shutdown, done, calls: executor.calls };
  return running;
}

test('a build is claimed, run and reported', async (t) => {
  const { server } = await start(t, {});
  const build = server.enqueue(makePayload(plain));
  await server.until(() => build.status === 'success');
  t.pass();
});

test('leftovers are removed before the first claim', async (t) => {
  const { server, calls } = await start(t, {});
  await server.until(() => server.seen.length > 0);
  t.is(calls[0], 'removeLeftovers');
});

/** Runs that end once so many of them have been under way at the same time. */
function meeting(size: number): { run: Script['run']; most(): number } {
  let now = 0;
  let most = 0;
  let meet: () => void = () => {};
  const met = new Promise<void>((resolve) => {
    meet = resolve;
  });
  const run = async () => {
    now += 1;
    most = Math.max(most, now);
    if (now === size) meet();
    await met;
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return { exitCode: 0 };
  };
  return { run, most: () => most };
}

test('never more builds run than there are slots, and all of them come to run', async (t) => {
  const { run, most } = meeting(3);
  const { server } = await start(t, { run }, { slots: 3 });
  const builds = Array.from({ length: 12 }, () => server.enqueue(makePayload(plain)));
  await server.until(() => builds.every((build) => build.status === 'success'));
  t.is(most(), 3);
});

test('a registration keeps to its own limit', async (t) => {
  const { run, most } = meeting(1);
  const { server } = await start(t, { run }, { limit: 1 });
  const builds = Array.from({ length: 4 }, () => server.enqueue(makePayload(plain)));
  await server.until(() => builds.every((build) => build.status === 'success'));
  t.is(most(), 1);
});

test('builds of one project at the same time have different slots, the lowest that are free', async (t) => {
  const names: string[] = [];
  const { server, shutdown } = await start(t, {
    prepare: async ({ slotName }) => void names.push(slotName),
    run: hang,
  });
  const same = [1, 2].map(() => server.enqueue(makePayload(plain)));
  const other = server.enqueue(makePayload({ ...plain, project_id: 6 }));
  await server.until(() => names.length === 3);
  shutdown.abort();
  await server.until(() => [...same, other].every((build) => build.status === 'failed'));
  t.deepEqual(names.sort(), [
    'runner-runner-t-project-5-concurrent-0',
    'runner-runner-t-project-5-concurrent-1',
    'runner-runner-t-project-6-concurrent-0',
  ]);
});

for (const fault of [403, 404, 409, 500, 'dropped'] as const) {
  test(`after ${fault} the server is asked again`, async (t) => {
    const { server } = await start(t, {});
    let faults = 0;
    server.intercept = (request, response) => {
      if (!request.path.includes('register') || faults === 3) return false;
      faults += 1;
      if (fault === 'dropped') response.destroy();
      else reply(response, fault);
      return true;
    };
    const build = server.enqueue(makePayload(plain));
    await server.until(() => build.status === 'success');
    t.true(server.requests('POST', /register/).length >= 1);
  });
}

test('a build that cannot be read is reported as failed', async (t) => {
  const { server } = await start(t, {});
  const build = server.enqueue({ ...makePayload(plain), timeout: 1.5 });
  await server.until(() => build.status === 'failed');
  t.true(build.trace.includes('cannot read this build: timeout'));
});

test('draining lets builds end and takes no more', async (t) => {
  let finish: () => void = () => {};
  const { server, drain, done, calls } = await start(t, {
    run: () =>
      new Promise((resolve) => {
        finish = () => resolve({ exitCode: 0 });
      }),
  });
  const build = server.enqueue(makePayload(plain));
  await server.until(() => calls.includes('run:script'));
  drain.abort();
  await server.until(() => server.waiting === 0);
  const late = server.enqueue(makePayload(plain));
  finish();
  await done;
  t.is(build.status, 'success');
  t.is(late.status, 'pending');
});

test('the slots of builds that ended are free again', async (t) => {
  const { server, slots, drain, done } = await start(t, { run: async () => ({ exitCode: 1 }) }, { slots: 2 });
  const builds = Array.from({ length: 5 }, () => server.enqueue(makePayload(plain)));
  await server.until(() => builds.every((build) => build.status === 'failed'));
  drain.abort();
  await done;
  t.is(slots.free, 2);
});

test('leftovers are removed again after a build whose clean-up failed, which is no live one by then', async (t) => {
  const live: number[][] = [];
  const { server } = await start(t, {
    cleanUp: () => Promise.reject(new Error('the engine is away')),
    removeLeftovers: async (ids) => void live.push([...ids]),
  });
  const build = server.enqueue(makePayload(plain));
  await server.until(() => build.status === 'success');
  await eventually(() => live.length === 2);
  t.deepEqual(live, [[], []]);
});

test('leftovers that cannot be removed at the start are tried again', async (t) => {
  let tries = 0;
  await start(t, {
    removeLeftovers: async () => {
      tries += 1;
      if (tries < 3) throw new Error('the engine is away');
    },
  });
  await eventually(() => tries === 3);
  t.pass();
});

test('after a system failure no build is taken until the executor works again', async (t) => {
  let isUsable = false;
  let isBroken = true;
  let questions = 0;
  const script: Script = {
    run: async () => {
      if (isBroken) throw new Error('the engine died');
      return { exitCode: 0 };
    },
    assertUsable: async () => {
      questions += 1;
      if (!isUsable) throw new Error('the engine is away');
    },
  };
  const { server } = await start(t, script, { slots: 1 });
  const lost = server.enqueue(makePayload(plain));
  await server.until(() => lost.status === 'failed');
  t.regex(lost.trace.toString(), /system failure\): the engine died/);
  await eventually(() => questions >= 2);
  const next = server.enqueue(makePayload(plain));
  const asked = server.requests('POST', /builds\/register$/).length;
  await eventually(() => questions >= 6);
  t.is(server.requests('POST', /builds\/register$/).length, asked);
  isBroken = false;
  isUsable = true;
  await server.until(() => next.status === 'success');
});
