import test from 'ava';
import type { CiProblem } from '../../server/ci/config.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { formatProblem } from '../../server/ci/problems.ts';

const good = 'ok: {script: echo}\n';

function errorsOf(text: string): CiProblem[] {
  const result = parseCiConfig(text);
  return 'errors' in result ? result.errors : [];
}

/** Each row: what is wrong, the file, then every expected fault as kind and line. */
const faults: [title: string, text: string, expected: string[]][] = [
  ['nothing in the file', '', ['file.empty 1']],
  ['only comments', '\n# later\n# more\n', ['file.empty 1']],
  ['only a document marker', '---\n', ['file.empty 1']],
  ['text alone', 'make all', ['file.type 1']],
  ['a list alone', '- make\n- make test\n', ['file.type 1']],
  ['a mapping inside a line', 'compile: script: make', ['yaml.syntax 1']],
  ['a tab as indentation', 'compile:\n\tscript: make', ['yaml.syntax 2']],
  ['an unknown alias', 'compile:\n  script: make\n  <<: *base', ['yaml.alias 3']],
  ['an alias inside its own anchor', 'compile: &c\n  script: [*c]\n', ['yaml.alias 2']],
  ['an object tag', 'compile:\n  script: !ruby/hash:Some {}', ['yaml.tag 2']],
  ['a binary tag', 'compile: {script: !!binary aGVsbG8=}', ['yaml.tag 1']],
  ['a mapping as key', '? {a: b}\n: c\n', ['yaml.key 1']],
  ['two documents of which the first is empty', '---\n---\ncompile: {script: make}', ['file.empty 1']],
  ['an unclosed quote', "compile: {script: 'make", ['yaml.syntax 1', 'yaml.syntax 1']],
  ['a NUL character', 'compile:\n  script: "a\\0b"', ['yaml.character 2']],
  ['no job at all', 'before_script: [make]\n', ['jobs.none 1']],
  ['only hidden jobs', '.base: {script: make}\n', ['jobs.none 1']],
  ['a number at the top', `${good}level: 3\n`, ['key.unknown 2']],
  ['a misspelt keyword', `${good}before_scripts: [make]\n`, ['key.unknown 2']],
  ['an empty job', `${good}compile:\n`, ['job.blank 2']],
  ['text as job', `${good}compile: make\n`, ['job.type 2']],
  ['a list as job', `${good}compile: [make]\n`, ['job.type 2']],
  ['a job without script', `${good}compile: {image: gcc}\n`, ['job.script.missing 2']],
  ['a job with an empty script key', 'compile:\n  image: gcc\n  script:\n', ['job.script.missing 3']],
  ['a number as script', 'compile: {script: 7}', ['script.type 1']],
  ['nothing as item of a script', 'compile:\n  script:\n    - make\n    -\n', ['script.type 4']],
  ['a script item read as mapping', 'compile:\n  script:\n    - echo "size": 10', ['script.map 3']],
  ['an unknown key of a job', 'compile: {script: make, colour: red}', ['job.key.unknown 1']],
  ['a list as image', `image: [gcc]\n${good}`, ['image.type 1']],
  ['a number as image', 'compile: {script: make, image: 3.10}', ['image.type 1']],
  ['an image without name', 'compile: {script: make, image: {}}', ['image.type 1']],
  ['a number as service', `services: [5432]\n${good}`, ['services.item.type 1']],
  ['a number as services', `services: 5432\n${good}`, ['services.type 1']],
  ['text as stages', `stages: build\n${good}`, ['stages.type 1']],
  ['a boolean as stage name', `stages: [false]\n${good}`, ['stages.type 1']],
  ['no stages', `stages: []\n${good}`, ['stages.empty 1']],
  ['an unknown stage', 'compile:\n  script: make\n  stage: compile\n', ['job.stage.unknown 3']],
  ['a number as stage', 'compile: {script: make, stage: 2}', ['job.stage.type 1']],
  [
    'one fault of a stage list, not one per job',
    `stages: 1\n${good}a: {script: x, stage: z}`,
    ['stages.type 1'],
  ],
  ['a missing default stage', 'stages: [one]\ncompile: {script: make}', ['job.stage.default 2']],
  ['a list as variables', `variables: [A]\n${good}`, ['variables.type 1']],
  ['text as variables', 'compile: {script: make, variables: A}', ['variables.type 1']],
  ['a list as value of a variable', `variables:\n  A: [x]\n${good}`, ['variables.value.type 2']],
  ['text as cache', `cache: tmp\n${good}`, ['cache.type 1']],
  ['an unknown key of the cache', `cache: {path: [a]}\n${good}`, ['cache.key.unknown 1']],
  ['text as paths of the cache', `cache: {paths: tmp}\n${good}`, ['cache.paths.type 1']],
  ['quoted yes in the cache', `cache: {untracked: "no"}\n${good}`, ['cache.untracked.type 1']],
  ['a list as key of the cache', `cache: {key: [a]}\n${good}`, ['cache.key.type 1']],
  ['texts as caches', 'compile: {script: make, cache: [tmp]}', ['cache.type 1']],
  ['two caches', 'compile: {script: make, cache: [{paths: [a]}, {paths: [b]}]}', ['key.unsupported 1']],
  ['a list as artifacts', 'compile: {script: make, artifacts: [out]}', ['artifacts.type 1']],
  [
    'an unknown key of artifacts',
    'compile: {script: make, artifacts: {colour: 1}}',
    ['artifacts.key.unknown 1'],
  ],
  [
    'a number as name of artifacts',
    'compile: {script: make, artifacts: {name: 7}}',
    ['artifacts.name.type 1'],
  ],
  [
    'text as paths of artifacts',
    'compile: {script: make, artifacts: {paths: out}}',
    ['artifacts.paths.type 1'],
  ],
  [
    'a number as untracked',
    'compile: {script: make, artifacts: {untracked: 1}}',
    ['artifacts.untracked.type 1'],
  ],
  [
    'an unknown time of upload',
    'compile: {script: make, artifacts: {when: later}}',
    ['artifacts.when.value 1'],
  ],
  [
    'an unknown word in a duration',
    'compile: {script: make, artifacts: {expire_in: 3 moons}}',
    ['duration.parse 1'],
  ],
  ['a duration of nothing', 'compile: {script: make, artifacts: {expire_in: 0}}', ['duration.parse 1']],
  ['a negative duration', 'compile: {script: make, artifacts: {expire_in: -1 day}}', ['duration.parse 1']],
  ['an empty duration', 'compile: {script: make, artifacts: {expire_in: ""}}', ['duration.parse 1']],
  ['text as tags', 'compile: {script: make, tags: linux}', ['tags.type 1']],
  ['a number as tag', 'compile: {script: make, tags: [8]}', ['tags.type 1']],
  ['a number in only', 'compile: {script: make, only: [8]}', ['only.type 1']],
  ['a number as except', 'compile: {script: make, except: 8}', ['except.type 1']],
  ['a broken expression', 'compile:\n  script: make\n  only:\n    - tags\n    - /v(1/\n', ['only.regex 5']],
  ['look-around', 'compile: {script: make, except: ["/(?!v)x/"]}', ['except.regex 1']],
  ['quoted yes as allow_failure', 'compile: {script: make, allow_failure: "on"}', ['allow_failure.type 1']],
  ['an unknown when', 'compile: {script: make, when: never}', ['when.value 1']],
  ['a number as environment', 'compile: {script: make, environment: 9}', ['environment.type 1']],
  ['text as dependencies', 'compile: {script: make, dependencies: other}', ['dependencies.type 1']],
  ['an unknown dependency', 'compile: {script: make, dependencies: [other]}', ['dependencies.unknown 1']],
  [
    'a hidden dependency',
    '.o: {script: a}\ncompile: {script: b, dependencies: [.o]}',
    ['dependencies.unknown 2'],
  ],
  [
    'a dependency in the same stage',
    `${good}check: {script: b, dependencies: [ok]}`,
    ['dependencies.order 2'],
  ],
  ['a dependency on a faulty job', 'a:\nb: {script: x, dependencies: [a]}', ['job.blank 1']],
  [
    'a dependency in a later stage',
    'ship: {script: a, stage: deploy}\ncheck: {script: b, dependencies: [ship]}',
    ['dependencies.order 2'],
  ],
  ['a dependency on itself', 'check: {script: b, dependencies: [check]}', ['dependencies.order 1']],
  ['a number as job name', '7: {script: make}', ['job.name 1']],
  ['a boolean as job name', 'false: {script: make}', ['job.name 1']],
  ['an empty job name', '"": {script: make}', ['job.name 1']],
  ['an immense job name', `${'j'.repeat(256)}: {script: make}`, ['job.name 1']],
  ['coverage without slashes', 'compile: {script: make, coverage: \\d+}', ['coverage.format 1']],
  ['a broken coverage expression', 'compile: {script: make, coverage: /(/}', ['coverage.regex 1']],
];

