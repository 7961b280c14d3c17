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

/** Reads the bytes of a tree object; what git would not take for an entry, and all behind it, is left out. */
export function parseTree(data: Buffer): TreeEntries {
  const entries: TreeEntries = new Map();
  for (let start = 0; start < data.length; ) {
    const space = data.indexOf(0x20, start);
    const end = data.indexOf(0, space);
    if (space === -1 || end === -1 || end + 21 > data.length) break;
    // Old tools wrote folders with a zero in front.
    const mode = data.toString('latin1', start, space).replace(/^0+/, '');
    entries.set(data.toString('latin1', space + 1, end), {
      mode,
      sha: data.toString('hex', end + 1, end + 21),
    });
    start = end + 21;
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
