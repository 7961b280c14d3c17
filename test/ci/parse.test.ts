import test from 'ava';
import { configOf, jobOf } from './read.ts';

test('a script alone makes a job of the test stage', (t) => {
  const config = configOf('job: {script: make}');
  t.deepEqual(config.stages, ['build', 'test', 'deploy']);
  t.deepEqual(config.jobs, [
    {
      name: 'job',
      stage: 'test',
      stageIndex: 1,
      script: ['make'],
      afterScript: null,
      image: null,
      services: null,
      variables: Object.create(null),
      tags: [],
      only: null,
      except: null,
      allowFailure: false,
      when: 'on_success',
      dependencies: null,
      artifacts: null,
      cache: null,
      environment: null,
      coverage: null,
    },
  ]);
  t.deepEqual(config.warnings, []);
});

test('every key of a job is read', (t) => {
  const job = jobOf(`
job:
  stage: deploy
  image: gcc:12
  services: [redis, "postgres:15"]
  before_script: [./configure]
  script:
    - make
    - |
      if true; then
        make install
      fi
  after_script: [make clean]
  variables: {CC: clang}
  tags: [linux, fast]
  only: [master, tags]
  except: ["/^wip/"]
  allow_failure: yes
  when: always
  dependencies: []
  artifacts:
    name: "out-$CI_BUILD_REF"
    paths: [out/]
    untracked: on
    when: on_failure
    expire_in: 2 weeks
  cache: {key: "$CI_BUILD_STAGE", paths: [.cache], untracked: false}
  environment: review/one two
  coverage: '/total: (\\d+)/'
`);
  t.is(job.stageIndex, 2);
  t.is(job.image, 'gcc:12');
  t.deepEqual(job.services, ['redis', 'postgres:15']);
  t.deepEqual(job.script, ['./configure', 'make', 'if true; then\n  make install\nfi\n']);
  t.deepEqual(job.afterScript, ['make clean']);
  t.deepEqual({ ...job.variables }, { CC: 'clang' });
  t.deepEqual(job.tags, ['linux', 'fast']);
  t.deepEqual(
    job.only?.map(({ text }) => text),
    ['master', 'tags'],
  );
  t.deepEqual(job.except, [{ text: '/^wip/', regex: { source: '^wip', ignoreCase: false }, project: null }]);
  t.true(job.allowFailure);
  t.is(job.when, 'always');
  t.deepEqual(job.dependencies, []);
  t.deepEqual(job.artifacts, {
    name: 'out-$CI_BUILD_REF',
    untracked: true,
    paths: ['out/'],
    when: 'on_failure',
    expire_in: '2 weeks',
  });
  t.deepEqual(job.cache, { key: '$CI_BUILD_STAGE', untracked: false, paths: ['.cache'] });
  t.is(job.environment, 'review/one two');
  t.is(job.coverage, 'total: (\\d+)');
});

const globals = `
image: ruby
services: [mysql]
before_script: [bundle]
after_script: [tidy]
cache: {paths: [vendor]}
variables: {A: one, B: two}
`;

test('global settings hold for a job without its own', (t) => {
  const job = jobOf(`${globals}job: {script: [rake], cache: , before_script: }`);
  t.is(job.image, 'ruby');
  t.deepEqual(job.services, ['mysql']);
  t.deepEqual(job.script, ['bundle', 'rake']);
  t.deepEqual(job.afterScript, ['tidy']);
  t.deepEqual(job.cache, { paths: ['vendor'] });
  t.deepEqual({ ...job.variables }, { A: 'one', B: 'two' });
});

test('what a job sets replaces the global setting, only variables are merged', (t) => {
  const job = jobOf(`${globals}
job:
  image: gcc
  services: []
  before_script: []
  after_script: []
  cache: {}
  variables: {B: own}
  script: make
`);
  t.is(job.image, 'gcc');
  t.deepEqual(job.services, []);
  t.deepEqual(job.script, ['make']);
  t.deepEqual(job.afterScript, []);
  t.deepEqual(job.cache, {});
  t.deepEqual({ ...job.variables }, { A: 'one', B: 'own' });
});

test('scripts may be nested lists, and lists of other jobs', (t) => {
  const job = jobOf('.steps: &steps [one, [two]]\njob:\n  script:\n    - *steps\n    - three\n');
  t.deepEqual(job.script, ['one', 'two', 'three']);
});

test('numbers and booleans keep their spelling as script items and values', (t) => {
  const job = jobOf(
    'job: {script: [1.50, yes], variables: {A: 0755, B: 3.10, C: true, D: , E: 2020-01-01, F: 1_0}}',
  );
  t.deepEqual(job.script, ['1.50', 'yes']);
  t.deepEqual({ ...job.variables }, { A: '0755', B: '3.10', C: 'true', D: '', E: '2020-01-01', F: '1_0' });
});

