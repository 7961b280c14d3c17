import test, { type ExecutionContext } from 'ava';
import { deliverHook } from '../../server/hooks/deliver.ts';
import { enqueue } from '../../server/hooks/enqueue.ts';
import { inTransaction } from '../../server/sql.ts';
import { rootToken, withApp } from '../support/app.ts';
import { HookReceiver, withReceiver } from '../support/hook-receiver.ts';

const holder = withApp();
const receiver = withReceiver();
const secure = withReceiver({ tls: true });

test.serial.before(async () => {
  await holder.app.rows('update settings set local_requests_allowed = true');
});

interface Delivery {
  state: string;
  attempts: number;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  request_body: string;
}

/** A hook of the system, for the time of the test. */
async function scene(t: ExecutionContext, json: Record<string, unknown>) {
  const { app } = holder;
  const made = await app.call<{ id: number }>('POST', '/api/v3/hooks', { as: rootToken, json });
  const { id } = made.body;
  const remove = () => app.call('DELETE', `/api/v3/hooks/${id}`, { as: rootToken });
  t.teardown(remove);
  return {
    id,
    remove,
    say: (body: Record<string, unknown>) => inTransaction(app.work, (work) => enqueue(work, [body])),
    deliveries: async () => {
      const path = `/api/v3/hooks/${id}/deliveries`;
      return (await app.call<Delivery[]>('GET', path, { as: rootToken, query: { per_page: '100' } })).body;
    },
    /** As if the time had come for whatever waits. */
    letTimePass: async () => {
      await app.rows('update hooks set paused_until = null where id = $1', [id]);
      await app.rows('update hook_deliveries set due_at = now() where hook_id = $1', [id]);
      await app.runAllTasks();
    },
    /** Seconds until the last task. */
    wait: async () => {
      const [row] = await app.rows<{ seconds: number | null }>(
        `select extract(epoch from max(run_at) - now())::int as seconds from graphile_worker.jobs
         where task_identifier = 'deliver_hook' and queue_name = 'hook:' || $1`,
        [id],
      );
      return row?.seconds ?? 0;
    },
  };
}

function numbersAt(path: string, at = receiver): unknown[] {
  return at.at(path).map(({ body }) => body.number);
}

test.serial('a message arrives with its headers, once, and is among the deliveries', async (t) => {
  const { app } = holder;
  const url = receiver.url('/once').replace('//', '//ada:p%40ss@');
  const { say, deliveries } = await scene(t, { url, token: 'known-by-this' });
  await say({ hello: 'wörld', nul: '\0' });
  t.deepEqual(
    (await deliveries()).map(({ state }) => state),
    ['waiting'],
  );
  await app.runTasks();
  await app.runAllTasks();
  const received = receiver.at('/once');
  t.is(received.length, 1);
  t.deepEqual(received[0]?.body, { hello: 'wörld', nul: '\0' });
  t.like(received[0]?.headers, {
    'content-type': 'application/json',
    'x-gitlab-event': 'System Hook',
    'x-gitlab-token': 'known-by-this',
    authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
  });
  t.regex(String(received[0]?.headers['x-hearth-delivery']), /^\d+$/);
  const [delivery] = await deliveries();
  t.like(delivery, { state: 'delivered', attempts: 1, response_status: 200, response_body: 'thanks' });
  t.is(delivery?.error, null);
});

test.serial('without a token there is no header for it', async (t) => {
  const { say } = await scene(t, { url: receiver.url('/bare') });
  await say({});
  await holder.app.runTasks();
  const headers = receiver.at('/bare')[0]?.headers ?? {};
  t.false('x-gitlab-token' in headers || 'authorization' in headers);
});

test.serial('only what was committed is sent', async (t) => {
  const { app } = holder;
  const { deliveries } = await scene(t, { url: receiver.url('/rolled-back') });
  const failing = inTransaction(app.work, async (work) => {
    await enqueue(work, [{}]);
    throw new Error('rolled back');
  });
  await t.throwsAsync(failing, { message: 'rolled back' });
  await app.runTasks();
  t.deepEqual(receiver.at('/rolled-back'), []);
  t.deepEqual(await deliveries(), []);
});

test.serial('messages of one hook arrive in their order', async (t) => {
  const { say } = await scene(t, { url: receiver.url('/order') });
  for (let number = 1; number <= 12; number += 1) await say({ number });
  await holder.app.runTasks();
  t.deepEqual(
    numbersAt('/order'),
    Array.from({ length: 12 }, (_, index) => index + 1),
  );
});

