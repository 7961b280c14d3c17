import type { ServerResponse } from 'node:http';
import test from 'ava';
import { enqueue } from '../../server/hooks/enqueue.ts';
import { startWorker } from '../../server/jobs/worker.ts';
import { inTransaction } from '../../server/sql.ts';
import { rootToken, withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { withReceiver } from '../support/hook-receiver.ts';
import { startServerProcess } from '../support/server-process.ts';

const holder = withApp({ poolSize: 3 });
const receiver = withReceiver();

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

async function hook(path: string): Promise<void> {
  const json = { url: receiver.url(path) };
  await holder.app.call('POST', '/api/v3/hooks', { as: rootToken, json });
}

function say(body: Record<string, unknown>): Promise<void> {
  return inTransaction(holder.app.work, (work) => enqueue(work, [body]));
}

async function waiting(): Promise<number> {
  return (await holder.app.rows(`select 1 from hook_deliveries where state = 'waiting'`)).length;
}

test.serial('a message in whose sending a server was killed is sent again by another one', async (t) => {
  const { app } = holder;
  receiver.answer('/crash', () => undefined);
  await hook('/crash');
  const server = await startServerProcess(t, app);
  await say({ number: 1 });
  await eventually(() => receiver.at('/crash').length === 1);
  await say({ number: 2 });
  await server.crash();
  receiver.answer('/crash', 200);
  // As if a minute had passed since anybody heard of the dead one.
  await app.rows(`update working_servers set seen_at = seen_at - interval '61 seconds'`);
  await app.rows(
    `update graphile_worker._private_jobs set locked_at = locked_at - interval '61 seconds' where locked_at is not null`,
  );
  const worker = await startWorker(app.services, app.databaseUrl);
  t.teardown(() => worker.stop());
  await eventually(async () => (await waiting()) === 0);
  const received = receiver.at('/crash');
  t.deepEqual(
    received.map(({ body }) => body.number),
    [1, 1, 2],
  );
  const [first, again] = received.map(({ headers }) => headers['x-hearth-delivery']);
  t.is(first, again);
});

test.serial('receivers that are slow hold up neither other hooks nor other tasks', async (t) => {
  const { app } = holder;
  const held: ServerResponse[] = [];
  for (const path of ['/slow/1', '/slow/2', '/slow/3', '/slow/4']) {
    receiver.answer(path, (response) => held.push(response));
    await hook(path);
  }
  await hook('/quick');
  const worker = await startWorker(app.services, app.databaseUrl);
  t.teardown(() => worker.stop());
  await say({});
  await eventually(() => receiver.at('/quick').length === 1 && held.length === 4);
  await app.services.queue.add(app.work.em, 'remove_blob', { key: 'nothing' });
  const left = () => app.rows(`select 1 from graphile_worker.jobs where task_identifier = 'remove_blob'`);
  await eventually(async () => (await left()).length === 0);
  t.is(await waiting(), 4);
  for (const response of held) response.end();
  await eventually(async () => (await waiting()) === 0);
});
