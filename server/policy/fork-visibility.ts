import { visibilityLevels } from '../../shared/access-level.ts';
import { highestOpenLevel } from './visibility.ts';

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
  return highestOpenLevel(bound, restricted) ?? visibilityLevels.private;
}
