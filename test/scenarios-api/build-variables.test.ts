import test from 'ava';
import { version } from '../../server/version.ts';
import type { BuildPayload } from '../../shared/protocol/build.ts';
import { expandVariables } from '../../shared/variables.ts';
import { withApp } from '../support/app.ts';
import { cloneUrl, withWorkTrees } from '../support/git.ts';
import { PlayedRunner } from '../support/played-runner.ts';

const holder = withApp();
const trees = withWorkTrees();

const ciFile = `
image: "ruby:2.1"
variables: {GLOBAL: global, BOTH: global, CI_JOB_TOKEN: stolen, CI_PROJECT_NAME: mine}
compile:
  stage: build
  script: [make, make install]
  before_script: []
  variables: {BOTH: job}
  environment: review/app
  artifacts: {paths: [out/], expire_in: 1 week}
check:
  image: "ruby:2.2"
  services: ["postgres:9"]
  script: make check
  dependencies: [compile]
`;

const message = 'Mend $HOME and $CI_JOB_TOKEN\n\nThe body\nof it\n';

/** Pushes a branch and a tag and claims what comes of it. */
async function claimed() {
  const { app } = holder;
  const project = await app.make.project({
    visibility: 'internal',
    columns: { description: 'About it', build_timeout: 1800, name: 'The Project' },
  });
  const made = await app.make.runner({ projects: [project], tags: ['linux', 'ruby'] });
  const runner = new PlayedRunner(app, made);
  const tree = await trees.fresh();
  const url = cloneUrl(app, project, { password: project.owner.token });
  const before = await tree.commit();
  await tree.git('push', '--quiet', url, 'HEAD:master', 'HEAD:feature/New_Thing');
  const sha = await tree.commit({ '.gitlab-ci.yml': ciFile }, message);
  return { app, project, made, runner, tree, url, before, sha };
}

function valuesOf(build: BuildPayload): Record<string, string> {
  const values = Object.fromEntries(build.variables.map(({ key, value }) => [key, value]));
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, expandVariables(value, (name) => values[name])]),
  );
}

