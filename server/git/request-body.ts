import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GitProtocolError } from './errors.ts';
import type { GitProcess } from './run-git.ts';

/** The body as git reads it. More than `limit` unpacked bytes make it fail with a GitProtocolError. */
export function decodeBody(
  body: Readable,
  options: { gzip?: boolean | undefined; limit?: number } = {},
): Readable {
  if (!options.gzip && options.limit === undefined) return body;
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  return Readable.from(bounded(options.gzip ? inflate(body) : body, limit), { objectMode: false });
}

function inflate(body: Readable): Readable {
  const gunzip = createGunzip();
  body.pipe(gunzip);
  body.once('error', (error) => gunzip.destroy(error));
  body.once('close', () => {
    if (!body.readableEnded) gunzip.destroy(new GitProtocolError('the client went away'));
  });
  // The client hears of a broken body only once it has sent all of it.
  gunzip.once('error', () => body.resume());
  return gunzip;
}

async function* bounded(source: Readable, limit: number): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limit) break;
      yield chunk;
    }
  } catch (cause) {
    const isBadZip = String((cause as NodeJS.ErrnoException).code).startsWith('Z_');
    throw isBadZip ? new GitProtocolError('a body that is not gzip as it says', { cause }) : cause;
  }
  if (size <= limit) return;
  source.resume();
  throw new GitProtocolError(`a request of more than ${limit} bytes`);
}

/** Hands the body to git with back-pressure; what git does not want is read and dropped. */
export function feedGit(body: Readable, git: GitProcess): void {
  const { stdin } = git.child;
  body.pipe(stdin);
  stdin.once('close', () => {
    body.unpipe(stdin);
    body.resume();
  });
  body.on('error', () => stdin.destroy());
  body.once('close', () => {
    if (!body.readableEnded) stdin.destroy();
  });
}
