import { badRequest, noSuch } from '../errors.ts';
import { RefConflictError } from '../git/errors.ts';
import { isUsableRef, zeroSha } from '../git/ref-name.ts';
import { lookUpRef, readRef, resolveCommit } from '../git/refs.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { canPushTo } from '../policy/branch-protection.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { protectionOf } from '../queries/protected-branches.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { isInTheWay, moveRef } from './move-ref.ts';

interface BranchWish {
  viewer: Viewer;
  project: ProjectScope;
  name: string;
}

/**
 * Makes a branch, with all that follows from a push of it.
 *
 * @param from name of a branch or tag, or id of a commit.
 * @param work outside a transaction.
 * @returns the id of its commit.
 * @throws AppError 400 when it cannot be made.
 */
export async function createBranch(
  work: Work,
  { viewer, project, name, from }: BranchWish & { from: string },
): Promise<string> {
  const dir = repositoryDir(work.repositoriesDir, project.id);
  const ref = `refs/heads/${name}`;
  if (!isUsableRef(ref)) throw badRequest('Branch name is invalid');
  if (await lookUpRef(work.objects, dir, ref)) throw badRequest('Branch already exists');
  const sha = await resolveCommit(work.objects, dir, from);
  if (sha === null) throw badRequest('Invalid reference name');
  // The name may be protected before there is such a branch.
  if (!canPushTo(viewer, project, await protectionOf(work.em, project.id, name))) {
    throw badRequest('Branch creation was rejected by Git hook');
  }
  try {
    const projectId = project.id;
    await moveRef(work, { projectId, userId: viewer.id, ref, oldSha: zeroSha, newSha: sha });
  } catch (error) {
    if (error instanceof RefConflictError) throw badRequest('Branch already exists');
    throw isInTheWay(error) ? badRequest('Another branch is in the way of this name') : error;
  }
  return sha;
}

/**
 * Removes a branch, with all that follows from a push that does so.
 *
 * @param work outside a transaction.
 * @throws AppError 404 when there is none, 400 when it cannot be removed.
 */
export async function removeBranch(work: Work, { viewer, project, name }: BranchWish): Promise<void> {
  const dir = repositoryDir(work.repositoriesDir, project.id);
  const ref = `refs/heads/${name}`;
  const oldSha = await lookUpRef(work.objects, dir, ref);
  if (oldSha === null) throw noSuch('No such branch');
  if (name === project.default_branch) throw badRequest('Cannot remove HEAD branch');
  if (await protectionOf(work.em, project.id, name)) throw badRequest('Protected branch cant be removed');
  try {
    const projectId = project.id;
    await moveRef(work, { projectId, userId: viewer.id, ref, oldSha, newSha: zeroSha });
  } catch (error) {
    if (!(error instanceof RefConflictError)) throw error;
    if ((await readRef(dir, ref)) === null) throw noSuch('No such branch');
    throw badRequest('The branch was moved meanwhile: look at it again');
  }
}
