import { accessLevels, visibilityLevels } from '../../shared/access-level.ts';
import { forbidden, notFound } from '../errors.ts';

/** What rights on a group depend on. */
export interface GroupFacts {
  visibility_level: number;
  /** Level of the viewer's membership; 0 = none. */
  viewer_level: number;
  /** Whether the viewer, who takes no part in the group, sees one of its projects. */
  shows_project: boolean;
}

interface ViewerFacts {
  is_admin: boolean;
  external: boolean;
}

/** `admin_group`: change and remove it, and say who its members are. */
export type GroupAbility = 'read_group' | 'admin_group';

/** Whether the viewer may do it. */
export function mayInGroup(viewer: ViewerFacts, group: GroupFacts, ability: GroupAbility): boolean {
  if (viewer.is_admin || group.viewer_level >= accessLevels.owner) return true;
  return ability === 'read_group' && mayRead(viewer, group);
}

/** @throws AppError 404 for a group that the viewer may not know of, 403 for what he may not do. */
export function authorizeInGroup(viewer: ViewerFacts, group: GroupFacts, ability: GroupAbility): void {
  if (mayInGroup(viewer, group, ability)) return;
  throw mayRead(viewer, group) ? forbidden() : notFound('Group');
}

/** Whether the viewer may make groups. External users never may. */
export function mayCreateGroup(viewer: ViewerFacts & { can_create_group: boolean }): boolean {
  return viewer.is_admin || (viewer.can_create_group && !viewer.external);
}

function mayRead(viewer: ViewerFacts, group: GroupFacts): boolean {
  if (group.viewer_level > 0 || group.shows_project) return true;
  if (group.visibility_level === visibilityLevels.public) return true;
  return group.visibility_level === visibilityLevels.internal && !viewer.external;
}
