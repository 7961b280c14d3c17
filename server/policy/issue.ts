import { can, type ProjectFacts, type ViewerFacts } from './project.ts';

/** Whether the viewer may change an issue: those who may change any, and whoever wrote it or has to do it. */
export function canUpdateIssue({
  viewer,
  project,
  issue,
}: {
  viewer: ViewerFacts & { id: number };
  project: ProjectFacts;
  issue: { author_id: number; assignee_id: number | null };
}): boolean {
  if (can(viewer, project, 'admin_issue')) return true;
  const isOwn = issue.author_id === viewer.id || issue.assignee_id === viewer.id;
  return isOwn && can(viewer, project, 'read_issue');
}
