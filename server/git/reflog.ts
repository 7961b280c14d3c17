import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from './errors.ts';
import { checkRefName, zeroSha } from './ref-name.ts';
import { readRefs } from './refs.ts';

export interface ReflogEntry {
  oldSha: string;
  newSha: string;
  email: string;
}

export interface AppliedQuestion {
  /** In full. */
  ref: string;
  oldSha: string;
  newSha: string;
  /** The e-mail of the identity the update ran under. */
  email: string;
  /** Whether another identity's update was recorded after the one asked about. */
  isLater?: (email: string) => boolean;
}

/** A power cut may leave a torn line or zero bytes in front of the next one; the last ids of a line are its own. */
const line = /^.*([0-9a-f]{40}) ([0-9a-f]{40}) [^<>]*<([^<>]*)> \d+ [+-]\d{4}(?:\t.*)?$/;

/** The entries of a ref's log, the oldest first. Lines that cannot be read are left out. */
export function parseReflog(text: string): ReflogEntry[] {
  return text.split('\n').flatMap((row) => {
    const [, oldSha, newSha, email] = line.exec(row) ?? [];
    return oldSha && newSha && email !== undefined ? [{ oldSha, newSha, email }] : [];
  });
}

/**
 * Whether an update of a ref took place, also when the process that made it was killed at any point. Git
 * writes the log before it moves the ref, so a line alone proves nothing: the line after it, or else the ref,
 * must go on from there.
 *
 * A deletion takes the log along. It counts as done when the ref is gone, or when the log starts with a
 * creation that came later. Updates made before a deletion can no longer be told from ones that never
 * happened, so settle those before letting a deletion through.
 */
export async function wasApplied(dir: string, question: AppliedQuestion): Promise<boolean> {
  const [verdict] = await wereApplied(dir, [question]);
  return verdict ?? false;
}

/**
 * The same for all refs of a push, in their order.
 *
 * @param read finds what refs hold now; `readRefs` unless told.
 */
export async function wereApplied(
  dir: string,
  questions: readonly AppliedQuestion[],
  read: (names: string[]) => Promise<Map<string, string>> = (names) => readRefs(dir, names),
): Promise<boolean[]> {
  // The refs before their logs: a move in between then only adds a line that agrees with what the ref was.
  const current = await read(questions.map(({ ref }) => ref));
  const verdicts: boolean[] = [];
  for (const question of questions) {
    const isName = checkRefName(question.ref);
    verdicts.push(isName && (await judge(dir, { question, current: current.get(question.ref) ?? null })));
  }
  return verdicts;
}

async function judge(
  dir: string,
  { question, current }: { question: AppliedQuestion; current: string | null },
): Promise<boolean> {
  const entries = await readReflog(dir, question);
  if (question.newSha === zeroSha) return current === null || wasRecreated(entries, question);
  const moved = entries.some((entry, index) => {
    if (!isAsked(entry, question)) return false;
    const next = entries[index + 1];
    return next === undefined ? current === entry.newSha : next.oldSha === entry.newSha;
  });
  return moved || hasLostLine(entries, question, current);
}

function isAsked(entry: ReflogEntry, question: AppliedQuestion): boolean {
  return (
    entry.email === question.email && entry.oldSha === question.oldSha && entry.newSha === question.newSha
  );
}

function wasRecreated(entries: ReflogEntry[], question: AppliedQuestion): boolean {
  const [first] = entries;
  if (first === undefined || first.oldSha !== zeroSha) return false;
  return question.isLater?.(first.email) ?? entries.every((entry) => entry.newSha !== question.oldSha);
}

/** Refs are synced to disk and their logs are not, so a power cut may take the last line and leave the move. */
function hasLostLine(entries: ReflogEntry[], question: AppliedQuestion, current: string | null): boolean {
  const logged = entries.at(-1)?.newSha ?? zeroSha;
  return current === question.newSha && logged === question.oldSha && current !== logged;
}

const tailSize = 256 * 1024;

/** The end of the log if the update asked about is there, else all of it: recent updates are what is asked for. */
async function readReflog(dir: string, question: AppliedQuestion): Promise<ReflogEntry[]> {
  const path = join(dir, 'logs', question.ref);
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new GitError({ attempted: `read the log of ${question.ref}`, cause: error });
  });
  if (handle === null) return [];
  try {
    const stats = await handle.stat();
    // Where refs/heads/a/b was before, its empty folder may still stand in the place of a log of refs/heads/a.
    if (stats.isDirectory()) return [];
    const tail = await readFrom(handle, { start: Math.max(0, stats.size - tailSize), size: stats.size });
    if (stats.size <= tailSize || tail.some((entry) => isAsked(entry, question))) return tail;
    return await readFrom(handle, { start: 0, size: stats.size });
  } finally {
    await handle.close();
  }
}

async function readFrom(
  handle: FileHandle,
  { start, size }: { start: number; size: number },
): Promise<ReflogEntry[]> {
  const buffer = Buffer.alloc(size - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return parseReflog(buffer.toString('utf8', 0, bytesRead));
}
