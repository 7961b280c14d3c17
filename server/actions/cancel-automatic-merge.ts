import { notAcceptable, notAllowed, notFound, unauthorized } from '../errors.ts';
import { canMergeInto } from '../policy/branch-protection.ts';
import { isOpen } from '../policy/merge-request.ts';
import { holdMergeFacts } from '../queries/merge-facts.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { protectionOf } from '../queries/protected-branches.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { stopWaiting } from './automatic-merge.ts';

/**
 * Takes back that a merge request is to be merged when its builds have succeeded.
 *
 * @throws AppError 401 for those who may not merge it and have not written it, 404 when it is gone, 405 when it is not
 * open, 406 when nobody has wished for that.
 */
export async function cancelAutomaticMerge(
  work: Work,
  { viewer, project, mergeRequest }: { viewer: Viewer; project: ProjectScope; mergeRequest: { id: number } },
): Promise<void> {
  const row = await holdMergeFacts(work.em, mergeRequest.id);
  if (!row) throw notFound();
  const protection = await protectionOf(work.em, project.id, row.target_branch);
  const mayMerge = canMergeInto(viewer, project, protection);
  if (!mayMerge && row.author_id !== viewer.id) throw unauthorized();
  if (!isOpen(row)) throw notAllowed();
  if (!row.merge_when_build_succeeds) throw notAcceptable("Can't cancel the automatic merge");
  await stopWaiting(work, row, viewer.id);
}
