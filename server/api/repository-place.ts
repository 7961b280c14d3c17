import { notFound } from '../errors.ts';
import { resolveCommit } from '../git/refs.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';

/** A state of a project's repository. */
export interface RepositoryPlace {
  /** Folder of the repository. */
  dir: string;
  /** Full id of the commit. */
  sha: string;
  /** What it was asked by: the given name, or that of the default branch. */
  ref: string;
}

export interface PlaceRequest {
  project: { id: number; default_branch: string | null };
  /** Id, branch or tag; the default branch when not given. */
  ref: string | undefined;
  /** What is not found where there is no such commit. */
  missing: 'Commit' | 'File' | 'Tree';
}

/** @throws AppError 404 where the name leads to no commit, or none is given and there is no default branch. */
export async function requirePlace(
  work: Work,
  { project, ref, missing }: PlaceRequest,
): Promise<RepositoryPlace> {
  const dir = repositoryOf(work, project);
  const branch = project.default_branch;
  // In full, so that no tag takes the place of a branch that is gone.
  const name = ref ?? (branch === null ? null : `refs/heads/${branch}`);
  const sha = name === null ? null : await resolveCommit(work.objects, dir, name);
  if (sha === null) throw notFound(missing);
  return { dir, sha, ref: ref ?? branch ?? '' };
}
