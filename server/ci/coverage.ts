import { compilePattern, PatternError } from './regex.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
const colours = /\x1b\[[0-9;]*[A-Za-z]/g;

/** No percentage is so large; a column would not take any number that a trace can hold. */
const largest = 1_000_000;

/**
 * The coverage that a trace tells: the first number in the last match of the pattern, or in the last group of it.
 *
 * @param source regular expression of a user, without slashes.
 * @returns percent, or null when nothing matches or the pattern cannot be used.
 */
export function findCoverage(trace: string, source: string): number | null {
  const matcher = compiled(source)?.matcher(trace.replace(colours, ''));
  if (!matcher) return null;
  let found: string | null = null;
  while (matcher.find()) found = matcher.group(matcher.groupCount()) ?? matcher.group();
  const value = Number(/\d+(?:\.\d+)?/.exec(found ?? '')?.[0] ?? Number.NaN);
  return value <= largest ? value : null;
}

function compiled(source: string) {
  try {
    return compilePattern({ source, ignoreCase: false });
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}
