import { accessLevels, visibilityLevels } from '../../shared/access-level.ts';
import { type AppError, badRequest, forbidden, notFound, unauthorized } from '../errors.ts';
import { type Feature, type ProjectAbility, ruleOf } from './abilities.ts';

/** What rights on a project depend on. */
export interface ProjectFacts {
  visibility_level: number;
  archived: boolean;
  issues_enabled: boolean;
  merge_requests_enabled: boolean;
  snippets_enabled: boolean;
  builds_enabled: boolean;
  public_builds: boolean;
  /** Highest level that the viewer holds: as owner, member, group member or through a share; 0 = none. */
  viewer_level: number;
}

export interface ViewerFacts {
  is_admin: boolean;
  external: boolean;
}

/** Whether the viewer may do it. Blocked users never get here: they cannot authenticate. */
export function can(viewer: ViewerFacts | null, project: ProjectFacts, ability: ProjectAbility): boolean {
  const rule = ruleOf(ability);
  if (rule.feature && !hasFeature(project, rule.feature)) return false;
  if (rule.writes && project.archived) return false;
  if (viewer?.is_admin) return true;
  if (project.viewer_level >= rule.from && viewer) return true;
  if (!isVisible(viewer, project)) return false;
  return rule.visible === 'public_builds' ? project.public_builds : rule.visible;
}

/** The viewer's level; administrators count as owners. */
export function levelOf(viewer: ViewerFacts, project: ProjectFacts): number {
  return viewer.is_admin ? accessLevels.owner : project.viewer_level;
}

/** Whether the viewer may say when something was made or changed: administrators, and the owner of a personal project. */
export function canSetTimes(
  viewer: ViewerFacts & { id: number },
  project: { namespace_owner_id: number | null },
): boolean {
  return viewer.is_admin || project.namespace_owner_id === viewer.id;
}

/**
 * @throws AppError with the status that the ability is denied with. A project that the viewer cannot see is
 * always a 404.
 */
export function authorize(viewer: ViewerFacts | null, project: ProjectFacts, ability: ProjectAbility): void {
  if (can(viewer, project, ability)) return;
  if (!can(viewer, project, 'read_project')) throw notFound('Project');
  throw denial(ruleOf(ability).denied);
}

function denial(status: number): AppError {
  if (status === 401) return unauthorized();
  if (status === 404) return notFound();
  return status === 400 ? badRequest('400 Bad request') : forbidden();
}

function isVisible(viewer: ViewerFacts | null, project: ProjectFacts): boolean {
  if (project.visibility_level === visibilityLevels.public) return true;
  return project.visibility_level === visibilityLevels.internal && viewer !== null && !viewer.external;
}

function hasFeature(project: ProjectFacts, feature: Feature): boolean {
  if (feature === 'issues') return project.issues_enabled;
  if (feature === 'merge_requests') return project.merge_requests_enabled;
  if (feature === 'snippets') return project.snippets_enabled;
  if (feature === 'builds') return project.builds_enabled;
  return project.issues_enabled || project.merge_requests_enabled;
}