for (const [title, text, expected] of faults) {
  test(`${title}: ${expected.join(', ')}`, (t) => {
    t.deepEqual(
      errorsOf(text).map(({ kind, line }) => `${kind} ${line}`),
      expected,
    );
  });
}

const conditions = [
  'rules: [{if: $A}]',
  'needs: []',
  'extends: .a',
  'parallel: 2',
  'resource_group: r',
  'trigger: x',
];

for (const condition of [
  ...conditions,
  'identity: x',
  'inputs: {}',
  'dast_configuration: {}',
  'allow_failure: {exit_codes: 1}',
  'image: {name: a, entrypoint: [""]}',
  'image: {name: a, docker: {user: b}}',
  'image: {name: a, docker: {platform: b}}',
  'services: [{name: a, alias: b}]',
  'services: [{name: a, command: [b]}]',
  'services: [{name: a, entrypoint: [b]}]',
  'services: [{name: a, variables: {B: c}}]',
  'artifacts: {exclude: [a]}',
  'artifacts: {reports: {dotenv: a}}',
  'environment: !reference [a, b]',
  'secrets: {}',
  'id_tokens: {}',
  'run: []',
  'inherit: {}',
  'release: {}',
]) {
  test(`a job is refused, not run without its ${condition}`, (t) => {
    const [error, ...more] = errorsOf(`deploy: {script: make, ${condition}}`);
    t.is(error?.kind, 'key.unsupported');
    t.regex(error?.message ?? '', /is not supported by this server \(.+\)/);
    t.deepEqual(more, []);
  });
}

