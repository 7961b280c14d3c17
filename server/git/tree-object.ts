import { rawEntries } from './tree.ts';

/** What a tree says of one name. */
export interface TreeEntry {
  /** As in the object: `100644`, `100755`, `120000` a symbolic link, `160000` a submodule, `40000` a folder. */
  mode: string;
  sha: string;
}

/**
 * The entries of a tree object by name. A name is any bytes but NUL and the slash, and comes as a text of one
 * character for each byte.
 */
export type TreeEntries = Map<string, TreeEntry>;

export const folderMode = '40000';

/** Reads the bytes of a tree object. @throws GitError when they are none: what is left out would be lost. */
export function parseTree(data: Buffer): TreeEntries {
  const entries: TreeEntries = new Map();
  for (const { mode, rawName, id } of rawEntries(data)) {
    // Old tools wrote folders with a zero in front.
    entries.set(rawName, { mode: mode.replace(/^0+/, ''), sha: id });
  }
  return entries;
}

/** The bytes of a tree object with these entries, in git's order. */
export function formatTree(entries: TreeEntries): Buffer {
  const sorted = [...entries].map(([name, entry]) => ({ name, entry, key: sortKey(name, entry) }));
  // Comparing characters compares bytes: each stands for one.
  sorted.sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ name, entry }) => [
      Buffer.from(`${entry.mode} ${name}\0`, 'latin1'),
      Buffer.from(entry.sha, 'hex'),
    ]),
  );
}

/** Folders stand where they would with a slash behind them. */
function sortKey(name: string, { mode }: TreeEntry): string {
  return mode === folderMode ? `${name}/` : name;
}
