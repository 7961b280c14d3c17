import { badRequest } from '../errors.ts';

/** Bytes; file systems take no longer names, and few programs longer paths. */
const longest = { segment: 255, path: 4096 };
const deepest = 100;

const refused = 'Your changes could not be committed, because the file name';
const traversal = `${refused} cannot include directory traversal. `;
const characters = `${refused} can contain only letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'. `;
const invalidPath = 'Invalid path';

/**
 * The path of a file that is to be made, without slashes in front.
 *
 * @throws AppError 400 for one that leads out of the repository, has other signs than names may have, or could not
 * be checked out.
 */
export function readNewPath(given: string): string {
  const { path, segments } = split(given);
  if (segments.includes('..')) throw badRequest(traversal);
  if (!/^[\p{L}\p{M}\p{N}_\-@./]*$/u.test(path)) throw badRequest(characters);
  if (segments.some((segment) => !isUsable(segment)) || segments.length > deepest)
    throw badRequest(invalidPath);
  if (Buffer.byteLength(path) > longest.path) throw badRequest(invalidPath);
  return path;
}

/**
 * The path of a file that is there, without slashes in front. It may have any name that git takes.
 *
 * @throws AppError 400 for one that cannot be.
 */
export function readOldPath(given: string): string {
  const { path, segments } = split(given);
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) throw badRequest(invalidPath);
  return path;
}

function split(given: string): { path: string; segments: string[] } {
  const path = given.replace(/^\/+/, '');
  return { path, segments: path.split('/') };
}

/** Git's own folder is taken for it in any case, and by some file systems with dots behind. */
function isUsable(segment: string): boolean {
  if (segment === '' || segment === '.' || /^(?:\.git|git~1)\.*$/i.test(segment)) return false;
  return Buffer.byteLength(segment) <= longest.segment;
}
