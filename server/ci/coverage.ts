import { compilePattern, PatternError } from './regex.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
const colours = /\x1b\[[0-9;]*[A-Za-z]/g;

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
  const number = /\d+(?:\.\d+)?/.exec(found ?? '')?.[0];
  return number === undefined ? null : Number(number);
}

function compiled(source: string) {
  try {
    return compilePattern({ source, ignoreCase: false });
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}
