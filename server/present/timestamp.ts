import { z } from 'zod';

/** A moment in UTC with milliseconds. */
export const Timestamp = z.string();

export function presentTime(time: Date): string {
  return time.toISOString();
}

/**
 * A moment as PostgreSQL writes it in JSON: unlike ISO 8601, years before the first have `BC` at the end, and those
 * after 9999 no sign.
 *
 * @returns an invalid date for what is none, such as `infinity`.
 */
export function readJsonTime(text: string): Date {
  const [, digits, rest, isBefore] = /^(\d{4,6})(-\S+)( BC)?$/.exec(text) ?? [];
  const year = isBefore ? 1 - Number(digits) : Number(digits);
  return new Date(`${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}${rest}`);
}

export function presentTimeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
