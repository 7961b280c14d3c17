import { type IncomingHttpHeaders, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

export interface RawAnswer<T = unknown> {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  /** Undefined unless it is JSON. */
  json: T;
}

export interface RawRequest {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** A text or a buffer goes with its length, anything else in chunks without one. */
  body?: string | Buffer | AsyncIterable<Buffer>;
}

/** One request on a connection of its own, with nothing added that a client of the time would not send. */
export function rawHttp<T = unknown>(
  url: string,
  method: string,
  { headers = {}, json, body }: RawRequest = {},
): Promise<RawAnswer<T>> {
  const sent = json === undefined ? body : JSON.stringify(json);
  const type = json === undefined ? {} : { 'Content-Type': 'application/json' };
  const isWhole = sent === undefined || typeof sent === 'string' || Buffer.isBuffer(sent);
  const length: Record<string, string> = isWhole
    ? { 'Content-Length': String(Buffer.byteLength(sent ?? '')) }
    : { 'Transfer-Encoding': 'chunked' };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent: false, headers: { ...type, ...length, ...headers } });
    let isAnswered = false;
    // Where the server answers early and closes, what was still to be sent fails; the answer counts.
    outgoing.on('error', (error) => !isAnswered && reject(error));
    outgoing.on('response', (response) => {
      isAnswered = true;
      buffer(response).then((bytes) => {
        const text = bytes.toString();
        const isJson = response.headers['content-type'] === 'application/json' && text !== '';
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          text,
          json: (isJson ? JSON.parse(text) : undefined) as T,
        });
      }, reject);
    });
    if (isWhole) outgoing.end(sent);
    else
      Readable.from(sent)
        .on('error', () => outgoing.destroy())
        .pipe(outgoing);
  });
}

export interface FormPart {
  name: string;
  /** Makes it a file. */
  filename?: string;
  content: string | Buffer | AsyncIterable<Buffer>;
}

export const formType = 'multipart/form-data; boundary=form-boundary-1';

/** A multipart body, part by part as it is given. */
export async function* form(parts: FormPart[]): AsyncGenerator<Buffer> {
  for (const { name, filename, content } of parts) {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const type = filename === undefined ? '' : 'Content-Type: application/octet-stream\r\n';
    yield Buffer.from(
      `--form-boundary-1\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${type}\r\n`,
    );
    if (typeof content === 'string' || Buffer.isBuffer(content)) yield Buffer.from(content);
    else yield* content;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from('--form-boundary-1--\r\n');
}
