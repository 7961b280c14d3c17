import { visibilityLevels, visibilityWord } from '../../shared/access-level.ts';
import type { Settings } from '../entities/settings.ts';
import { type AppError, invalid } from '../errors.ts';

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
  const open = highestOpenLevel(level, restrictedFor(chooser));
  if (open === null) throw restricted(level);
  return open;
}

/** The given level, or the next lower one that is not among the restricted; null where there is none. */
export function highestOpenLevel(level: number, restrictedLevels: readonly number[]): number | null {
  const open = [...known].filter((one) => one <= level && !restrictedLevels.includes(one));
  return open.length > 0 ? Math.max(...open) : null;
}

/** Levels that the administrator keeps from others than himself. */
export function restrictedFor({ viewer, settings }: Chooser): readonly number[] {
  return viewer.is_admin ? [] : settings.restrictedVisibilityLevels;
}

function restricted(level: number): AppError {
  const text = `${visibilityWord(level)} has been restricted by your GitLab administrator`;
  return invalid({ visibility_level: [text] });
}

/** @throws AppError 400 for a level that there is not, or that the administrator keeps from others. */
export function requireOpenLevel(level: number, chooser: Chooser): void {
  if (!known.has(level)) throw invalid({ visibility_level: ['is not included in the list'] });
  if (restrictedFor(chooser).includes(level)) throw restricted(level);
}
