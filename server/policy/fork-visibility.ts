import { visibilityLevels } from '../../shared/access-level.ts';

interface Bounds {
  /** Of what it is forked from. */
  source: number;
  /** Of the group that it goes to; null for the namespace of a user. */
  group: number | null;
  /** Levels that the administrator keeps from the one who forks. */
  restricted: readonly number[];
}

/** The highest level that a fork may have, which nobody chose. */
export function forkVisibility({ source, group, restricted }: Bounds): number {
  const bound = Math.min(source, group ?? source);
  const levels = Object.values(visibilityLevels).filter((level) => level <= bound);
  const free = levels.filter((level) => !restricted.includes(level));
  return Math.max(...(free.length > 0 ? free : [visibilityLevels.private]));
}
