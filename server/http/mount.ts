import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Services, Work } from '../services.ts';
import { inTransaction } from '../sql.ts';
import { Answer, PageAnswer } from './answers.ts';
import { type BodySize, hasLargeBody, readBody } from './body.ts';
import { clientGone } from './client-gone.ts';
import type { Call, Endpoint } from './endpoint.ts';
import { IndexedRouter } from './indexed-router.ts';
import { loadScope } from './load-scope.ts';
import { pathParams } from './normalize.ts';
import { listNames, type Params, readPage, readParams } from './params.ts';
import { type ListNames, parseQueryString } from './query-string.ts';
import { respond } from './respond.ts';

export interface MountOptions {
  /** Compare every answer with the declared shape, and fail on a difference: for tests. */
  checkAnswers: boolean;
}

/** A router with every endpoint of one interface below `prefix`. */
export function mount(
  endpoints: readonly Endpoint[],
  { prefix, services, options }: { prefix: string; services: Services; options: MountOptions },
): Router {
  const router = new IndexedRouter(prefix);
  const em = services.orm.em.fork() as Work['em'];
  for (const declared of endpoints) {
    const how = { ...options, lists: listNames(declared.params) };
    router.register(declared.path, [declared.method], async (ctx: Context) => {
      ctx.state.endpoint = declared;
      // Each time: the services get to know of each other while the server starts.
      const work = { ...services, em, origin: originOf(ctx, services) };
      await serve(ctx, declared, work, how);
    });
  }
  return router;
}

/** The order of checks, for every endpoint: who, may he see it, may he do it, parameters, action. */
async function serve(
  ctx: Context,
  declared: Endpoint,
  work: Work,
  { checkAnswers, lists }: MountOptions & { lists: ListNames },
): Promise<void> {
  const query = parseQueryString(ctx.querystring, lists);
  const isStream = declared.body === 'stream';
  const header = headersOf(ctx);
  const { access } = declared;
  const inPath = pathParams(ctx, declared.path);
  if (declared.body === 'files' && hasLargeBody(ctx.req)) {
    access.check(await access.load({ work, raw: { ...query, ...inPath }, header }));
  }
  const body = isStream ? {} : await readBody(ctx, sizeOf(declared), lists);
  const raw: Record<string, unknown> = { ...query, ...body, ...inPath };
  const scope = await loadScope(ctx, declared, { work, raw, header });
  ctx.state.viewer = (scope as { viewer?: { id: number } | null }).viewer?.id;
  if (!declared.paramsFirst) access.check(scope);
  const params = readParams(declared.params ?? {}, raw);
  if (declared.paramsFirst) access.check(scope);
  const page = readPage(raw);
  const call = Object.assign(new Rest(ctx, isStream), scope, { params, page, header });
  const result = await runIn(work, declared, (inner) =>
    declared.run(Object.assign(call, { work: inner }) as unknown as Call<unknown, Params>),
  );
  if (checkAnswers) checkAnswer(declared, result);
  respond(ctx, {
    endpoint: declared,
    result,
    page,
    origin: work.origin,
    query,
    createStatus: work.createStatus,
  });
}

/** Made here, since the loader names each function that is made in place, at a cost that every request would bear. */
function headersOf(ctx: Context): (name: string) => string {
  return (name) => ctx.get(name);
}

function sizeOf({ body }: Endpoint): BodySize {
  return body === undefined || body === 'stream' ? 'usual' : body;
}

/** What few handlers ask for, made when they do. */
class Rest {
  readonly #ctx: Context;
  readonly #isStream: boolean;

  constructor(ctx: Context, isStream: boolean) {
    this.#ctx = ctx;
    this.#isStream = isStream;
  }

  get stream(): Readable {
    return this.#isStream ? this.#ctx.req : Readable.from([]);
  }

  get address(): string {
    return this.#ctx.ip;
  }

  get suffix(): string {
    return this.#ctx.state.suffix ?? '';
  }

  get signal(): AbortSignal {
    return clientGone(this.#ctx);
  }
}

/** Writing endpoints run in one transaction; the answer is sent after its commit. */
async function runIn<T>(work: Work, declared: Endpoint, run: (work: Work) => Promise<T>): Promise<T> {
  if (declared.method === 'GET' || declared.transaction === false) return run(work);
  return inTransaction(work, run);
}

/** @throws Error when an answer is not as declared, or says more than that. */
function checkAnswer(declared: Endpoint, result: unknown): void {
  for (const value of answeredValues(result)) {
    const json = asJson(value);
    // Shapes that runners share let further keys pass and drop them, so that only the comparison shows those.
    if (isDeepStrictEqual(declared.returns.parse(json), json)) continue;
    throw new Error(`${declared.method} ${declared.path} answers more than it declares`);
  }
}

function answeredValues(result: unknown): unknown[] {
  if (result instanceof PageAnswer) return result.items;
  if (!(result instanceof Answer)) return [result];
  return result.body === undefined ? [] : [result.body];
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

/** Where the client reached us, unless the administrator fixed the address. */
export function originOf(ctx: Context, services: Services): string {
  const host = ctx.get('host');
  if (services.baseUrlFixed || !/^[A-Za-z0-9.:[\]-]{1,255}$/.test(host)) return services.baseUrl;
  return `${ctx.protocol}://${host}`;
}
