import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import Koa from 'koa';
import pino from 'pino';
import { z } from 'zod';
import { anyone } from '../../server/http/access.ts';
import { PageAnswer, reply } from '../../server/http/answers.ts';
import { type Endpoint, endpoint } from '../../server/http/endpoint.ts';
import { mount } from '../../server/http/mount.ts';
import { requestLog } from '../../server/http/request-log.ts';
import { withApp } from '../support/app.ts';

const holder = withApp();

const shape = z.strictObject({ id: z.number(), owner: z.strictObject({ name: z.string() }) });
/** As shapes that both programs use: it drops what it does not know. */
const looseShape = z.object({ id: z.number(), owner: z.object({ name: z.string() }) });
const good = { id: 1, owner: { name: 'Ann' } };

test('an answer as declared passes the check', async (t) => {
  for (const returns of [shape, looseShape]) {
    t.deepEqual(await answerOf(t, { returns, answer: good }), { status: 200, body: good, errors: [] });
  }
});

const faulty: Record<string, unknown> = {
  'one more key': { ...good, more: 1 },
  'one more key deeper down': { ...good, owner: { name: 'Ann', email: 'ann@example.com' } },
  'a key less': { id: 1 },
  'another type': { ...good, id: '1' },
  null: null,
};

for (const [fault, answer] of Object.entries(faulty)) {
  test(`an answer that is not as declared fails the run: ${fault}`, async (t) => {
    for (const returns of [shape, looseShape]) {
      for (const given of [answer, reply({ body: answer })]) {
        const { status, body, errors } = await answerOf(t, { returns, answer: given });
        t.is(status, 500);
        t.deepEqual(body, { message: '500 Internal Server Error' });
        t.is(errors.length, 1);
      }
    }
  });
}

test('each item of a list is checked', async (t) => {
  const list = (...items: unknown[]) => ({ returns: shape, list: true, answer: new PageAnswer(items, 2) });
  t.is((await answerOf(t, list(good, good))).status, 200);
  t.is((await answerOf(t, list(good, { ...good, more: 1 }))).status, 500);
});

test('what goes wrong unforeseen is told to the log alone', async (t) => {
  const { status, body, errors } = await answerOf(t, {
    returns: shape,
    answer: () => {
      throw new Error('the inner reason');
    },
  });
  t.is(status, 500);
  t.deepEqual(body, { message: '500 Internal Server Error' });
  t.true(errors[0]?.includes('the inner reason'));
});

interface Served {
  returns: z.ZodType;
  list?: boolean;
  /** What the handler gives back; a function is run. */
  answer: unknown;
}

/** Answer of an application with one endpoint, and what it logged as errors. */
async function answerOf(t: ExecutionContext, { returns, list = false, answer }: Served) {
  const lines: string[] = [];
  const declared: Endpoint = endpoint({
    method: 'GET',
    path: '/thing',
    summary: 'A thing',
    access: anyone(),
    returns,
    list,
    run: async () => (typeof answer === 'function' ? answer() : answer),
  });
  const app = new Koa();
  app.use(requestLog(pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })));
  const { services } = holder.app;
  app.use(mount([declared], { prefix: '/api', services, options: { checkAnswers: true } }).routes());
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/thing`);
  return { status: response.status, body: await response.json(), errors: lines };
}
