import { timingSafeEqual } from 'node:crypto';
import { forbidden } from '../errors.ts';
import { type BuildAccessRow, isLiveBuildOf } from '../queries/build-access.ts';
import { tokenDigest } from '../secrets.ts';
import type { Work } from '../services.ts';

/**
 * Checks the token of a call about a build: the build's own, or the project's.
 *
 * @throws AppError 403 when it is absent or another one.
 */
export function requireBuildToken(work: Work, build: BuildAccessRow, token: string): void {
  if (!isBuildToken(work, build, token)) throw forbidden();
}

export function isBuildToken(work: Work, build: BuildAccessRow, token: string): boolean {
  if (token === '') return false;
  return work.secrets.buildOfToken(token) === build.id || isProjectToken(build, token);
}

/**
 * Checks the token of a reader: the project's, or that of a build at work, or just ended, in the same project. A
 * build fetches the artifacts of the builds before it.
 */
export async function requireReaderToken(work: Work, build: BuildAccessRow, token: string): Promise<void> {
  if (token !== '' && isProjectToken(build, token)) return;
  const reader = token === '' ? null : work.secrets.buildOfToken(token);
  if (reader === null || !(await isLiveBuildOf(work.em, reader, build.project_id))) throw forbidden();
}

function isProjectToken(build: BuildAccessRow, token: string): boolean {
  return timingSafeEqual(tokenDigest(token), build.runners_token_digest);
}
