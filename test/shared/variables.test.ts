import test from 'ava';
import fc from 'fast-check';
import { escapeVariables, expandVariables } from '../../shared/variables.ts';

const known = new Map([
  ['A', 'one'],
  ['B_2', '$A'],
]);

function expand(text: string): string {
  return expandVariables(text, (name) => known.get(name));
}

const table: [text: string, expected: string][] = [
  ['$A', 'one'],
  [`\${A}`, 'one'],
  [`x\${A}y$A.z`, 'xoneyone.z'],
  ['$AB', ''],
  [`\${MISSING}.`, '.'],
  ['$B_2', '$A'],
  ['$$A', '$A'],
  ['$$$A', '$one'],
  ['$', '$'],
  [`5$ or $5 or \${A`, `5$ or $5 or \${A`],
  [`\${}`, `\${}`],
  ['$(A)', '$(A)'],
];

for (const [text, expected] of table) {
  test(`${text} becomes ${expected || 'nothing'}`, (t) => t.is(expand(text), expected));
}

test('text without a dollar sign stays as it is', (t) => {
  fc.assert(fc.property(fc.string(), (text) => text.includes('$') || expand(text) === text));
  t.pass();
});

test('an escaped text comes back from expansion', (t) => {
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom('$', '{', '}', 'A', '_')).map((parts) => parts.join('')),
  );
  fc.assert(fc.property(text, (value) => expand(escapeVariables(value)) === value));
  t.pass();
});

test('what is put in is never expanded again', (t) => {
  fc.assert(fc.property(fc.string(), (value) => expandVariables('<$A>', () => value) === `<${value}>`));
  t.pass();
});
