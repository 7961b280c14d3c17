import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { z } from 'zod';
import { anyone, signedIn } from '../../server/http/access.ts';
import { PageAnswer } from '../../server/http/answers.ts';
import { endpoint, type Method } from '../../server/http/endpoint.ts';
import { mount } from '../../server/http/mount.ts';
import { flag, integer, optional, text, words } from '../../server/http/params.ts';
import { requestLog } from '../../server/http/request-log.ts';
import type { Services } from '../../server/services.ts';
import { sql } from '../../server/sql.ts';

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const Echo = z.strictObject({ viewer: z.string().nullable(), given: z.record(z.string(), z.unknown()) });

function echo(method: Method) {
  return endpoint({
    method,
    path: '/echo/:id',
    summary: 'What was read',
    access: anyone(),
    status: 200,
    params: {
      name: optional(text()),
      number: optional(integer()),
      yes: optional(flag()),
      labels: optional(words()),
    },
    returns: Echo,
    run: async ({ viewer, params }) => ({ viewer: viewer?.username ?? null, given: params }),
  });
}

const label = endpoint({
  method: 'POST',
  path: '/labels',
  summary: 'A creation that is documented as 200',
  access: anyone(),
  status: 200,
  creates: true,
  returns: z.boolean(),
  run: async () => true,
});

const strict = endpoint({
  method: 'POST',
  path: '/strict',
  summary: 'Three attributes that must be there',
  access: signedIn(),
  params: { zeta: text(), alpha: text(), mid: optional(text()), beta: integer() },
  returns: z.boolean(),
  run: async () => true,
});

const list = endpoint({
  method: 'GET',
  path: '/list',
  summary: 'As many items as asked for',
  access: anyone(),
  params: { total: integer(), scope: optional(words()), q: optional(text()) },
  returns: z.number(),
  list: true,
  run: async ({ params, page }) => {
    const all = Array.from({ length: params.total }, (_, index) => index);
    const start = (page.page - 1) * page.perPage;
    return new PageAnswer(all.slice(start, start + page.perPage), params.total);
  },
});

const broken = endpoint({
  method: 'GET',
  path: '/broken',
  summary: 'Fails in a way that nobody foresaw',
  access: anyone(),
  returns: z.null(),
  run: async () => {
    throw new Error('the secret cause');
  },
});

const undo = endpoint({
  method: 'POST',
  path: '/undo',
  summary: 'Writes, and then fails',
  access: anyone(),
  returns: z.null(),
  async run({ work }) {
    await sql(work.em, `insert into tag_sets (tags) values ('{undone}')`);
    throw new Error('after the write');
  },
});

/** A small application with endpoints that show what the frame does. */
export async function serveFrame(services: Services): Promise<{ url: string; server: Server }> {
  const app = new Koa();
  // Tells of clients that went away; without a listener, on the terminal.
  app.on('error', () => undefined);
  app.use(requestLog(services.log));
  const endpoints = [...methods.map(echo), strict, label, list, broken, undo];
  app.use(mount(endpoints, { prefix: '/t', services, options: { checkAnswers: true } }).routes());
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
