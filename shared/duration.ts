import { digitsForWords } from './number-words.ts';

/** A text that is no duration; the message is meant for its author. */
export class DurationError extends Error {}

const day = 86_400;
const unitSeconds = new Map<string, number>([
  ...namesOf(1, ['second', 'seconds', 'sec', 'secs', 's']),
  ...namesOf(60, ['minute', 'minutes', 'min', 'mins', 'm']),
  ...namesOf(3600, ['hour', 'hours', 'hr', 'hrs', 'h']),
  ...namesOf(day, ['day', 'days', 'dy', 'd']),
  ...namesOf(7 * day, ['week', 'weeks', 'wk', 'wks', 'w']),
  ...namesOf(30 * day, ['month', 'months', 'mo', 'mos']),
  ...namesOf(365.25 * day, ['year', 'years', 'yr', 'yrs', 'y']),
]);
/** Units of `1:30:00`, from the right. */
const clockUnits = [1, 60, 3600, day, 30 * day, 365.25 * day];
const joiningWords = new Set(['and', 'with', 'plus']);
const maxLength = 255;
/** Ten thousand years: what is longer cannot be added to a date. */
const maxSeconds = 10_000 * 365.25 * day;

/**
 * Reads a duration in natural language, such as `3 mins 4 sec`, `2h20min`, `two days` or `1:30`; a number
 * without a unit counts seconds, a month has 30 days, a year 365.25.
 *
 * @returns seconds, or null for a text that amounts to nothing (empty, `0`).
 * @throws DurationError for a word that is neither number nor unit, or a span beyond ten thousand years.
 */
export function parseDuration(text: string): number | null {
  if (text.length > maxLength) throw new DurationError(`longer than ${maxLength} characters`);
  const words = digitsForWords(text.toLowerCase().trim());
  const seconds = parseClock(words) ?? parseWords(words);
  if (seconds > maxSeconds) throw new DurationError('longer than ten thousand years');
  return seconds === 0 ? null : seconds;
}

function parseClock(text: string): number | null {
  const compact = text.replace(/\s/g, '');
  if (!/^(?:\d*\.?\d+)(?::\d*\.?\d+)+$/.test(compact)) return null;
  const parts = compact.split(':').reverse();
  if (parts.length > clockUnits.length) throw new DurationError('has too many colons');
  return parts.reduce((total, part, index) => total + Number(part) * (clockUnits[index] ?? 0), 0);
}

function parseWords(text: string): number {
  const tokens = text.match(/\d*\.?\d+|[^\s\d.]+|\S/g) ?? [];
  let total = 0;
  let pending: number | null = null;
  for (const [index, token] of tokens.entries()) {
    if (/\d/.test(token)) {
      total += pending ?? 0;
      pending = Number(token);
      continue;
    }
    const seconds = secondsOf(token);
    if (seconds === null) continue;
    // A unit that stands first means one of it.
    total += (pending ?? (index === 0 ? 1 : 0)) * seconds;
    pending = null;
  }
  return total + (pending ?? 0);
}

/** Null for a word that only joins. */
function secondsOf(token: string): number | null {
  const word = token.replace(/^,|,$/g, '');
  if (joiningWords.has(word)) return null;
  const seconds = unitSeconds.get(word);
  if (seconds === undefined) throw new DurationError(`word "${token}" not understood`);
  return seconds;
}

function namesOf(seconds: number, names: string[]): [string, number][] {
  return names.map((name) => [name, seconds]);
}
