import { notFound, unavailable } from '../errors.ts';
import type { Commit } from '../git/commit.ts';
import { GitTimeoutError } from '../git/errors.ts';
import { readKnownCommit } from '../git/read-commits.ts';
import { resolveCommit } from '../git/refs.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { findAtEnd } from './ref-lookup.ts';

/** Full id of the commit that a list is about: the one named, or the newest one of the default branch; null without. */
export async function headOf(
  work: Work,
  project: ProjectScope,
  name: string | undefined,
): Promise<string | null> {
  const trunk = project.default_branch === null ? 'HEAD' : `refs/heads/${project.default_branch}`;
  return resolveCommit(work.objects, repositoryOf(work, project), name ?? trunk);
}

/** @throws AppError 404 when the repository has no such commit, branch or tag. */
export async function requireCommit(work: Work, project: ProjectScope, name: string): Promise<Commit> {
  const dir = repositoryOf(work, project);
  const sha = await resolveCommit(work.objects, dir, name);
  if (sha === null) throw notFound('Commit');
  return readKnownCommit(work.objects, dir, sha);
}

/**
 * Full id of the commit that is named at the end of the path.
 *
 * @throws AppError 404 when the repository has no such commit, branch or tag.
 */
export async function requireCommitAtEnd(work: Work, project: ProjectScope, name: string): Promise<string> {
  const dir = repositoryOf(work, project);
  const sha = await findAtEnd(name, (given) => resolveCommit(work.objects, dir, given));
  if (sha === null) throw notFound('Commit');
  return sha;
}

/** @throws AppError 503 when git needed longer than it was given. */
export async function inTime<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof GitTimeoutError ? unavailable(error) : error;
  }
}
