import type { CatFile } from './cat-file.ts';
import type { Identity } from './environment.ts';
import { GitError, RefConflictError } from './errors.ts';
import { checkRefName, isSha, readShortSha, zeroSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

export interface Ref {
  /** In full, such as `refs/heads/master`. */
  name: string;
  /** What the ref holds; for an annotated tag the tag object. */
  sha: string;
  /** The commit it leads to; null when it leads to something else. */
  commit: string | null;
}

/**
 * The commit a name leads to, or null. Understands full ids, full ref names, branches, tags, `HEAD` and ids in either
 * case or their beginnings, of at least 4 digits, in this order; a branch wins over a tag of the same name. The
 * beginning of several ids of commits leads to none.
 */
export async function resolveCommit(objects: CatFile, dir: string, name: string): Promise<string | null> {
  for (const candidate of candidates(name)) {
    const found = await objects.readInfo(dir, `${candidate}^{commit}`);
    if (found !== null) return found.sha;
  }
  return null;
}

function candidates(name: string): string[] {
  if (isSha(name) || name === 'HEAD') return [name];
  const named = [`refs/heads/${name}`, `refs/tags/${name}`].filter((ref) => checkRefName(ref));
  const full = checkRefName(name) ? [name] : [];
  const id = readShortSha(name);
  return [...full, ...named, ...(id === null ? [] : [id])];
}

/** Branches and tags in git's order, or the refs below the given full prefixes (`refs/heads`). */
export async function listRefs(
  dir: string,
  prefixes: readonly string[] = ['refs/heads', 'refs/tags'],
): Promise<Ref[]> {
  const format = '%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)';
  const args = ['for-each-ref', `--format=${format}`, '--', ...prefixes];
  const { stdout } = await runGit({ dir, args, attempted: 'list refs', limit: 256 * 1024 * 1024 });
  const lines = stdout.toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map(toRef);
}

function toRef(line: string): Ref {
  const [name = '', sha = '', type, peeled = '', peeledType] = line.split('\0');
  if (type === 'commit') return { name, sha, commit: sha };
  return { name, sha, commit: peeledType === 'commit' ? peeled : null };
}

/** What a ref holds now, given its full name; null when it does not exist. */
export async function readRef(dir: string, ref: string): Promise<string | null> {
  return (await readRefs(dir, [ref])).get(ref) ?? null;
}

/** As `readRef`, without a process of its own where one is at work on the repository. */
export async function lookUpRef(objects: CatFile, dir: string, ref: string): Promise<string | null> {
  const found = checkRefName(ref) ? await objects.readInfo(dir, ref) : null;
  return found?.sha ?? null;
}

/** So many refs are looked up one by one; a process of its own finds more of them faster. */
const fewRefs = 10;

/** As `readRefs`, without a process of its own for a few refs that are all there. */
export async function lookUpRefs(
  objects: CatFile,
  dir: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length > fewRefs) return readRefs(dir, names);
  const held = new Map<string, string>();
  for (const name of names) {
    const sha = await lookUpRef(objects, dir, name);
    if (sha !== null) held.set(name, sha);
  }
  // One whose object cannot be read looks like one that is not there.
  const rest = names.filter((name) => !held.has(name));
  for (const [name, sha] of await readRefs(dir, rest)) held.set(name, sha);
  return held;
}

/** So many names fit on any command line. */
const atOnce = 200;

/** What refs hold now, given their full names; those that do not exist are left out. */
export async function readRefs(dir: string, names: readonly string[]): Promise<Map<string, string>> {
  const wanted = new Set(names.filter((name) => checkRefName(name)));
  const held = new Map<string, string>();
  const all = [...wanted];
  for (let index = 0; index < all.length; index += atOnce) {
    const refs = await listRefs(dir, all.slice(index, index + atOnce));
    // A name also stands for the refs below it as if it were a folder.
    for (const { name, sha } of refs) if (wanted.has(name)) held.set(name, sha);
  }
  return held;
}

export interface RefUpdate {
  dir: string;
  /** In full. */
  ref: string;
  /** 40 zeros delete the ref. */
  newSha: string;
  /** 40 zeros: the ref must not exist. */
  expectedOld: string;
  identity: Identity;
}

/**
 * Moves one ref if it still is where the caller saw it. Throws a RefConflictError when it is not, a GitError
 * when git refuses for another reason (no such object, a name in the way of another).
 */
export async function updateRef(update: RefUpdate): Promise<void> {
  const { dir, ref, newSha, expectedOld } = update;
  const attempted = `move ${ref} from ${expectedOld} to ${newSha}`;
  if (!checkRefName(ref) || !isSha(newSha) || !isSha(expectedOld)) {
    throw new GitError({ attempted, stderr: 'not a ref name or not an object id' });
  }
  const isDeletion = newSha === zeroSha;
  const input = isDeletion ? `delete ${ref}\0${expectedOld}\0` : `update ${ref}\0${newSha}\0${expectedOld}\0`;
  const args = ['update-ref', '-m', 'update', '--stdin', '-z'];
  try {
    await runGit({ dir, args, input, attempted, identity: update.identity });
  } catch (cause) {
    const actual = await readRef(dir, ref);
    if ((actual ?? zeroSha) === expectedOld || !(cause instanceof GitError)) throw cause;
    throw new RefConflictError({ attempted, actual, stderr: cause.stderr, exitCode: cause.exitCode, cause });
  }
}

/** Keeps commits and their history reachable, whatever happens to branches; hidden from clients. */
export async function keepAround(dir: string, ...shas: string[]): Promise<void> {
  const attempted = `keep ${shas.join(', ')} reachable`;
  if (!shas.every(isSha)) throw new GitError({ attempted, stderr: 'not an object id' });
  const input = [...new Set(shas)].map((sha) => `update refs/keep-around/${sha}\0${sha}\0\0`).join('');
  // These refs never move, so a log of each would be a file for nothing.
  const config = [['core.logAllRefUpdates', 'false']] as const;
  await runGit({ dir, args: ['update-ref', '--stdin', '-z'], input, attempted, config });
}
