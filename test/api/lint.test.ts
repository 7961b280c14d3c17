import test from 'ava';
import { withApp } from '../support/app.ts';

const holder = withApp();

interface Lint {
  status: string;
  errors: string[];
  warnings: string[];
  stages: string[] | null;
  merged: Record<string, unknown>[] | null;
}

async function lint(content: string): Promise<Lint> {
  const user = await holder.app.make.user();
  const answer = await holder.app.call<Lint>('POST', '/api/v3/ci/lint', {
    as: user.token,
    json: { content },
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  return answer.body;
}

test('a valid file comes back as its jobs, with everything merged into them', async (t) => {
  const text = `
image: gcc
before_script: [./configure]
variables: {A: one}
.base: &base {tags: [linux], image: first}
compile:
  <<: *base
  image: own
  stage: build
  script: [make, [make install]]
  variables: {B: 3.10}
  only: [master@group/project, /^v/]
  retry: 2
  artifacts: {paths: [out/], expire_in: 1 week}
`;
  const { merged, ...rest } = await lint(text);
  t.deepEqual(rest, {
    status: 'valid',
    errors: [],
    warnings: ['jobs:compile:retry: is ignored: the job runs once (line 13)'],
    stages: ['build', 'test', 'deploy'],
  });
  t.deepEqual(merged, [
    {
      name: 'compile',
      stage: 'build',
      when: 'on_success',
      allow_failure: false,
      script: ['./configure', 'make', 'make install'],
      after_script: null,
      image: 'own',
      services: null,
      variables: { A: 'one', B: '3.10' },
      tags: ['linux'],
      only: ['master@group/project', '/^v/'],
      except: null,
      dependencies: null,
      artifacts: { paths: ['out/'], expire_in: '1 week' },
      cache: null,
      environment: null,
      coverage: null,
    },
  ]);
});

test('an invalid file comes back with every fault and its line', async (t) => {
  t.deepEqual(await lint('compile:\n  scripts: make\n  script: make\n  stage: nope\n  when: delayed\n'), {
    status: 'invalid',
    errors: [
      'jobs:compile: unknown key "scripts", did you mean "script"? (line 2)',
      'jobs:compile:stage: must be one of the stages: build, test, deploy (line 4)',
    ],
    warnings: [
      'jobs:compile:when: delayed jobs are not supported yet, the job waits to be started by hand (line 5)',
    ],
    stages: null,
    merged: null,
  });
  for (const [content, error] of [
    ['', 'file is empty (line 1)'],
    ['a: {script: "\\0"}', 'contains a NUL character (line 1)'],
    ['a: \0', 'contains a NUL character (line 1)'],
    [`#${'x'.repeat(1024 * 1024)}`, 'file is larger than 1048576 bytes (line 1)'],
  ] as const) {
    t.is((await lint(content)).errors[0], error);
  }
});

test('names of the JavaScript object are names like any other', async (t) => {
  const { merged } = await lint('constructor: {script: a, variables: {toString: x}}');
  t.like(merged?.[0], { name: 'constructor', variables: { toString: 'x' } });
});

test('it is for users, and needs a content of bounded size', async (t) => {
  const { app } = holder;
  const call = (as: string | undefined, json: unknown) => app.call('POST', '/api/v3/ci/lint', { as, json });
  t.is((await call(undefined, { content: 'x' })).status, 401);
  const { token } = await app.make.user();
  t.is((await call(token, {})).status, 400);
  t.is((await call(token, { content: ['x'] })).status, 400);
  t.is((await call(token, { content: 'x'.repeat(3 * 1024 * 1024) })).status, 413);
});
