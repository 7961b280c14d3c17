import { isUtf8 } from 'node:buffer';
import { GitError } from './errors.ts';

export type EntryType = 'tree' | 'blob' | 'commit';

/** One line of a tree. */
export interface TreeEntry {
  /** As it is shown: what is no UTF-8 is read as latin-1. */
  name: string;
  /** Its bytes, one per character. */
  rawName: string;
  /** Six octal digits. */
  mode: string;
  /** `commit`: a submodule. */
  type: EntryType;
  id: string;
}

/** A folder as git keeps it: one level of names. */
export class Tree {
  /** In git's order. */
  readonly entries: readonly TreeEntry[];
  /** Bytes of memory that it takes, about. */
  readonly weight: number;
  /** How many entries there are in it and in all trees below it, once somebody has counted. */
  total: number | null = null;
  #listed: readonly TreeEntry[] | null = null;
  #byName: Map<string, TreeEntry> | null = null;

  constructor(entries: readonly TreeEntry[], size: number) {
    this.entries = entries;
    // Both orders and the names' index, once they are asked for, cost about as much as the entries themselves.
    this.weight = 200 + entries.length * 300 + size;
  }

  /** Folders first, then files, then submodules, each in the byte order of their names. */
  get listed(): readonly TreeEntry[] {
    this.#listed ??= [...this.entries].sort((a, b) => rank[a.type] - rank[b.type] || compare(a, b));
    return this.#listed;
  }

  /** The entry that is shown under a name. Of two whose bytes differ, the one in UTF-8. */
  find(name: string): TreeEntry | null {
    this.#byName ??= indexOf(this.entries);
    return this.#byName.get(name) ?? null;
  }
}

const rank: Record<EntryType, number> = { tree: 0, blob: 1, commit: 2 };

function compare({ rawName: a }: TreeEntry, { rawName: b }: TreeEntry): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function indexOf(entries: readonly TreeEntry[]): Map<string, TreeEntry> {
  const byName = new Map<string, TreeEntry>();
  for (const entry of entries) {
    const other = byName.get(entry.name);
    // Shown otherwise than by its bytes: UTF-8 beyond ASCII.
    if (other && other.name !== other.rawName) continue;
    byName.set(entry.name, entry);
  }
  return byName;
}

const space = 0x20;
const idLength = 20;

/** One line of a tree object as it stands there. */
export interface RawEntry {
  /** Octal, as it was written. */
  mode: string;
  /** Bytes, one per character. */
  rawName: string;
  id: string;
}

/** Reads the bytes of a tree object, in git's order. @throws GitError when they are none. */
export function* rawEntries(bytes: Buffer): Generator<RawEntry> {
  for (let at = 0; at < bytes.length; ) {
    const modeEnd = bytes.indexOf(space, at);
    const nameEnd = bytes.indexOf(0, modeEnd);
    const end = nameEnd + 1 + idLength;
    if (modeEnd === -1 || nameEnd === -1 || end > bytes.length) {
      throw new GitError({ attempted: 'read a tree', stderr: `senseless from byte ${at} on` });
    }
    yield {
      mode: bytes.toString('latin1', at, modeEnd),
      rawName: bytes.toString('latin1', modeEnd + 1, nameEnd),
      id: bytes.toString('hex', nameEnd + 1, end),
    };
    at = end;
  }
}

/** Reads the bytes of a tree object. @throws GitError when they are none. */
export function parseTree(bytes: Buffer): Tree {
  const entries: TreeEntry[] = [];
  for (const { mode, rawName, id } of rawEntries(bytes)) {
    entries.push({ name: shownName(rawName), rawName, ...kindOf(mode), id });
  }
  return new Tree(entries, bytes.length);
}

/** @param raw bytes, one per character. */
export function shownName(raw: string): string {
  if (!/[\u0080-\u00ff]/.test(raw)) return raw;
  const bytes = Buffer.from(raw, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : raw;
}

interface Kind {
  mode: string;
  type: EntryType;
}

const kinds = {
  folder: { mode: '040000', type: 'tree' },
  file: { mode: '100644', type: 'blob' },
  program: { mode: '100755', type: 'blob' },
  link: { mode: '120000', type: 'blob' },
  submodule: { mode: '160000', type: 'commit' },
} as const satisfies Record<string, Kind>;

/** Old programs wrote other rights and zeros in front; git reads them as these five all the same. */
function kindOf(octal: string): Kind {
  const mode = Number.parseInt(octal, 8);
  const format = mode & 0o170000;
  if (format === 0o100000) return (mode & 0o100) === 0 ? kinds.file : kinds.program;
  if (format === 0o040000) return kinds.folder;
  return format === 0o120000 ? kinds.link : kinds.submodule;
}
