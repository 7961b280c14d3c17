import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Kind of what is at a path, without following a link; null when there is nothing. */
export async function kindOf(path: string): Promise<'directory' | 'file' | 'symlink' | 'other' | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory()) return 'directory';
  if (found.isSymbolicLink()) return 'symlink';
  return found.isFile() ? 'file' : 'other';
}

export async function removePath(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** Path below `directory`, refused when it would lead out of it by its own text. */
export function safeJoin(directory: string, path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || parts.includes('..') || path.includes('\0')) {
    throw new Error(`path leads out of the project directory: ${path}`);
  }
  return join(directory, ...parts);
}
