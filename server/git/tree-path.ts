import type { CatFile } from './cat-file.ts';
import { type EntryType, shownName } from './tree.ts';

/** What a path leads to. */
export interface PathEntry {
  type: EntryType;
  id: string;
  mode: string;
  /** The bytes of its whole path, one per character. */
  rawPath: string;
}

/**
 * Follows a path through a commit, by the names that `TreeEntry` shows. Links are not followed.
 *
 * @param path the names of folders and, last, of the entry; none: the root.
 */
export async function findPath(
  objects: CatFile,
  dir: string,
  { commit, path }: { commit: string; path: readonly string[] },
): Promise<PathEntry | null> {
  const root = await objects.readRoot(dir, commit);
  if (root === null) return null;
  let at: PathEntry = { type: 'tree', id: root, mode: '040000', rawPath: '' };
  for (const name of path) {
    const tree = at.type === 'tree' ? await objects.readTree(dir, at.id) : null;
    const entry = tree?.find(name);
    if (!entry) return null;
    const { type, id, mode, rawName } = entry;
    at = { type, id, mode, rawPath: at.rawPath === '' ? rawName : `${at.rawPath}/${rawName}` };
  }
  return at;
}

/** Readings of a path that are tried; each more makes git compare more. */
const mostReadings = 16;

/**
 * The paths that the names of `TreeEntry` may stand for in the history of a commit: the one that is there in the
 * commit itself, else the readings that a file which is there no more can have had.
 *
 * @returns bytes of each, one per character.
 */
export async function rawPathsOf(
  objects: CatFile,
  dir: string,
  { commit, path }: { commit: string; path: readonly string[] },
): Promise<string[]> {
  const found = path.some(mayBeLatin) ? await findPath(objects, dir, { commit, path }) : null;
  if (found) return [found.rawPath];
  let readings = [''];
  for (const [index, name] of path.entries()) {
    const asUtf8 = Buffer.from(name).toString('latin1');
    const isDouble = mayBeLatin(name) && readings.length < mostReadings;
    const names = isDouble ? [asUtf8, name] : [asUtf8];
    readings = readings.flatMap((before) => names.map((next) => (index === 0 ? next : `${before}/${next}`)));
  }
  return readings;
}

/** Whether bytes that are no UTF-8 can be shown under this name. */
function mayBeLatin(name: string): boolean {
  return /[\u0080-\u00ff]/.test(name) && !/[^\0-\u00ff]/.test(name) && shownName(name) === name;
}
