import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import Koa from 'koa';
import { z } from 'zod';
import { signedIn } from '../../server/http/access.ts';
import { type Endpoint, endpoint } from '../../server/http/endpoint.ts';
import { mount } from '../../server/http/mount.ts';
import { optional, text } from '../../server/http/params.ts';
import { withApp } from '../support/app.ts';
import { checkEndpoint } from './random-check.ts';
import { randomTests, seed } from './random-tests.ts';
import { type RandomWorld, randomWorld } from './random-world.ts';

const holder = withApp({ poolSize: 4 });

randomTests(holder, { isAdmin: false });

const faulty: Record<string, (given: string | undefined, world: RandomWorld) => Promise<unknown>> = {
  async 'an internal error for some values'(given) {
    if (given?.startsWith('-')) throw new Error('planted');
    return null;
  },
  'the token of somebody else': async (given, { secrets }) => (given === 'true' ? secrets[0]?.value : null),
  'no answer at all': (given) =>
    /^\d+$/.test(given ?? '') ? new Promise(() => undefined) : Promise.resolve(null),
};

for (const [fault, run] of Object.entries(faulty)) {
  test.serial(`random requests find ${fault}`, async (t) => {
    const world = await randomWorld(holder.app, { isAdmin: false });
    const broken = endpoint({
      method: 'POST',
      path: '/broken',
      summary: 'Is broken',
      access: signedIn(),
      params: { given: optional(text()) },
      returns: z.unknown(),
      transaction: false,
      run: ({ params }) => run(params.given, world),
    });
    const url = await serve(t, broken);
    const served = { name: 'POST /broken', prefix: '', endpoint: broken };
    const check = { url, world, requests: 1000, seed, patienceMs: 500 };
    const error = await t.throwsAsync(checkEndpoint(served, check));
    t.regex(error?.message ?? '', /POST \/broken\S* of .*: (?:500|no answer|201 tells a private token)/);
  });
}

/** Serves one endpoint on a port of its own. @returns its address. */
async function serve(t: ExecutionContext, broken: Endpoint): Promise<string> {
  const app = new Koa();
  app.silent = true;
  const options = { checkAnswers: false };
  app.use(mount([broken], { prefix: '', services: holder.app.services, options }).routes());
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
