import { visibilityLevels } from '../../shared/access-level.ts';
import type { Namespace } from '../entities/namespace.ts';
import type { Settings } from '../entities/settings.ts';
import { invalid } from '../errors.ts';

export interface VisibilityChoice {
  visibilityLevel?: number | undefined;
  /** True stands for level 20, false for 0; does not count beside a level. */
  isPublic?: boolean | undefined;
}

interface Bounds {
  viewer: { is_admin: boolean };
  settings: Settings;
  namespace: Namespace;
}

const levelNames: Record<number, string> = { 0: 'private', 10: 'internal', 20: 'public' };

/** The level that is asked for, or undefined when none is. */
export function chosenVisibility({ visibilityLevel, isPublic }: VisibilityChoice): number | undefined {
  if (visibilityLevel !== undefined || isPublic === undefined) return visibilityLevel;
  return isPublic ? visibilityLevels.public : visibilityLevels.private;
}

/**
 * The level for a project; the instance's default when none is asked for.
 *
 * @throws AppError 400 for an unknown level, one that the administrator has restricted, or one above the group's.
 */
export function requireVisibility(choice: VisibilityChoice, { viewer, settings, namespace }: Bounds): number {
  const chosen = chosenVisibility(choice);
  const level = chosen ?? settings.defaultProjectVisibility;
  const name = levelNames[level];
  if (name === undefined) throw invalid({ visibility_level: ['is not included in the list'] });
  if (chosen !== undefined && !viewer.is_admin && settings.restrictedVisibilityLevels.includes(level)) {
    throw invalid({ visibility_level: [`${name} has been restricted by your GitLab administrator`] });
  }
  if (namespace.kind !== 'group' || level <= namespace.visibilityLevel) return level;
  if (chosen === undefined) return namespace.visibilityLevel;
  const group = levelNames[namespace.visibilityLevel];
  throw invalid({ visibility_level: [`${name} is not allowed in a ${group} group.`] });
}
