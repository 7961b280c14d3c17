import test from 'ava';
import { parseCiConfig } from '../../server/ci/parse.ts';

function kindsOf(text: string): string[] {
  const result = parseCiConfig(text);
  return 'errors' in result ? result.errors.map(({ kind }) => kind) : [];
}

test('a file of more than a mebibyte is refused unread', (t) => {
  t.deepEqual(kindsOf(`a: {script: x}\n#${'ä'.repeat(600_000)}`), ['file.size']);
});

test('deep nesting is refused before it can exhaust the stack', (t) => {
  for (const opening of ['[', '{a: ', '- ', '? ']) {
    const text = `a: ${opening === '[' || opening.startsWith('{') ? '' : '\n'}${opening.repeat(100_000)}`;
    t.deepEqual(kindsOf(text), ['yaml.depth'], opening);
  }
  t.deepEqual(kindsOf(`.a: ${'['.repeat(80)}${']'.repeat(80)}\nb: {script: x}`), []);
});

test('nesting through aliases is counted', (t) => {
  const lines = Array.from({ length: 200 }, (_, index) => `.a${index + 1}: &a${index + 1} [*a${index}]`);
  t.deepEqual(kindsOf(`.a0: &a0 x\n${lines.join('\n')}\nb: {script: x}`), ['yaml.depth']);
});

test('aliases that multiply are refused', (t) => {
  const lines = Array.from({ length: 12 }, (_, level) => {
    const aliases = Array.from({ length: 9 }, () => `*l${level}`).join(', ');
    return `.l${level + 1}: &l${level + 1} [${aliases}]`;
  });
  t.deepEqual(kindsOf(`.l0: &l0 lol\n${lines.join('\n')}\njob: {script: *l12}`), ['yaml.aliases']);
});

test('a few thousand aliases are fine', (t) => {
  const items = Array.from({ length: 3000 }, () => '*a').join(', ');
  t.deepEqual(kindsOf(`.a: &a x\njob: {script: [${items}]}`), []);
});

test('merging a large mapping again and again is refused', (t) => {
  const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}: v`).join(', ');
  const text = `.a: &a {${keys}}\n.b:\n${'  <<: *a\n'.repeat(9000)}job: {script: x}`;
  t.deepEqual(kindsOf(text), ['file.size']);
});

test('a long global script in many jobs is refused', (t) => {
  const jobs = Array.from({ length: 100 }, (_, index) => `j${index}: {script: x}`).join('\n');
  t.deepEqual(kindsOf(`before_script: ["${'x'.repeat(200_000)}"]\n${jobs}`), ['file.size']);
});

test('a file has at most five hundred jobs', (t) => {
  const jobs = (count: number) =>
    Array.from({ length: count }, (_, index) => `j${index}: {script: x}`).join('\n');
  t.deepEqual(kindsOf(jobs(500)), []);
  t.deepEqual(kindsOf(jobs(501)), ['jobs.limit']);
});

test('script lists are flattened to ten levels', (t) => {
  const nested = (levels: number) => `${'['.repeat(levels)}x${']'.repeat(levels)}`;
  t.deepEqual(kindsOf(`job: {script: ${nested(11)}}`), []);
  t.deepEqual(kindsOf(`job: {script: ${nested(12)}}`), ['script.depth']);
});

test('unknown keys beyond counting are not all looked at', (t) => {
  const keys = Array.from({ length: 1000 }, (_, index) => `k${index}: v`).join(', ');
  const jobs = Array.from({ length: 400 }, (_, index) => `j${index}: {<<: *a, script: x}`).join('\n');
  t.is(kindsOf(`.a: &a {${keys}}\n${jobs}`).length, 20);
});

test('expressions are bounded in length, repetition and number', (t) => {
  t.deepEqual(kindsOf(`job: {script: x, only: ["/${'a'.repeat(1025)}/"]}`), ['only.regex']);
  t.deepEqual(kindsOf(`job: {script: x, only: ["/${'a{200}'.repeat(2)}/"]}`), ['only.regex']);
  const items = Array.from({ length: 201 }, (_, index) => `/v${index}/`).join(', ');
  t.deepEqual(kindsOf(`job: {script: x, only: [${items}]}`), ['only.regex']);
});
