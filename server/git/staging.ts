import type { Dirent } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const folder = 'staging';

/** What a folder of the staging place is for. */
export interface Staged {
  kind: 'fork' | 'import';
  projectId: number;
}

/**
 * Where a repository for a project is made before anybody may see it. On the file system of the repositories, so
 * that it can be put in its place at once. Whoever takes it removes it again; what a crash leaves is found by
 * `abandonedStagings`.
 */
export function stagingDir(root: string, { kind, projectId }: Staged, run: string): string {
  return join(root, folder, `${kind}-${projectId}-${run}`);
}

/** What nobody has touched for so long that whoever made it is gone. */
export async function abandonedStagings(root: string, ageMs: number): Promise<(Staged & { dir: string })[]> {
  const found: (Staged & { dir: string })[] = [];
  for (const entry of await entriesOf(join(root, folder))) {
    const match = /^(fork|import)-([1-9]\d*)-/.exec(entry.name);
    const dir = join(root, folder, entry.name);
    const state = await stat(dir).catch(() => null);
    if (!match || state === null || Date.now() - state.mtimeMs < ageMs) continue;
    found.push({ kind: match[1] === 'fork' ? 'fork' : 'import', projectId: Number(match[2]), dir });
  }
  return found;
}

export async function removeStaging(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
}

async function entriesOf(path: string): Promise<Dirent[]> {
  return readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
