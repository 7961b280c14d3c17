import { AppError } from '../errors.ts';
import { type Param, text } from '../http/params.ts';

/** The level of a member as it was sent; whether there is such a level is asked later, by `requireLevel`. */
export function memberLevel(): Param<string> {
  return text({ max: 32 });
}

/**
 * @param highest the highest level that may be given.
 * @throws AppError 422 for a text that is no such level.
 */
export function requireLevel(given: string, highest: 40 | 50): number {
  const level = /^\s*[1-5]0\s*$/.test(given) ? Number(given) : Number.NaN;
  if (level <= highest) return level;
  throw new AppError({ status: 422, message: 'Wrong access level' });
}
