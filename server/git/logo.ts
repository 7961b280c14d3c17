import type { CatFile } from './cat-file.ts';
import { lookUpRef } from './refs.ts';

/** Names of pictures that stand for a project; an earlier one goes before a later one. */
const names = ['logo.png', 'logo.jpg', 'logo.gif'];

export interface Logo {
  name: string;
  /** Of its blob. */
  id: string;
}

/**
 * The picture among the files at the top of a branch that stands for the project; null without one. Links, folders and
 * submodules are none, whatever they are called.
 *
 * @param branch its short name.
 */
export async function findLogo(objects: CatFile, dir: string, branch: string): Promise<Logo | null> {
  const head = await lookUpRef(objects, dir, `refs/heads/${branch}`);
  const root = head && (await objects.readRoot(dir, head));
  const tree = root && (await objects.readTree(dir, root));
  if (!tree) return null;
  for (const name of names) {
    const entry = tree.find(name);
    if (entry?.mode === '100644' || entry?.mode === '100755') return { name, id: entry.id };
  }
  return null;
}
