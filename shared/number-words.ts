const units = [
  ...[
    'one',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
    'eleven',
    'twelve',
    'thirteen',
  ],
  ...['fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const values = new Map([
  ...units.map((word, index): [string, number] => [word, index + 1]),
  ...tens.map((word, index): [string, number] => [word, (index + 2) * 10]),
  ['a', 1] as const,
  ['an', 1] as const,
]);
const multipliers = new Map([
  ['hundred', 100],
  ['thousand', 1000],
]);

/** Replaces numbers in words, such as `twenty-five` or `two hundred`, by digits. */
export function digitsForWords(text: string): string {
  const result: string[] = [];
  let number: number | null = null;
  for (const word of text.replace(/(ty)-(?=[a-z])/g, '$1 ').split(/\s+/)) {
    const value = values.get(word);
    const factor = multipliers.get(word);
    if (value !== undefined) number = (number ?? 0) + value;
    else if (factor !== undefined) number = (number ?? 1) * factor;
    else {
      if (number !== null) result.push(String(number));
      number = null;
      result.push(word);
    }
  }
  if (number !== null) result.push(String(number));
  return result.join(' ');
}
