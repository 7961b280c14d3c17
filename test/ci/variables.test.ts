import test from 'ava';
import { mergeVariables, type PredefinedInput, predefinedVariables } from '../../server/ci/variables.ts';
import { expandVariables } from '../../shared/variables.ts';

const sha = '0123456789abcdef0123456789abcdef01234567';
const input: PredefinedInput = {
  server: { name: 'Hearth', version: '1.2.3', revision: 'abc', baseUrl: 'http://forge.example.com:3000' },
  project: {
    id: 7,
    path: 'tool',
    namespacePath: 'group',
    title: 'The Tool',
    description: null,
    visibility: 'private',
    defaultBranch: 'master',
    webUrl: 'http://forge.example.com:3000/group/tool',
  },
  pipeline: { id: 5, iid: null, source: 'push', createdAt: '2024-01-02T03:04:05.000Z' },
  commit: {
    sha,
    beforeSha: '0'.repeat(40),
    message: 'Mend it\n\nBecause it cost $5 and $CI_JOB_TOKEN\n',
    authorName: 'Ann',
    authorEmail: 'ann@example.com',
    timestamp: '2024-01-02T03:04:00.000Z',
  },
  ref: { name: 'Feature/One', tag: false, protected: false },
  build: {
    id: 9,
    name: 'Unit tests: fast',
    stage: 'test',
    token: 'secret-token',
    repoUrl: 'http://gitlab-ci-token:secret-token@forge.example.com:3000/group/tool.git',
    image: 'gcc',
    environment: null,
    manual: false,
    startedAt: null,
    timeout: 3600,
  },
  runner: { id: 3, description: 'big box', tags: ['linux', 'fast'] },
  user: { id: 2, username: 'ann', name: 'Ann A.', email: 'ann@example.com' },
};

function valuesOf(changes: Partial<PredefinedInput> = {}): Record<string, string> {
  const variables = predefinedVariables({ ...input, ...changes });
  return Object.fromEntries(variables.map(({ key, value }) => [key, value]));
}

const valuesByName = {
  CI: 'true',
  GITLAB_CI: 'true',
  CI_SERVER: 'yes',
  CI_SERVER_NAME: 'Hearth',
  CI_SERVER_VERSION: '1.2.3',
  CI_SERVER_REVISION: 'abc',
  CI_SERVER_URL: 'http://forge.example.com:3000',
  CI_SERVER_HOST: 'forge.example.com',
  CI_SERVER_PORT: '3000',
  CI_SERVER_PROTOCOL: 'http',
  CI_API_URL: 'http://forge.example.com:3000/api/v3',
  CI_BUILD_ID: '9',
  CI_JOB_ID: '9',
  CI_BUILD_NAME: 'Unit tests: fast',
  CI_JOB_NAME: 'Unit tests: fast',
  CI_JOB_NAME_SLUG: 'unit-tests--fast',
  CI_BUILD_STAGE: 'test',
  CI_JOB_STAGE: 'test',
  CI_BUILD_REF: sha,
  CI_COMMIT_SHA: sha,
  CI_COMMIT_SHORT_SHA: '01234567',
  CI_BUILD_BEFORE_SHA: '0'.repeat(40),
  CI_COMMIT_BEFORE_SHA: '0'.repeat(40),
  CI_BUILD_REF_NAME: 'Feature/One',
  CI_COMMIT_REF_NAME: 'Feature/One',
  CI_BUILD_REF_SLUG: 'feature-one',
  CI_COMMIT_REF_SLUG: 'feature-one',
  CI_COMMIT_BRANCH: 'Feature/One',
  CI_COMMIT_TITLE: 'Mend it',
  CI_COMMIT_AUTHOR: 'Ann <ann@example.com>',
  CI_COMMIT_TIMESTAMP: '2024-01-02T03:04:00.000Z',
  CI_COMMIT_REF_PROTECTED: 'false',
  CI_DEFAULT_BRANCH: 'master',
  CI_BUILD_TOKEN: 'secret-token',
  CI_JOB_TOKEN: 'secret-token',
  CI_BUILD_REPO: input.build.repoUrl,
  CI_REPOSITORY_URL: input.build.repoUrl,
  CI_PIPELINE_ID: '5',
  CI_PIPELINE_SOURCE: 'push',
  CI_PIPELINE_URL: 'http://forge.example.com:3000/group/tool/pipelines/5',
  CI_PIPELINE_CREATED_AT: '2024-01-02T03:04:05.000Z',
  CI_JOB_URL: 'http://forge.example.com:3000/group/tool/builds/9',
  CI_JOB_IMAGE: 'gcc',
  CI_JOB_TIMEOUT: '3600',
  CI_PROJECT_ID: '7',
  CI_PROJECT_NAME: 'tool',
  CI_PROJECT_NAMESPACE: 'group',
  CI_PROJECT_ROOT_NAMESPACE: 'group',
  CI_PROJECT_PATH: 'group/tool',
  CI_PROJECT_PATH_SLUG: 'group-tool',
  CI_PROJECT_URL: 'http://forge.example.com:3000/group/tool',
  CI_PROJECT_TITLE: 'The Tool',
  CI_PROJECT_VISIBILITY: 'private',
  CI_RUNNER_ID: '3',
  CI_RUNNER_DESCRIPTION: 'big box',
  CI_RUNNER_TAGS: 'linux, fast',
  CI_NODE_TOTAL: '1',
  CI_CONFIG_PATH: '.gitlab-ci.yml',
  CI_DEBUG_TRACE: 'false',
  GITLAB_USER_ID: '2',
  GITLAB_USER_LOGIN: 'ann',
  GITLAB_USER_NAME: 'Ann A.',
  GITLAB_USER_EMAIL: 'ann@example.com',
};

