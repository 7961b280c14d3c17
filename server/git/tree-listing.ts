import type { CatFile } from './cat-file.ts';
import type { Tree, TreeEntry } from './tree.ts';

export interface ListedEntry extends TreeEntry {
  /** Path from the root of the repository, as it is shown. */
  path: string;
}

/** More lies below a folder than is walked through for one answer. */
export class TooManyEntries extends Error {}

export interface Walk {
  objects: CatFile;
  dir: string;
  /** Of the folder to list. */
  tree: string;
  /** Path of the folder from the root, with a slash at its end unless it is the root. */
  prefix: string;
  /** Fires when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** Folders that are looked into for one answer, counted each time. */
const mostVisits = 100_000;
const mostEntries = 10_000_000;

/**
 * A stretch of all that lies below a folder, each folder followed by what is in it, as `git ls-tree -r -t` has them,
 * and how many there are. Folders outside the stretch are only counted, and trees that are alike once, so that the
 * cost does not depend on how many entries a repository claims to have.
 *
 * @throws TooManyEntries
 */
export async function listBelow(
  walk: Walk,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ entries: ListedEntry[]; total: number }> {
  const walker = new Walker(walk);
  const total = await walker.count(walk.tree);
  if (offset < total) await walker.collect(walk.tree, walk.prefix, { skip: offset, limit });
  return { entries: walker.entries, total };
}

class Walker {
  readonly entries: ListedEntry[] = [];
  readonly #walk: Walk;
  #visits = 0;

  constructor(walk: Walk) {
    this.#walk = walk;
  }

  async count(id: string): Promise<number> {
    const tree = await this.#visit(id);
    if (tree.total !== null) return tree.total;
    let total = tree.entries.length;
    for (const entry of tree.entries) if (entry.type === 'tree') total += await this.count(entry.id);
    if (total > mostEntries) throw new TooManyEntries();
    tree.total = total;
    return total;
  }

  /** Adds what is wanted of a folder. @returns how many entries are still to be passed over after it. */
  async collect(id: string, prefix: string, wanted: { skip: number; limit: number }): Promise<number> {
    let { skip } = wanted;
    for (const entry of (await this.#visit(id)).entries) {
      if (this.entries.length === wanted.limit) return 0;
      const path = prefix + entry.name;
      if (skip > 0) skip -= 1;
      else this.entries.push({ ...entry, path });
      if (entry.type !== 'tree') continue;
      const below = skip > 0 ? await this.count(entry.id) : 0;
      if (skip > 0 && skip >= below) skip -= below;
      else skip = await this.collect(entry.id, `${path}/`, { ...wanted, skip });
    }
    return skip;
  }

  async #visit(id: string): Promise<Tree> {
    this.#walk.signal.throwIfAborted();
    this.#visits += 1;
    if (this.#visits > mostVisits) throw new TooManyEntries();
    const tree = await this.#walk.objects.readTree(this.#walk.dir, id);
    if (!tree) throw new Error(`the tree ${id} is missing`);
    return tree;
  }
}