test.serial('what a receiver fails on is sent again, later and later, and holds up nothing', async (t) => {
  receiver.answer('/fails', (response, { body }) => response.writeHead(body.number === 1 ? 500 : 200).end());
  const { say, deliveries, letTimePass, wait } = await scene(t, { url: receiver.url('/fails') });
  await say({ number: 1 });
  await say({ number: 2 });
  await holder.app.runTasks();
  t.deepEqual(numbersAt('/fails'), [1, 2]);
  for (const seconds of [10, 60, 300, 1800, 7200]) {
    const left = await wait();
    t.true(left <= seconds && left > seconds - 60, `${left} of ${seconds}`);
    t.is((await deliveries())[1]?.state, 'waiting');
    await letTimePass();
  }
  t.deepEqual(numbersAt('/fails'), [1, 2, 1, 1, 1, 1, 1]);
  const ids = receiver.at('/fails').map(({ headers }) => headers['x-hearth-delivery']);
  t.is(new Set(ids).size, 2);
  t.like((await deliveries())[1], { state: 'failed', attempts: 6, response_status: 500 });
  await letTimePass();
  t.is(receiver.at('/fails').length, 7);
});

test.serial('while a receiver is busy all of its messages wait, and come in their order', async (t) => {
  for (const status of [429, 503]) {
    const path = `/busy/${status}`;
    receiver.answer(path, status);
    const { say, remove, letTimePass } = await scene(t, { url: receiver.url(path) });
    for (const number of [1, 2, 3]) await say({ number });
    for (const _ of [1, 2, 3]) await holder.app.runAllTasks();
    t.deepEqual(numbersAt(path), [1], 'it is not asked before its time');
    receiver.answer(path, 200);
    await letTimePass();
    t.deepEqual(numbersAt(path), [1, 1, 2, 3]);
    await remove();
  }
});

test.serial('one that is away hears it when it is back', async (t) => {
  const away = new HookReceiver();
  await away.start();
  const { port } = away;
  const { say, deliveries, letTimePass } = await scene(t, { url: away.url('/back') });
  await away.stop();
  for (const number of [1, 2]) await say({ number });
  await holder.app.runTasks();
  const [second, first] = await deliveries();
  t.like(first, { state: 'waiting', attempts: 1, response_status: null });
  t.regex(String(first?.error), /ECONNREFUSED/);
  t.like(second, { state: 'waiting', attempts: 0 });
  const back = new HookReceiver();
  await back.start(port);
  t.teardown(() => back.stop());
  await letTimePass();
  t.deepEqual(numbersAt('/back', back), [1, 2]);
  t.like((await deliveries())[1], { state: 'delivered', attempts: 2 });
  t.is((await deliveries())[1]?.error, null);
});

test.serial('a message that could not be sent for hours is given up', async (t) => {
  const { app } = holder;
  const { say, id, deliveries } = await scene(t, { url: 'http://127.0.0.1:1/' });
  await say({});
  await app.rows(`update hook_deliveries set created_at = now() - interval '4 hours' where hook_id = $1`, [
    id,
  ]);
  await app.runTasks();
  t.like((await deliveries())[0], { state: 'failed', attempts: 1 });
});

test.serial('a hook that is changed is asked again at once', async (t) => {
  const { app } = holder;
  const path = `/api/v3/projects/${(await app.make.project()).id}/hooks`;
  const put = (id: number | string, url: string) =>
    app.call<{ id: number }>(id ? 'PUT' : 'POST', id ? `${path}/${id}` : path, {
      as: rootToken,
      form: { url },
    });
  const { id } = (await put('', 'http://127.0.0.1:1/')).body;
  await app.rows(`insert into hook_deliveries (hook_id, event, body) values ($1, 'Push Hook', '{}')`, [id]);
  await deliverHook(app.work, { hookId: id });
  await app.rows('update hook_deliveries set due_at = now() where hook_id = $1', [id]);
  await app.runTasks();
  await put(id, receiver.url('/right'));
  await app.runTasks();
  t.is(receiver.at('/right').length, 1);
});

test.serial('one that does not answer in time is asked again later', async (t) => {
  receiver.answer('/hangs', () => undefined);
  const { say, id, deliveries } = await scene(t, { url: receiver.url('/hangs') });
  await say({});
  await deliverHook(holder.app.work, { hookId: id }, { timeoutMs: 200 });
  t.like((await deliveries())[0], { state: 'waiting', attempts: 1, error: 'no answer within 200 ms' });
});

test.serial('a refusal is an answer: nobody is asked again, and no redirect is followed', async (t) => {
  const { app } = holder;
  receiver.answer('/307', (response) => response.writeHead(307, { Location: receiver.url('/target') }).end());
  for (const status of [400, 404, 410]) receiver.answer(`/${status}`, status);
  for (const status of [400, 404, 410, 307]) {
    const { say, deliveries, letTimePass, remove } = await scene(t, { url: receiver.url(`/${status}`) });
    await say({});
    await app.runTasks();
    await letTimePass();
    t.is(receiver.at(`/${status}`).length, 1);
    t.like((await deliveries())[0], { state: 'failed', attempts: 1, response_status: status });
    await remove();
  }
  t.deepEqual(receiver.at('/target'), []);
});