test('a build of a branch has every predefined variable, under the old and the new name', async (t) => {
  const { app, project, made, runner, tree, url, before, sha } = await claimed();
  await tree.git('push', '--quiet', url, 'HEAD:feature/New_Thing');
  const build = await runner.mustClaim();
  const values = valuesOf(build);
  const [pipeline] = await app.rows<{ id: number; created_at: Date; started_at: Date }>(
    `select pl.id, pl.created_at, b.started_at from pipelines pl join builds b on b.pipeline_id = pl.id
     where b.id = $1`,
    [build.id],
  );
  const web = `${app.url}/${project.fullPath}`;
  const { hostname, port } = new URL(app.url);
  const { username, id: userId } = project.owner;
  const repo = `http://gitlab-ci-token:${build.token}@${hostname}:${port}/${project.fullPath}.git`;
  const both = (oldName: string, newName: string, value: string) => ({ [oldName]: value, [newName]: value });
  t.deepEqual(values, {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_SERVER: 'yes',
    CI_SERVER_NAME: 'Hearth',
    CI_SERVER_VERSION: version,
    CI_SERVER_REVISION: '',
    CI_SERVER_URL: app.url,
    CI_SERVER_HOST: hostname,
    CI_SERVER_PORT: port,
    CI_SERVER_PROTOCOL: 'http',
    CI_API_URL: `${app.url}/api/v3`,
    ...both('CI_BUILD_ID', 'CI_JOB_ID', String(build.id)),
    ...both('CI_BUILD_NAME', 'CI_JOB_NAME', 'compile'),
    CI_JOB_NAME_SLUG: 'compile',
    ...both('CI_BUILD_STAGE', 'CI_JOB_STAGE', 'build'),
    ...both('CI_BUILD_REF', 'CI_COMMIT_SHA', sha),
    CI_COMMIT_SHORT_SHA: sha.slice(0, 8),
    ...both('CI_BUILD_BEFORE_SHA', 'CI_COMMIT_BEFORE_SHA', before),
    ...both('CI_BUILD_REF_NAME', 'CI_COMMIT_REF_NAME', 'feature/New_Thing'),
    ...both('CI_BUILD_REF_SLUG', 'CI_COMMIT_REF_SLUG', 'feature-new-thing'),
    CI_COMMIT_BRANCH: 'feature/New_Thing',
    CI_COMMIT_MESSAGE: message,
    CI_COMMIT_TITLE: 'Mend $HOME and $CI_JOB_TOKEN',
    CI_COMMIT_DESCRIPTION: 'The body\nof it\n',
    CI_COMMIT_AUTHOR: 'Ada Lovelace <ada@example.org>',
    CI_COMMIT_TIMESTAMP: '2016-06-03T03:43:20-03:30',
    CI_COMMIT_REF_PROTECTED: 'false',
    CI_DEFAULT_BRANCH: 'master',
    ...both('CI_BUILD_REPO', 'CI_REPOSITORY_URL', repo),
    ...both('CI_BUILD_TOKEN', 'CI_JOB_TOKEN', build.token),
    CI_PIPELINE_ID: String(pipeline?.id),
    CI_PIPELINE_IID: '1',
    CI_PIPELINE_SOURCE: 'push',
    CI_PIPELINE_URL: `${web}/pipelines/${pipeline?.id}`,
    CI_PIPELINE_CREATED_AT: pipeline?.created_at.toISOString() ?? '',
    CI_JOB_URL: `${web}/builds/${build.id}`,
    CI_JOB_STARTED_AT: pipeline?.started_at.toISOString() ?? '',
    CI_JOB_TIMEOUT: '1800',
    CI_JOB_IMAGE: 'ruby:2.1',
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_NAME: 'mine',
    CI_PROJECT_NAMESPACE: username,
    CI_PROJECT_ROOT_NAMESPACE: username,
    CI_PROJECT_PATH: project.fullPath,
    CI_PROJECT_PATH_SLUG: project.fullPath.replace('/', '-'),
    CI_PROJECT_URL: web,
    CI_PROJECT_TITLE: 'The Project',
    CI_PROJECT_DESCRIPTION: 'About it',
    CI_PROJECT_VISIBILITY: 'internal',
    CI_RUNNER_ID: String(made.id),
    CI_RUNNER_DESCRIPTION: values.CI_RUNNER_DESCRIPTION ?? 'none',
    CI_RUNNER_TAGS: 'linux, ruby',
    CI_ENVIRONMENT_NAME: 'review/app',
    CI_ENVIRONMENT_SLUG: 'review-app',
    CI_NODE_TOTAL: '1',
    CI_CONFIG_PATH: '.gitlab-ci.yml',
    CI_DEBUG_TRACE: 'false',
    GITLAB_USER_ID: String(userId),
    GITLAB_USER_LOGIN: username,
    GITLAB_USER_NAME: `Name of ${username}`,
    GITLAB_USER_EMAIL: `${username}@example.com`,
    GLOBAL: 'global',
    BOTH: 'job',
  });
  t.is(build.repo_url, repo);
});

test('only what gives access is not public', async (t) => {
  const { runner, tree, url } = await claimed();
  await tree.git('push', '--quiet', url, 'HEAD:feature/New_Thing');
  const build = await runner.mustClaim();
  t.deepEqual(
    build.variables
      .filter((variable) => !variable.public)
      .map(({ key }) => key)
      .sort(),
    ['CI_BUILD_REPO', 'CI_BUILD_TOKEN', 'CI_JOB_TOKEN', 'CI_REPOSITORY_URL'],
  );
});

test('a build of a tag has the tag in place of the branch', async (t) => {
  const { runner, tree, url, sha } = await claimed();
  await tree.git('tag', '--annotate', '--message=First', 'v1.0');
  await tree.git('push', '--quiet', url, 'v1.0');
  const build = await runner.mustClaim();
  const values = valuesOf(build);
  t.is(values.CI_BUILD_TAG, 'v1.0');
  t.is(values.CI_COMMIT_TAG, 'v1.0');
  t.is(values.CI_COMMIT_REF_NAME, 'v1.0');
  t.is(values.CI_COMMIT_SHA, sha, 'the commit, not the tag');
  t.is(values.CI_COMMIT_BEFORE_SHA, '0'.repeat(40));
  t.false('CI_COMMIT_BRANCH' in values);
  t.deepEqual([build.tag, build.ref, build.sha], [true, 'v1.0', sha]);
});

