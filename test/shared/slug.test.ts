import test from 'ava';
import fc from 'fast-check';
import { slug } from '../../shared/slug.ts';

const table: [text: string, expected: string][] = [
  ['Feature/Über_1', 'feature--ber-1'],
  ['--edge--', 'edge'],
  ['v1.0', 'v1-0'],
  ['***', ''],
  [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
];

for (const [text, expected] of table) {
  test(`slug of ${text.slice(0, 20)}`, (t) => t.is(slug(text), expected));
}

test('a slug is a valid label of a host name, however long the text', (t) => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 63 }), (text, max) => isLabel(slug(text, max), max)),
  );
  t.pass();
});

function isLabel(text: string, max: number): boolean {
  return text.length <= max && /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)?$/.test(text);
}
