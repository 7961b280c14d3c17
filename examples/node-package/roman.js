const numerals = [
  ['M', 1000],
  ['CM', 900],
  ['D', 500],
  ['CD', 400],
  ['C', 100],
  ['XC', 90],
  ['L', 50],
  ['XL', 40],
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
];

/** The Roman numeral of a whole number from 1 to 3999. */
export function roman(number) {
  if (!Number.isInteger(number) || number < 1 || number > 3999)
    throw new RangeError(`no numeral for ${number}`);
  let text = '';
  let rest = number;
  for (const [letters, value] of numerals) {
    text += letters.repeat(Math.floor(rest / value));
    rest %= value;
  }
  return text;
}
