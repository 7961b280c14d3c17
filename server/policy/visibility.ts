import { visibilityLevels, visibilityWord } from '../../shared/access-level.ts';
import type { Settings } from '../entities/settings.ts';
import { invalid } from '../errors.ts';

const known = new Set<number>(Object.values(visibilityLevels));

/** @throws AppError 400 for a level that there is not, or that the administrator keeps from others. */
export function requireOpenLevel(
  level: number,
  { viewer, settings }: { viewer: { is_admin: boolean }; settings: Settings },
): void {
  if (!known.has(level)) throw invalid({ visibility_level: ['is not included in the list'] });
  if (viewer.is_admin || !settings.restrictedVisibilityLevels.includes(level)) return;
  const text = `${visibilityWord(level)} has been restricted by your GitLab administrator`;
  throw invalid({ visibility_level: [text] });
}