test('every value goes by its old and its new name', (t) => {
  t.like(valuesOf(), valuesByName);
});

test('what does not apply is absent', (t) => {
  const values = valuesOf({ user: null, runner: null });
  for (const key of [
    'CI_BUILD_TAG',
    'CI_COMMIT_TAG',
    'CI_BUILD_TRIGGERED',
    'CI_PIPELINE_TRIGGERED',
    'CI_BUILD_MANUAL',
  ]) {
    t.false(key in values, key);
  }
  for (const key of [
    'CI_ENVIRONMENT_NAME',
    'CI_PROJECT_DESCRIPTION',
    'CI_PIPELINE_IID',
    'CI_JOB_STARTED_AT',
  ]) {
    t.false(key in values, key);
  }
  t.deepEqual(
    Object.keys(values).filter((key) => /^(GITLAB_USER|CI_RUNNER)/.test(key)),
    [],
  );
});

test('a tag has its name and no branch', (t) => {
  const values = valuesOf({ ref: { name: 'v1.0', tag: true, protected: false } });
  t.like(values, { CI_BUILD_TAG: 'v1.0', CI_COMMIT_TAG: 'v1.0', CI_COMMIT_REF_SLUG: 'v1-0' });
  t.false('CI_COMMIT_BRANCH' in values);
});

test('triggered and manual builds and environments say so', (t) => {
  const environment = 'review/a very long name of an environment';
  const values = valuesOf({
    pipeline: { ...input.pipeline, source: 'trigger' },
    build: { ...input.build, manual: true, environment },
  });
  t.like(values, { CI_BUILD_TRIGGERED: 'true', CI_PIPELINE_TRIGGERED: 'true', CI_BUILD_MANUAL: 'true' });
  t.like(values, { CI_ENVIRONMENT_NAME: environment, CI_ENVIRONMENT_SLUG: 'review-a-very-long-name' });
});

test('only tokens and the address that carries one are kept from services', (t) => {
  const secret = predefinedVariables(input).filter((variable) => !variable.public);
  t.deepEqual(secret.map(({ key }) => key).sort(), [
    'CI_BUILD_REPO',
    'CI_BUILD_TOKEN',
    'CI_JOB_TOKEN',
    'CI_REPOSITORY_URL',
  ]);
});

test('a commit message cannot make the runner expand a variable', (t) => {
  const { CI_COMMIT_MESSAGE = '', CI_COMMIT_DESCRIPTION = '' } = valuesOf();
  t.is(
    expandVariables(CI_COMMIT_MESSAGE, () => 'leaked'),
    input.commit.message,
  );
  t.is(
    expandVariables(CI_COMMIT_DESCRIPTION, () => 'leaked'),
    'Because it cost $5 and $CI_JOB_TOKEN\n',
  );
});

test('later lists win, with their own visibility', (t) => {
  const merged = mergeVariables(
    [{ key: 'A', value: 'predefined', public: true }],
    [
      { key: 'A', value: 'file', public: true },
      { key: 'B', value: 'file', public: true },
    ],
    [{ key: 'B', value: 'project', public: false }],
  );
  t.deepEqual(merged, [
    { key: 'A', value: 'file', public: true },
    { key: 'B', value: 'project', public: false },
  ]);
});

test('credentials cannot be replaced', (t) => {
  const keys = ['CI_JOB_TOKEN', 'CI_BUILD_TOKEN', 'CI_REPOSITORY_URL', 'CI_BUILD_REPO'];
  const predefined = keys.map((key) => ({ key, value: 'true one', public: false }));
  const forged = keys.map((key) => ({ key, value: 'forged', public: true }));
  t.deepEqual(mergeVariables(predefined, forged), predefined);
  t.deepEqual(mergeVariables([], forged), []);
});
