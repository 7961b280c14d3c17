import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Work } from '../services.ts';
import type { Access } from './access.ts';
import type { Answer, PageAnswer } from './answers.ts';
import type { BodySize } from './body.ts';
import type { PageRequest } from './paginate.ts';
import type { Params, Values } from './params.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The argument of a handler: what the access step loaded, the parameters, and the services. */
export type Call<S, P extends Params> = S & {
  params: Values<P>;
  /** `em` in here is inside the request's transaction for every method but GET. */
  work: Work;
  page: PageRequest;
  header(name: string): string;
  /** IP address of whoever is at the other end of the connection. */
  address: string;
  /** What was taken off the end of the path, though it may belong to a name; mostly empty. */
  suffix: string;
  /** The unread body, on endpoints with `body: 'stream'`. */
  stream: Readable;
  /** Fires when the client goes away. */
  signal: AbortSignal;
};

/** One endpoint as data: everything that is said about it is said here. */
export interface Endpoint<S = unknown, P extends Params = Params, R = unknown> {
  method: Method;
  /** Below the prefix of its interface, with `:name` for path parameters. */
  path: string;
  /** One sentence for the OpenAPI document. */
  summary: string;
  access: Access<S>;
  params?: P;
  /** Status of success: 201 for POST and 200 for the others when not given. */
  status?: number;
  /** A creation whose documented `status` is none of a creation; a setting of the server turns it into 201. */
  creates?: boolean;
  /** Shape of the answer, or of one item when `list` is set. */
  returns: z.ZodType<R>;
  /** The answer is a page of a list. */
  list?: boolean;
  /** Parameters are checked before the right. */
  paramsFirst?: boolean;
  /**
   * `stream`: the body is not read before the handler; `trace`: parameters up to the size of a trace; `files`: up to
   * that of files, where a large body is read only for callers whom the header or the query names.
   */
  body?: BodySize | 'stream';
  /** False where the handler opens its own transactions because something else must come in between. */
  transaction?: boolean;
  run(call: Call<S, P>): Promise<R | Answer | PageAnswer<R>>;
}

/** Declares an endpoint; the types of access and parameters flow into `run`. */
export function endpoint<S, P extends Params, R>(declared: Endpoint<S, P, R>): Endpoint {
  return declared as unknown as Endpoint;
}
