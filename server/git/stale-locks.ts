import type { Dirent } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes what killed git processes leave in a repository and no later one clears away: lock files, which
 * would block their ref for good, and half-received packs. Only what has not been touched for `olderThanMs`
 * goes; choose it longer than any git process may run. Gives back the paths removed, below the repository.
 */
export async function removeStaleLocks(dir: string, olderThanMs: number): Promise<string[]> {
  const oldest = Date.now() - olderThanMs;
  const removed: string[] = [];
  for (const path of await leftovers(dir)) {
    const found = await stat(join(dir, path)).catch(() => null);
    if (found === null || found.mtimeMs > oldest) continue;
    await rm(join(dir, path), { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}

async function leftovers(dir: string): Promise<string[]> {
  const top = (await list(dir)).map(({ name }) => name);
  const objects = (await list(join(dir, 'objects'))).map(({ name }) => join('objects', name));
  const packs = (await list(join(dir, 'objects', 'pack'))).map(({ name }) => join('objects', 'pack', name));
  return [
    ...top.filter((name) => name.endsWith('.lock') || name === 'packed-refs.new'),
    ...objects.filter((path) => /\/(incoming|tmp_objdir)-[^/]*$/.test(path)),
    ...packs.filter((path) => /\/tmp_[^/]*$/.test(path)),
    ...(await locksBelow(dir, 'refs')),
  ];
}

async function locksBelow(dir: string, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await list(join(dir, folder))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await locksBelow(dir, path)));
    else if (entry.name.endsWith('.lock')) found.push(path);
  }
  return found;
}

async function list(path: string): Promise<Dirent[]> {
  // A folder that git removed in the meantime has nothing left to clear.
  return readdir(path, { withFileTypes: true }).catch(() => []);
}