test('a variable may be written as a form, and asks not to be expanded by doubling its dollar signs', (t) => {
  const job = jobOf(
    'job: {script: x, variables: {A: {value: a$B, description: why}, C: {value: a$B, expand: false}}}',
  );
  t.deepEqual({ ...job.variables }, { A: 'a$B', C: 'a$$B' });
});

test('an anchor may be defined again; an alias means the nearest one above', (t) => {
  const config = configOf('.x: &i one\na: {script: x, image: *i}\n.y: &i two\nb: {script: x, image: *i}');
  t.deepEqual(
    config.jobs.map(({ image }) => image),
    ['one', 'two'],
  );
});

test('of a job given twice the last one counts, at the place of the first', (t) => {
  const config = configOf('a: {script: one}\nb: {script: x}\na: {script: two}\n');
  t.deepEqual(
    config.jobs.map(({ name, script }) => [name, ...script]),
    [
      ['a', 'two'],
      ['b', 'x'],
    ],
  );
});

test('hidden jobs are neither built nor checked', (t) => {
  const config = configOf('.a:\n.b: [1, 2]\n.c: {nonsense: true}\n.d: text\njob: {script: x}');
  t.is(config.jobs.length, 1);
});

test('stages and their old name', (t) => {
  t.deepEqual(configOf('types: [one]\njob: {script: x, type: one}').stages, ['one']);
  t.deepEqual(configOf('types: [one]\nstages: [two, test]\njob: {script: x}').stages, ['two', 'test']);
  t.is(jobOf('job: {script: x, stage: build, type: deploy}').stage, 'build');
  t.is(jobOf('job: {script: x, stage: }').stage, 'test');
  t.deepEqual(configOf('stages:\njob: {script: x}').stages, ['build', 'test', 'deploy']);
});

test('a stage listed twice has the place of its first mention', (t) => {
  const config = configOf('stages: [test, one, test, two]\na: {script: x}\nb: {script: x, stage: two}');
  t.deepEqual(config.stages, ['test', 'one', 'test', 'two']);
  t.deepEqual(
    config.jobs.map(({ stageIndex }) => stageIndex),
    [0, 3],
  );
});

test('null means not given', (t) => {
  const keys = [
    'tags',
    'when',
    'allow_failure',
    'environment',
    'only',
    'except',
    'artifacts',
    'dependencies',
    'variables',
  ];
  const job = jobOf(`job:\n  script: x\n${keys.map((key) => `  ${key}:\n`).join('')}`);
  t.deepEqual(job, jobOf('job: {script: x}'));
  t.is(jobOf('job: {script: x, only: []}').only, null);
});

test('a job started by hand is allowed to fail unless it says otherwise', (t) => {
  t.true(jobOf('job: {script: x, when: manual}').allowFailure);
  t.false(jobOf('job: {script: x, when: manual, allow_failure: false}').allowFailure);
});

test('artifacts that never expire have no expiry', (t) => {
  t.deepEqual(jobOf('job: {script: x, artifacts: {paths: [a], expire_in: never}}').artifacts, {
    paths: ['a'],
  });
  t.deepEqual(jobOf('job: {script: x, artifacts: {expire_in: 90}}').artifacts, { expire_in: '90' });
});

test('looser forms of later files are understood', (t) => {
  t.is(jobOf('job: {script: x, image: {name: gcc}}').image, 'gcc');
  t.deepEqual(jobOf('job: {script: x, services: [{name: redis}]}').services, ['redis']);
  t.deepEqual(jobOf('job: {script: x, before_script: first}').script, ['first', 'x']);
  t.deepEqual(jobOf('job: {script: x, only: {refs: [tags]}}').only?.length, 1);
  t.is(jobOf('job: {script: x, environment: {name: prod}}').environment, 'prod');
  t.deepEqual(jobOf('job: {script: x, cache: [{key: 7, paths: [a]}]}').cache, { key: '7', paths: ['a'] });
});

test('an old file may have a job named like a keyword of today', (t) => {
  t.deepEqual(
    configOf('default: {script: a}\nworkflow: {script: b}').jobs.map(({ name }) => name),
    ['default', 'workflow'],
  );
});

test('null at the top means not given', (t) => {
  const keys = [
    'image',
    'services',
    'stages',
    'types',
    'before_script',
    'after_script',
    'variables',
    'cache',
  ];
  t.deepEqual(jobOf(`${keys.map((key) => `${key}:\n`).join('')}job: {script: x}`), jobOf('job: {script: x}'));
});

test('an empty script makes a build with nothing to run', (t) => {
  t.deepEqual(jobOf('job: {script: []}').script, []);
  t.deepEqual(jobOf('job: {script: ""}').script, ['']);
});

test('texts alone stand for lists of one in every place where later files have them', (t) => {
  const job = jobOf('before_script: a\nafter_script: b\nservices: c\njob: {script: x, only: d, except: e}');
  t.deepEqual([job.script, job.afterScript, job.services], [['a', 'x'], ['b'], ['c']]);
  t.deepEqual(
    [...(job.only ?? []), ...(job.except ?? [])].map(({ text }) => text),
    ['d', 'e'],
  );
});
