import { RE2JS } from 're2js';
import { limits } from './limits.ts';

/** Why a pattern cannot be used, in words for its author. */
export class PatternError extends Error {}

export interface Pattern {
  source: string;
  ignoreCase: boolean;
}

/**
 * Compiles a pattern written by a user for an engine that works in linear time.
 *
 * @throws PatternError when it is too long, or uses what such an engine cannot do.
 */
export function compilePattern({ source, ignoreCase }: Pattern): RE2JS {
  if (source.length > limits.patternLength) {
    throw new PatternError(`pattern is longer than ${limits.patternLength} characters`);
  }
  if (countRepeats(source) > limits.patternRepeats) throw new PatternError('pattern repeats too often');
  try {
    return RE2JS.compile(translate(source), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
    const hint = /\(\?<?[=!]/.test(source) ? '; look-around is not supported' : '';
    throw new PatternError(`invalid regular expression: ${reason}${hint}`);
  }
}

/** Escapes of Ruby, in which these files were first defined, as the engine spells them. */
const escapes: Record<string, { outside: string; inClass: string }> = {
  Z: { outside: '\\z', inClass: 'Z' },
  h: { outside: '[0-9A-Fa-f]', inClass: '0-9A-Fa-f' },
  H: { outside: '[^0-9A-Fa-f]', inClass: '\\H' },
};

function translate(source: string): string {
  let isInClass = false;
  return source.replace(/\\(.)|[[\]]/gsu, (match, escaped: string | undefined) => {
    if (escaped === undefined) {
      isInClass = match === '[';
      return match;
    }
    const known = Object.hasOwn(escapes, escaped) ? escapes[escaped] : undefined;
    if (!known) return match;
    return isInClass ? known.inClass : known.outside;
  });
}

function countRepeats(source: string): number {
  let total = 0;
  for (const [, least, most] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) total += Number(most || least);
  return total;
}
