import { forbidden, unprocessable } from '../errors.ts';
import { can } from '../policy/project.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import { findProjectScope, type ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';

interface Wish {
  viewer: Viewer;
  source: ProjectRow;
  /** The source itself unless told. */
  targetId: number | undefined;
}

/**
 * The project that a merge request from another one goes to.
 *
 * @throws AppError 422 when it is neither the same nor what that one is a fork of, or the viewer may not know that it is
 * there; 403 when it takes no merge requests.
 */
export async function findTarget(work: Work, { viewer, source, targetId }: Wish): Promise<ProjectScope> {
  if (targetId === undefined || targetId === source.id) return source;
  // The source of a fork is told only to those who may know of it.
  const isFork = source.forked_from?.id === targetId;
  const found = isFork
    ? await findProjectScope(work.em, { by: 'id', value: viewer.id }, String(targetId))
    : null;
  const target = found?.project;
  if (!target || !can(viewer, target, 'read_project')) {
    throw unprocessable(['Source project is not a fork of target project']);
  }
  if (target.archived || !can(viewer, target, 'read_merge_request')) throw forbidden();
  return target;
}
