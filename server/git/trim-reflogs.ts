import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkRefName } from './ref-name.ts';

const day = 86_400;
/** Lines that are older go. */
const keptSeconds = 90 * day;
/** Lines that are younger stay, however many there are. */
const leastSeconds = day;
/** Bytes of a log from which on its older half goes early. */
const largest = 1024 * 1024;
const head = 4096;

/**
 * Shortens the logs of refs, which would grow for ever. The newest line of each stays: it says where the ref was when
 * its log was last written.
 *
 * @param git carries out a command of git; that it did not work out is no fault: the ref may be gone or in use.
 */
export async function trimReflogs(dir: string, git: (args: string[]) => Promise<unknown>): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  for await (const ref of logs(join(dir, 'logs'), '')) {
    const cutoff = await cutoffOf(join(dir, 'logs', ref), now);
    if (cutoff === null) continue;
    const date = `@${cutoff} +0000`;
    await git(['reflog', 'expire', `--expire=${date}`, `--expire-unreachable=${date}`, ref]);
  }
}

async function* logs(root: string, folder: string): AsyncGenerator<string> {
  // A folder may be gone with its last branch.
  for (const entry of await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* logs(root, path);
    else if (path === 'HEAD' || checkRefName(path)) yield path;
  }
}

/** The moment before which lines go, in seconds; null when none would. */
async function cutoffOf(path: string, now: number): Promise<number | null> {
  const handle = await open(path, 'r').catch(() => null);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const [first] = timesIn(await read(handle, 0, head));
    const tail = timesIn(await read(handle, Math.max(0, size - largest / 2), largest / 2));
    const last = tail.at(-1);
    if (first === undefined || last === undefined) return null;
    const half = size > largest ? (tail[0] ?? 0) : 0;
    const cutoff = Math.min(Math.max(now - keptSeconds, half), now - leastSeconds, last);
    return first < cutoff ? cutoff : null;
  } finally {
    await handle.close();
  }
}

async function read(handle: FileHandle, start: number, size: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, start);
  return buffer.toString('latin1', 0, bytesRead);
}

/** When what the lines say took place, in seconds. */
function timesIn(text: string): number[] {
  return [...text.matchAll(/^[0-9a-f]{40} [0-9a-f]{40} [^<>\n]*<[^<>\n]*> (\d{1,11}) [+-]\d{4}\t?/gm)].map(
    ([, seconds]) => Number(seconds),
  );
}
