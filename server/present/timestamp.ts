import { z } from 'zod';

/** A moment in UTC with milliseconds. */
export const Timestamp = z.string();

export function presentTime(time: Date): string {
  return time.toISOString();
}

export function presentTimeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