test.serial('certificates are checked, unless the hook says otherwise', async (t) => {
  const url = `https://localhost:${secure.port}/tls`;
  const strict = await scene(t, { url });
  await strict.say({ from: 'strict' });
  await holder.app.runTasks();
  t.regex(String((await strict.deliveries())[0]?.error), /certificate/);
  await strict.remove();
  const lax = await scene(t, { url, enable_ssl_verification: false });
  await lax.say({ from: 'lax' });
  await holder.app.runTasks();
  t.deepEqual(
    secure.at('/tls').map(({ body }) => body),
    [{ from: 'lax' }],
  );
  t.like((await lax.deliveries())[0], { state: 'delivered' });
});

test.serial('what waits for a hook that is removed is not sent', async (t) => {
  const { app } = holder;
  const { say, id, remove } = await scene(t, { url: receiver.url('/removed') });
  await say({});
  await remove();
  await app.runAllTasks();
  t.deepEqual(receiver.at('/removed'), []);
  t.deepEqual(await app.rows('select 1 from hook_deliveries where hook_id = $1', [id]), []);
});

test.serial('the newest fifty are kept, answers cut, without what only the receiver knows', async (t) => {
  const { app } = holder;
  const token = 'a-token-of-some-length';
  const url = receiver.url('/echo').replace('//', '//bob:a-password@');
  receiver.answer('/echo', (response, { headers }) => {
    const sent = `${headers['x-gitlab-token']} ${headers.authorization} a-password \0 `;
    response.end(sent + 'x'.repeat(1_000_000));
  });
  const { say, id, deliveries } = await scene(t, { url, token });
  for (let number = 1; number <= 55; number += 1) await say({ number });
  await app.runTasks();
  await app.runAllTasks();
  t.is(receiver.at('/echo').length, 55);
  const list = await deliveries();
  t.is(list.length, 50);
  const oldest = await app.rows<{ body: string }>(
    'select body from hook_deliveries where hook_id = $1 order by id limit 1',
    [id],
  );
  t.deepEqual(oldest, [{ body: '{"number":6}' }]);
  const answer = String(list[0]?.response_body);
  t.regex(answer, /^\[MASKED\] Basic \[MASKED\] \[MASKED\] \ufffd x+$/);
  t.is(answer.length, 8192);
  t.deepEqual(
    app.logLines.filter((line) => line.includes(token) || line.includes('a-password')),
    [],
  );
});

test.serial('a hook that nobody empties gets no more than a thousand messages, which shows', async (t) => {
  const { app } = holder;
  const { say, id, deliveries } = await scene(t, { url: receiver.url('/full') });
  const fill = (count: number) =>
    app.rows(
      `insert into hook_deliveries (hook_id, event, body)
       select $1, 'System Hook', '{}' from generate_series(1, $2)`,
      [id, count],
    );
  const count = async (state: string) =>
    (await app.rows('select 1 from hook_deliveries where hook_id = $1 and state = $2', [id, state])).length;
  const warnings = () =>
    app.logLines.filter((line) => line.includes('too many messages') && line.includes(`"hook":${id},`))
      .length;
  await fill(999);
  await say({});
  t.is(await count('dropped'), 0);
  await say({});
  await say({});
  t.is(await count('waiting'), 1000);
  t.is(await count('dropped'), 1);
  const error = '1000 messages wait already: left out, maybe with others';
  t.like((await deliveries())[0], { state: 'dropped', attempts: 0, error, request_body: '' });
  t.is(warnings(), 0);
  await deliverHook(app.work, { hookId: id });
  await deliverHook(app.work, { hookId: id });
  t.is(warnings(), 1);
  t.is(await count('waiting'), 900);
  await fill(100);
  await say({});
  await deliverHook(app.work, { hookId: id });
  t.is(warnings(), 2);
  t.is(await count('dropped'), 0);
  t.is(await count('waiting'), 950);
});

test.serial('a private address is reached only where the administrator allows it', async (t) => {
  const { app } = holder;
  const { say, deliveries, letTimePass } = await scene(t, { url: receiver.url('/private') });
  await app.rows('update settings set local_requests_allowed = false');
  t.teardown(() => app.rows('update settings set local_requests_allowed = true'));
  await say({});
  await app.runTasks();
  await letTimePass();
  t.deepEqual(receiver.at('/private'), []);
  const error = 'the address is in a network that may not be reached';
  t.like((await deliveries())[0], { state: 'failed', attempts: 1, error });
});
