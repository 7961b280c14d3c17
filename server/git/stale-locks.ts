import type { Dirent } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** For how long something must not have been touched to count as left over: longer than any git may hold it. */
export interface StaleAfter {
  /** Of a ref, of the packed refs, of HEAD. */
  lockMs: number;
  /** Received or written in part, or kept from being joined with others. */
  packMs: number;
}

/**
 * Removes what killed git processes leave in a repository and no later one clears away: lock files, which
 * would block their ref for good, and packs that are not whole. Gives back the paths removed, below the repository.
 */
export async function removeStaleLocks(dir: string, { lockMs, packMs }: StaleAfter): Promise<string[]> {
  const now = Date.now();
  const removed: string[] = [];
  for (const path of await leftovers(dir)) {
    const found = await stat(join(dir, path)).catch(() => null);
    const limit = path.startsWith('objects/') ? packMs : lockMs;
    if (found === null || now - Math.floor(found.mtimeMs) < limit) continue;
    await rm(join(dir, path), { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}

async function leftovers(dir: string): Promise<string[]> {
  const top = (await list(dir)).map(({ name }) => name);
  const objects = (await list(join(dir, 'objects'))).map(({ name }) => join('objects', name));
  const indexes = await locksBelow(dir, join('objects', 'info'));
  const packs = (await list(join(dir, 'objects', 'pack'))).map(({ name }) => join('objects', 'pack', name));
  return [
    ...top.filter((name) => name.endsWith('.lock') || name === 'packed-refs.new'),
    ...objects.filter((path) => /\/(incoming|tmp_objdir)-[^/]*$/.test(path)),
    ...packs.filter((path) => /\/(?:\.?tmp[_-][^/]*|[^/]*\.(?:lock|keep))$/.test(path)),
    ...indexes,
    ...(await locksBelow(dir, 'refs')),
    ...(await locksBelow(dir, 'logs')),
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
