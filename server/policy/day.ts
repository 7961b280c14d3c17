const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `2016-12-25`, perhaps with a time behind, `2016/12/25`. */
const yearFirst = /^(?<year>\d{4})(?<sign>[-/.])(?<month>\d{1,2})\k<sign>(?<day>\d{1,2})(?!\d)/;
/** `20161225`. */
const signless = /^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})(?!\d)/;
/** `25.12.2016`, `25-12-2016`, `25/12/2016`. */
const dayFirst = /^(?<day>\d{1,2})(?<sign>[-/.])(?<month>\d{1,2})\k<sign>(?<year>\d{4})(?!\d)/;
/** `25 Dec 2016`, `Sun, 25th December 2016`. */
const dayAndWord =
  /^(?:[a-z]{3,9},? )?(?<day>\d{1,2})(?:st|nd|rd|th)?[ -](?<word>[a-z]{3,9})\.?,?[ -](?<year>\d{4})(?!\d)/i;
/** `Dec 25, 2016`, `Sunday December 25th 2016`. */
const wordAndDay =
  /^(?:[a-z]{3,9},? )?(?<word>[a-z]{3,9})\.? (?<day>\d{1,2})(?:st|nd|rd|th)?,? (?<year>\d{4})(?!\d)/i;

const forms = [yearFirst, signless, dayFirst, dayAndWord, wordAndDay];

/**
 * The day that a text names in one of the usual ways, as it is written there, whatever time zone comes behind it.
 *
 * @returns `YYYY-MM-DD`, or null for what names no day of the calendar.
 */
export function readDay(text: string): string | null {
  const trimmed = text.trim();
  for (const form of forms) {
    const { year, month, word, day } = form.exec(trimmed)?.groups ?? {};
    if (year === undefined || day === undefined) continue;
    const number = month === undefined ? monthOf(word ?? '') : Number(month);
    const written = `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
    return isDay(written) ? written : null;
  }
  return null;
}

/** From 1; 0 for a word that is no month. */
function monthOf(word: string): number {
  return months.indexOf(word.slice(0, 3).toLowerCase()) + 1;
}

/** PostgreSQL knows no year 0. */
function isDay(written: string): boolean {
  const date = new Date(`${written}T00:00:00Z`);
  const isValid = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(written);
  return isValid && !written.startsWith('0000');
}
