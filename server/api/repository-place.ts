import { notFound } from '../errors.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { headOf } from './commit-lookup.ts';

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
  project: ProjectScope;
  /** Id, branch or tag; the default branch when not given. */
  ref: string | undefined;
  /** What is not found where there is no such commit. */
  missing: 'Commit' | 'File' | 'Tree';
}

/** @throws AppError 404 where the name, or the default branch, leads to no commit. */
export async function requirePlace(
  work: Work,
  { project, ref, missing }: PlaceRequest,
): Promise<RepositoryPlace> {
  const sha = await headOf(work, project, ref);
  if (sha === null) throw notFound(missing);
  return { dir: repositoryOf(work, project), sha, ref: ref ?? project.default_branch ?? 'HEAD' };
}
