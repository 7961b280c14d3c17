import { visibilityLevels, visibilityWord } from '../../shared/access-level.ts';
import type { Settings } from '../entities/settings.ts';
import { invalid } from '../errors.ts';

const known = new Set<number>(Object.values(visibilityLevels));

interface Chooser {
  viewer: { is_admin: boolean };
  settings: Settings;
}

/**
 * The level that something gets which nobody chose one for: the given one, or the next lower one that the viewer may
 * choose.
 *
 * @throws AppError 400 where there is none.
 */
export function openLevelUpTo(level: number, chooser: Chooser): number {
  const { viewer, settings } = chooser;
  const lower = Object.values(visibilityLevels).filter((one) => one <= level);
  const open = lower.filter((one) => viewer.is_admin || !settings.restrictedVisibilityLevels.includes(one));
  if (open.length === 0) requireOpenLevel(level, chooser);
  return Math.max(...open);
}

/** @throws AppError 400 for a level that there is not, or that the administrator keeps from others. */
export function requireOpenLevel(level: number, { viewer, settings }: Chooser): void {
  if (!known.has(level)) throw invalid({ visibility_level: ['is not included in the list'] });
  if (viewer.is_admin || !settings.restrictedVisibilityLevels.includes(level)) return;
  const text = `${visibilityWord(level)} has been restricted by your GitLab administrator`;
  throw invalid({ visibility_level: [text] });
}