test('what else a runner is told of a pushed job is what the file says', async (t) => {
  const { runner, tree, url, sha, before, project } = await claimed();
  await tree.git('push', '--quiet', url, 'HEAD:master');
  const compile = await runner.mustClaim();
  t.is(compile.commands, 'make\nmake install');
  t.deepEqual(compile.ext?.script, ['make', 'make install']);
  t.is(compile.timeout, 1800);
  t.deepEqual([compile.before_sha, compile.sha, compile.tag], [before, sha, false]);
  t.deepEqual(compile.options, {
    image: 'ruby:2.1',
    artifacts: { paths: ['out/'], expire_in: '1 week' },
  });
  t.deepEqual(compile.depends_on_builds, []);
  await runner.report(compile, 'success');
  const check = await runner.mustClaim();
  t.deepEqual(check.options, { image: 'ruby:2.2', services: ['postgres:9'], dependencies: ['compile'] });
  t.is(valuesOf(check).CI_JOB_IMAGE, 'ruby:2.2');
  t.false('CI_ENVIRONMENT_NAME' in valuesOf(check));
  t.deepEqual(
    check.depends_on_builds.map(({ id, name, stage, sha, project_id }) => ({
      id,
      name,
      stage,
      sha,
      project_id,
    })),
    [{ id: compile.id, name: 'compile', stage: 'build', sha, project_id: project.id }],
  );
});

test('a retried build has the name of who retried it', async (t) => {
  const { app, project, runner, tree, url } = await claimed();
  const developer = await app.make.member(project, 'developer');
  await tree.git('push', '--quiet', url, 'HEAD:feature/New_Thing');
  const build = await runner.mustClaim();
  await runner.report(build, 'failed');
  const path = `/api/v3/projects/${project.id}/builds/${build.id}/retry`;
  t.is((await app.call('POST', path, { as: developer.token })).status, 201);
  const again = valuesOf(await runner.mustClaim());
  t.is(again.GITLAB_USER_LOGIN, developer.username);
  t.not(again.CI_JOB_ID, String(build.id));
});

test('what is given later wins: file, job, project, trigger; and nobody replaces what gives access', async (t) => {
  const { app, project, runner, tree, url } = await claimed();
  const as = project.owner.token;
  const keys = ['CI_JOB_TOKEN', 'CI_BUILD_TOKEN', 'CI_REPOSITORY_URL', 'CI_BUILD_REPO'];
  const layers = (from: string, own: string[]) =>
    Object.fromEntries([...own, ...keys].map((key) => [key, from]));
  const all = ['CI_PROJECT_TITLE', 'FILE', 'JOB', 'PROJECT', 'TRIGGER'];
  const file = {
    variables: layers('file', all.slice(1)),
    check: { script: 'x', variables: layers('job', all.slice(2)) },
  };
  await tree.commit({ '.gitlab-ci.yml': JSON.stringify(file) });
  await tree.git('push', '--quiet', url, 'HEAD:master');
  await runner.play();
  for (const [key, value] of Object.entries(layers('project', all.slice(3)))) {
    await app.call('POST', `/api/v3/projects/${project.id}/variables`, { as, form: { key, value } });
  }
  const { body: trigger } = await app.call<{ token: string }>(
    'POST',
    `/api/v3/projects/${project.id}/triggers`,
    {
      as,
    },
  );
  const json = { token: trigger.token, ref: 'master', variables: layers('$TRIGGER_OF', all.slice(4)) };
  await app.call('POST', `/api/v3/projects/${project.id}/trigger/builds`, { json });
  const build = await runner.mustClaim();
  const given = Object.fromEntries(build.variables.map(({ key, value }) => [key, value]));
  t.deepEqual(
    all.map((key) => given[key]),
    ['The Project', 'file', 'job', 'project', '$TRIGGER_OF'],
    'and values are sent as they are, for the runner to expand',
  );
  const values = valuesOf(build);
  t.is(values.CI_JOB_TOKEN, build.token);
  t.is(values.CI_BUILD_TOKEN, build.token);
  t.is(values.CI_REPOSITORY_URL, build.repo_url);
  t.is(values.CI_BUILD_REPO, build.repo_url);
  t.is(values.CI_PIPELINE_SOURCE, 'trigger');
  t.deepEqual([values.CI_BUILD_TRIGGERED, values.CI_PIPELINE_TRIGGERED], ['true', 'true']);
  t.false('GITLAB_USER_ID' in values, 'nobody in particular');
  t.false('CI_BUILD_MANUAL' in values);
  t.deepEqual(
    build.variables
      .filter(({ key, public: isPublic }) => !isPublic && !keys.includes(key))
      .map(({ key }) => key),
    ['PROJECT', 'TRIGGER'],
  );
});
