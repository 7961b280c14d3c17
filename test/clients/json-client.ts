import { loadClient, type Place } from './client-test.ts';

interface Handed {
  statusCode: number;
  body: Record<string, unknown> & { id: number };
}
interface Options {
  endpoint: string;
  token?: string;
  body?: unknown;
  json?: boolean;
  encoding?: null;
}
type Send = (path: string, options: Options) => Promise<Handed>;
type Client = Record<'get' | 'post' | 'put' | 'delete', Send>;

const library = loadClient<Client>('gl-got');

/** An answer as it came. */
export async function bytesOf({ api, token }: Place, path: string): Promise<Buffer> {
  const options = { endpoint: `${api}/`, token, json: false, encoding: null };
  const body: unknown = (await library?.get(path, options))?.body;
  if (Buffer.isBuffer(body)) return body;
  throw new Error('no bytes');
}

/** Signed in as whoever the place says, with the parameters as JSON. */
export function send(place: Place, method: keyof Client, path: string, body?: unknown): Promise<Handed> {
  if (!library) throw new Error('not installed');
  const options = { endpoint: `${place.api}/`, token: place.token };
  return library[method](path, body === undefined ? options : { ...options, body });
}

/** Of an answer that the client rejects. */
export async function statusOf(
  place: Place,
  method: keyof Client,
  path: string,
  body?: unknown,
): Promise<number | undefined> {
  return send(place, method, path, body).then(
    ({ statusCode }) => statusCode,
    (error: { statusCode?: number }) => error.statusCode,
  );
}
