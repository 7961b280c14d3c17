export interface BackoffLimits {
  /** Milliseconds before the first repetition. */
  first: number;
  /** Milliseconds that no pause exceeds. */
  max: number;
}

/**
 * Milliseconds to wait before repetition number `failures` (from 1): doubles each time, and a random half of
 * it keeps many clients from coming back at the same moment.
 */
export function backoffDelay(failures: number, limits: BackoffLimits, random = Math.random): number {
  const full = Math.min(limits.max, limits.first * 2 ** Math.min(failures - 1, 30));
  return Math.round(full / 2 + (full / 2) * random());
}