for (const refs of ['only: {variables: [$A]}', 'only: {changes: [a]}', 'except: {kubernetes: active}']) {
  test(`a condition is never dropped: ${refs}`, (t) => {
    t.deepEqual(
      errorsOf(`deploy: {script: make, ${refs}}`).map(({ kind }) => kind),
      ['key.unsupported'],
    );
  });
}

for (const key of ['include: a.yml', 'default: {image: a}', 'workflow: {rules: []}', 'spec: {inputs: {}}']) {
  test(`the file is refused, not read without its ${key}`, (t) => {
    t.deepEqual(
      errorsOf(`${good}${key}\n`).map(({ kind, line }) => `${kind} ${line}`),
      ['key.unsupported 2'],
    );
  });
}

test('every error is reported, in the order of the file, up to twenty', (t) => {
  const text = 'image: 1\na: {script: 2}\nservices: 3\nb: {script: x, tags: y, stage: z}\n';
  t.deepEqual(
    errorsOf(text).map(({ kind, line }) => `${kind} ${line}`),
    ['image.type 1', 'script.type 2', 'services.type 3', 'tags.type 4', 'job.stage.unknown 4'],
  );
  const many = Array.from({ length: 30 }, (_, index) => `job${index}: text`).join('\n');
  t.is(errorsOf(many).length, 20);
});

test('a fault is told by path, problem and line', (t) => {
  const [stage] = errorsOf('compile:\n  script: make\n  stage: nope\n');
  t.is(
    stage && formatProblem(stage),
    'jobs:compile:stage: must be one of the stages: build, test, deploy (line 3)',
  );
  t.is(stage?.column, 10);
  const [key] = errorsOf('compile:\n  scripts: make\n  script: make\n');
  t.is(key && formatProblem(key), 'jobs:compile: unknown key "scripts", did you mean "script"? (line 2)');
  const [syntax] = errorsOf('compile:\n\tscript: make');
  t.is(syntax && formatProblem(syntax), 'Tabs are not allowed as indentation at 2:1 (line 2)');
  const [duration] = errorsOf('a: {script: b, artifacts: {expire_in: 3 moons}}');
  t.is(
    duration && formatProblem(duration),
    'jobs:a:artifacts:expire_in: word "moons" not understood (line 1)',
  );
});

test('a job of another kind is told that its kind is missing, not its script', (t) => {
  for (const kind of ['trigger: other/project', 'run: []', 'extends: .base', 'extends: .base, stage: test']) {
    const errors = errorsOf(`stages: [test]\n.base: {script: x}\nship: {${kind}}`);
    t.deepEqual(
      errors.map(({ kind: found, line }) => `${found} ${line}`),
      ['key.unsupported 3'],
    );
  }
});

