import test from 'ava';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { configOf, jobOf } from './read.ts';

test('names of the JavaScript object are names like any other', (t) => {
  const config = configOf(
    '__proto__: {script: a}\nconstructor: {script: b, variables: {__proto__: c, toString: d}}',
  );
  t.deepEqual(
    config.jobs.map(({ name }) => name),
    ['__proto__', 'constructor'],
  );
  const variables = config.jobs[1]?.variables ?? {};
  t.deepEqual(Object.entries(variables), [
    ['__proto__', 'c'],
    ['toString', 'd'],
  ]);
  t.true('errors' in parseCiConfig('job: {script: a, constructor: b}'));
});

test('a merge key acts where it stands', (t) => {
  const base = '.a: &a {image: first, tags: [a]}\n.b: &b {image: second}\n';
  t.is(jobOf(`${base}job:\n  image: own\n  <<: *a\n  script: x`).image, 'first');
  t.is(jobOf(`${base}job:\n  <<: *a\n  image: own\n  script: x`).image, 'own');
  t.is(jobOf(`${base}job:\n  <<: *a\n  <<: *b\n  script: x`).image, 'second');
  t.deepEqual(jobOf(`${base}job:\n  <<: *a\n  <<: *b\n  script: x`).tags, ['a']);
  t.is(jobOf(`${base}job:\n  <<: [*a, *b]\n  script: x`).image, 'first');
  t.is(jobOf(`${base}job:\n  <<: {image: inline}\n  script: x`).image, 'inline');
});

test('a merge key takes over what was merged into its source', (t) => {
  const job = jobOf('.a: &a {image: a}\n.b: &b\n  <<: *a\n  tags: [b]\njob:\n  <<: *b\n  script: x');
  t.is(job.image, 'a');
  t.deepEqual(job.tags, ['b']);
});

test('a merge key without a mapping is a key that nobody knows', (t) => {
  const result = parseCiConfig('job:\n  script: x\n  <<: text\n');
  t.like(result, {
    errors: [{ kind: 'job.key.unknown', line: 3, message: '"<<" needs a mapping or a list of mappings' }],
  });
  t.true('config' in parseCiConfig('.hidden:\n  <<: text\njob: {script: x}'));
});

test('byte order mark, carriage returns, other alphabets and old symbols are accepted', (t) => {
  const job = jobOf('\uFEFF:image: gcc\r\n"größe ✓":\r\n  :script:\r\n    - echo ä\r\n', 'größe ✓');
  t.is(job.image, 'gcc');
  t.deepEqual(job.script, ['echo ä']);
});

test('of several documents the first one is used', (t) => {
  t.deepEqual(jobOf('---\njob: {script: x}\n---\njob: {script: y}\n').script, ['x']);
});

test('plain scalars are what the first version of YAML makes of them', (t) => {
  const tags = (items: string) => jobOf(`job: {script: x, tags: [${items}]}`).tags;
  t.deepEqual(tags('08, 0o17, 1e3, 3.10.1, 1.0.0, "7", \'true\''), [
    '08',
    '0o17',
    '1e3',
    '3.10.1',
    '1.0.0',
    '7',
    'true',
  ]);
  t.deepEqual(tags(':one, ":two", =, y, n'), ['one', ':two', '=', 'y', 'n']);
  for (const item of [
    '7',
    '-7',
    '0755',
    '0x1F',
    '.5',
    '3.10',
    '09.5',
    '.inf',
    '.NaN',
    'tRUE',
    'False',
    'nULL',
    '~',
  ]) {
    t.like(parseCiConfig(`job: {script: x, tags: [${item}]}`), { errors: [{ kind: 'tags.type' }] }, item);
  }
});

test('standard tags say what a scalar is, in a file of version 1.1 too', (t) => {
  t.is(jobOf('job: {script: x, image: !!str 7}').image, '7');
  t.like(parseCiConfig('job: {script: x, image: !!int "7"}'), { errors: [{ kind: 'image.type' }] });
  t.true(jobOf('job: {script: x, allow_failure: !!bool "yes"}').allowFailure);
  t.is(jobOf('%YAML 1.1\n---\njob: {script: x, image: 2016-01-01}').image, '2016-01-01');
});

test('a flag is a boolean or one of its words, in any case and never quoted', (t) => {
  for (const word of ['true', 'True', 'tRUE', 'yes', 'YES', 'On']) {
    t.true(jobOf(`job: {script: x, allow_failure: ${word}}`).allowFailure, word);
  }
  for (const word of ['false', 'NO', 'Off']) {
    t.false(jobOf(`job: {script: x, allow_failure: ${word}}`).allowFailure, word);
  }
});

test('brackets and quoted text may go on in lines of any indentation', (t) => {
  const job = jobOf(
    'job:\n  script:\n  - "one\n  two"\n  - \'three\n\nfour\'\n  tags: [\n a,\nb\n]\n  image: x\n',
  );
  t.deepEqual(job.script, ['one two', 'three\nfour']);
  t.deepEqual(job.tags, ['a', 'b']);
  t.is(job.image, 'x');
});

test('lines may end in a carriage return alone', (t) => {
  t.deepEqual(jobOf('job:\r  script:\r    - a\r    - b\r').script, ['a', 'b']);
});

test('a hidden job may have lists and mappings as keys', (t) => {
  t.deepEqual(jobOf('.hidden: {? [a, b] : c}\njob: {script: x}').script, ['x']);
  t.like(parseCiConfig('job:\n  script: x\n  ? [a]\n  : b\n'), { errors: [{ kind: 'yaml.key', line: 3 }] });
});

test('a block at the very end has the line breaks that stand in the file', (t) => {
  const scripts = (end: string) => jobOf(`job:\n  script: ${end}`).script;
  t.deepEqual(scripts('|\n    a\n    b'), ['a\nb']);
  t.deepEqual(scripts('|\n    a\n    b\n'), ['a\nb\n']);
  t.deepEqual(scripts('|\n    a\n    b\n    '), ['a\nb\n']);
  t.deepEqual(scripts('>+\n    a\n    b'), ['a b']);
  t.deepEqual(jobOf('job:\n  script:\n    - |\n      a\n    - b').script, ['a\n', 'b']);
});

test('merge keys bring jobs to the top, keys into sub-mappings, and follow their order in each', (t) => {
  const text = `
.jobs: &jobs
  one: {script: a}
  two: {script: b}
.vars: &vars {A: merged, B: merged}
.art: &art {paths: [x], when: always}
one: {script: before}
<<: *jobs
two: {script: after}
three:
  script: x
  variables: {A: own, <<: *vars, B: own}
  artifacts:
    <<: [{when: on_failure}, *art]
    expire_in: 1 day
`;
  t.deepEqual(jobOf(text, 'one').script, ['a']);
  t.deepEqual(jobOf(text, 'two').script, ['after']);
  t.deepEqual({ ...jobOf(text, 'three').variables }, { A: 'merged', B: 'own' });
  t.deepEqual(jobOf(text, 'three').artifacts, { when: 'on_failure', paths: ['x'], expire_in: '1 day' });
});

test('an anchor may be set again: an alias means the last one before it', (t) => {
  const text =
    '.a: &x {image: one}\nfirst: {<<: *x, script: a}\n.b: &x {image: two}\nsecond: {<<: *x, script: a}';
  t.is(jobOf(text, 'first').image, 'one');
  t.is(jobOf(text, 'second').image, 'two');
});
