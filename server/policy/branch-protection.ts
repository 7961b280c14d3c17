import { can, type ProjectFacts, type ViewerFacts } from './project.ts';

/** The rule of a protected branch. */
export interface Protection {
  developers_can_push: boolean;
  developers_can_merge: boolean;
}

/** Whether the viewer may bring commits to a branch; `protection` is null for one that is not protected. */
export function canPushTo(
  viewer: ViewerFacts | null,
  project: ProjectFacts,
  protection: Protection | null,
): boolean {
  const developersMay = protection === null || protection.developers_can_push;
  return can(viewer, project, developersMay ? 'push_code' : 'push_protected_code');
}

/** Whether the viewer may merge merge requests into a branch; `protection` is null for one that is not protected. */
export function canMergeInto(
  viewer: ViewerFacts | null,
  project: ProjectFacts,
  protection: Protection | null,
): boolean {
  if (!can(viewer, project, 'accept_merge_request')) return false;
  return protection?.developers_can_merge === true || canPushTo(viewer, project, protection);
}