test('a fault is told in one short line, whatever the name of its job', (t) => {
  const [fault] = errorsOf(`"a\\nb\\u2028c\\e[1m${'x'.repeat(900)}": make\n`);
  const line = fault ? formatProblem(fault) : '';
  t.regex(line, /^jobs:a b c \[1mx+…: the name of a job has at most 255 characters \(line 1\)$/);
  t.true(line.length < 400);
});

test('a keyword that is far from all known ones gets no suggestion', (t) => {
  t.is(errorsOf('a: {script: b, colour: red}')[0]?.message, 'unknown key "colour"');
});

for (const ignored of [
  ...[
    'timeout: 1h',
    'interruptible: true',
    'pages: true',
    'publish: a',
    'hooks: {}',
    'manual_confirmation: a',
  ],
  ...[
    'cache: {policy: pull}',
    'cache: {when: always}',
    'cache: {fallback_keys: [a]}',
    'cache: {unprotect: true}',
  ],
  ...[
    'cache: {key: {files: [a]}}',
    'artifacts: {expose_as: a}',
    'artifacts: {public: false}',
    'artifacts: {access: all}',
  ],
  ...['image: {name: a, pull_policy: always}', 'services: [{name: a, pull_policy: always}]'],
  ...[
    'environment: {name: a, url: b}',
    'environment: {name: a, auto_stop_in: 1 day}',
    'environment: {name: a, deployment_tier: b}',
  ],
]) {
  test(`a job runs without its ${ignored}, and its author is told`, (t) => {
    const result = parseCiConfig(`deploy:\n  script: make\n  ${ignored}\n`);
    t.true('config' in result);
    t.like(result.warnings, [{ kind: 'key.ignored', line: 3 }]);
  });
}

const placed: [text: string, place: string][] = [
  ['a:\n  script: make\n  tags: [x, 8]', 'tags.type 3:13'],
  ['a:\n  script:\n    - make\n    - x: y', 'script.map 4:7'],
  ['a:\n  colour: red\n  script: x', 'job.key.unknown 2:3'],
  ['variables:\n  A: [1]\na: {script: x}', 'variables.value.type 2:6'],
  ['a: {script: x, artifacts: {when: never}}', 'artifacts.when.value 1:34'],
  ['ä ✓: {script: x, only: ["/(/"]}', 'only.regex 1:25'],
  ['a:\r\n  script: x\r\n  when: y', 'when.value 3:9'],
  ['.x: &x {when: y}\na:\n  <<: *x\n  script: x', 'when.value 1:15'],
];

for (const [text, place] of placed) {
  test(`the place of a fault is its value in the file: ${place}`, (t) => {
    t.deepEqual(
      errorsOf(text).map(({ kind, line, column }) => `${kind} ${line}:${column}`),
      [place],
    );
  });
}

const warned: [text: string, kind: string, line: number][] = [
  ['a: {script: [true, 7]}', 'script.item.type', 1],
  [`services: postgres\n${good}`, 'services.type', 1],
  [`variables:\n  2ND: x\n${good}`, 'variables.name', 2],
  [`variables:\n  a-b: x\n${good}`, 'variables.name', 2],
  [`before_script: [10, a]\n${good}`, 'script.item.type', 1],
  [`workflow: {name: x}\n${good}`, 'key.ignored', 1],
  ['a: {script: one}\nb: {script: x}\na: {script: two}\n', 'job.duplicate', 3],
  ['a:\n  script: one\n  script: two\n', 'key.duplicate', 3],
  [`image: a\nimage: b\n${good}`, 'key.duplicate', 2],
  [`${good}---\nimage: 7\n`, 'yaml.documents', 2],
  ['a: {script: !mine x}', 'yaml.tag', 1],
  ['pages: {script: x}', 'job.pages', 1],
  ['a: {script: x, retry: 2}', 'key.ignored', 1],
  ['a: {script: x, when: delayed, start_in: 1 day}', 'when.delayed', 1],
  ['a: {script: x, only: [merge_requests]}', 'only.source', 1],
  ['a: {script: x, only: ["/a@b/"]}', 'only.at', 1],
  ['a: {script: x, artifacts: {reports: {junit: a.xml}}}', 'key.ignored', 1],
];

for (const [text, kind, line] of warned) {
  test(`runs with a warning ${kind}: ${JSON.stringify(text)}`, (t) => {
    const result = parseCiConfig(text);
    t.true('config' in result);
    t.is(result.warnings[0]?.kind, kind);
    t.is(result.warnings[0]?.line, line);
  });
}
