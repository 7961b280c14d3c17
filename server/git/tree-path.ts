import type { CatFile } from './cat-file.ts';
import type { EntryType } from './tree.ts';

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
