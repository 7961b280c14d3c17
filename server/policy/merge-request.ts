import { can, type ProjectFacts, type ViewerFacts } from './project.ts';

/** Whether it can still become merged: one that was closed has to be opened again before. */
export function isOpen({ state }: { state: string }): boolean {
  return state === 'opened' || state === 'reopened';
}

/** Whether the viewer may change a merge request: those who may change any, and whoever wrote it or has to do it. */
export function canUpdateMergeRequest({
  viewer,
  project,
  mergeRequest,
}: {
  viewer: ViewerFacts & { id: number };
  project: ProjectFacts;
  mergeRequest: { author_id: number; assignee_id: number | null };
}): boolean {
  if (can(viewer, project, 'admin_merge_request')) return true;
  const isOwn = mergeRequest.author_id === viewer.id || mergeRequest.assignee_id === viewer.id;
  return isOwn && !project.archived && can(viewer, project, 'read_merge_request');
}
