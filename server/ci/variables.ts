import type { BuildVariable } from '../../shared/protocol/build.ts';
import { slug } from '../../shared/slug.ts';
import { escapeVariables } from '../../shared/variables.ts';

/** Plain values from which the predefined variables of a build are made. Null: there is none. */
export interface PredefinedInput {
  server: {
    name: string;
    version: string;
    revision: string /** Without a slash at the end. */;
    baseUrl: string;
  };
  project: {
    id: number;
    /** Last part of the path. */
    path: string;
    namespacePath: string;
    title: string;
    description: string | null;
    visibility: 'private' | 'internal' | 'public';
    defaultBranch: string | null;
    webUrl: string;
  };
  pipeline: { id: number; iid: number | null; source: 'push' | 'trigger' | 'api' | 'web'; createdAt: string };
  commit: {
    sha: string;
    beforeSha: string;
    message: string;
    authorName: string;
    authorEmail: string;
    timestamp: string;
  };
  ref: { name: string; tag: boolean; protected: boolean };
  build: {
    id: number;
    name: string;
    stage: string;
    token: string;
    /** Clone URL with credentials. */
    repoUrl: string;
    image: string | null;
    environment: string | null;
    /** True for a job that was started by hand. */
    manual: boolean;
    startedAt: string | null;
    /** Seconds. */
    timeout: number;
  };
  runner: { id: number; description: string; tags: string[] } | null;
  /** Who pushed or retried; null for triggers. */
  user: { id: number; username: string; name: string; email: string } | null;
}

/** Names that no file, project or trigger may replace: scripts hand them credentials. */
const protectedNames = new Set(['CI_JOB_TOKEN', 'CI_BUILD_TOKEN', 'CI_REPOSITORY_URL', 'CI_BUILD_REPO']);

type Values = Record<string, string | number | boolean | null>;

/**
 * The variables that every build gets, under their old and their new names. Values are escaped, because
 * runners expand every variable once: a commit message must not be able to name the token of the build.
 */
export function predefinedVariables(input: PredefinedInput): BuildVariable[] {
  const values: Values = {
    ...serverValues(input),
    ...buildValues(input),
    ...commitValues(input),
    ...refValues(input),
    ...pipelineValues(input),
    ...projectValues(input),
    ...runnerValues(input),
    ...environmentValues(input),
    ...userValues(input),
  };
  const variables: BuildVariable[] = [];
  for (const [key, value] of Object.entries(values)) {
    if (value === null) continue;
    variables.push({ key, value: escapeVariables(String(value)), public: !protectedNames.has(key) });
  }
  return variables;
}

/**
 * Lists in rising precedence; the first holds the predefined ones, whose credentials the others cannot
 * replace.
 */
export function mergeVariables(...lists: BuildVariable[][]): BuildVariable[] {
  const merged = new Map<string, BuildVariable>();
  for (const [index, list] of lists.entries()) {
    for (const variable of list) {
      if (index === 0 || !protectedNames.has(variable.key)) merged.set(variable.key, variable);
    }
  }
  return [...merged.values()];
}

function serverValues({ server }: PredefinedInput): Values {
  const url = new URL(server.baseUrl);
  const protocol = url.protocol.replace(':', '');
  return {
    CI: true,
    GITLAB_CI: true,
    CI_SERVER: 'yes',
    CI_SERVER_NAME: server.name,
    CI_SERVER_VERSION: server.version,
    CI_SERVER_REVISION: server.revision,
    CI_SERVER_URL: server.baseUrl,
    CI_SERVER_HOST: url.hostname,
    CI_SERVER_PORT: url.port || (protocol === 'https' ? 443 : 80),
    CI_SERVER_PROTOCOL: protocol,
    CI_API_URL: `${server.baseUrl}/api/v3`,
  };
}

function buildValues({ build, pipeline, project }: PredefinedInput): Values {
  const isTriggered = pipeline.source === 'trigger' || null;
  const isManual = build.manual || null;
  return {
    ...both('CI_BUILD_ID', 'CI_JOB_ID', build.id),
    ...both('CI_BUILD_NAME', 'CI_JOB_NAME', build.name),
    CI_JOB_NAME_SLUG: slug(build.name),
    ...both('CI_BUILD_STAGE', 'CI_JOB_STAGE', build.stage),
    ...both('CI_BUILD_TOKEN', 'CI_JOB_TOKEN', build.token),
    ...both('CI_BUILD_REPO', 'CI_REPOSITORY_URL', build.repoUrl),
    ...both('CI_BUILD_TRIGGERED', 'CI_PIPELINE_TRIGGERED', isTriggered),
    ...both('CI_BUILD_MANUAL', 'CI_JOB_MANUAL', isManual),
    CI_JOB_URL: `${project.webUrl}/builds/${build.id}`,
    CI_JOB_IMAGE: build.image,
    CI_JOB_STARTED_AT: build.startedAt,
    CI_JOB_TIMEOUT: build.timeout,
    CI_NODE_TOTAL: 1,
    CI_CONFIG_PATH: '.gitlab-ci.yml',
    CI_DEBUG_TRACE: false,
  };
}

function commitValues({ commit }: PredefinedInput): Values {
  const [title = '', ...rest] = commit.message.split('\n');
  return {
    ...both('CI_BUILD_REF', 'CI_COMMIT_SHA', commit.sha),
    CI_COMMIT_SHORT_SHA: commit.sha.slice(0, 8),
    ...both('CI_BUILD_BEFORE_SHA', 'CI_COMMIT_BEFORE_SHA', commit.beforeSha),
    CI_COMMIT_MESSAGE: commit.message,
    CI_COMMIT_TITLE: title,
    CI_COMMIT_DESCRIPTION: rest.join('\n').replace(/^\n+/, ''),
    CI_COMMIT_AUTHOR: `${commit.authorName} <${commit.authorEmail}>`,
    CI_COMMIT_TIMESTAMP: commit.timestamp,
  };
}

function refValues({ ref }: PredefinedInput): Values {
  return {
    ...both('CI_BUILD_REF_NAME', 'CI_COMMIT_REF_NAME', ref.name),
    ...both('CI_BUILD_REF_SLUG', 'CI_COMMIT_REF_SLUG', slug(ref.name)),
    CI_COMMIT_BRANCH: ref.tag ? null : ref.name,
    ...both('CI_BUILD_TAG', 'CI_COMMIT_TAG', ref.tag ? ref.name : null),
    CI_COMMIT_REF_PROTECTED: ref.protected,
  };
}

function pipelineValues({ pipeline, project }: PredefinedInput): Values {
  return {
    CI_PIPELINE_ID: pipeline.id,
    CI_PIPELINE_IID: pipeline.iid,
    CI_PIPELINE_SOURCE: pipeline.source,
    CI_PIPELINE_URL: `${project.webUrl}/pipelines/${pipeline.id}`,
    CI_PIPELINE_CREATED_AT: pipeline.createdAt,
  };
}

function projectValues({ project }: PredefinedInput): Values {
  const path = `${project.namespacePath}/${project.path}`;
  return {
    CI_PROJECT_ID: project.id,
    CI_PROJECT_NAME: project.path,
    CI_PROJECT_NAMESPACE: project.namespacePath,
    CI_PROJECT_ROOT_NAMESPACE: project.namespacePath.split('/')[0] ?? null,
    CI_PROJECT_PATH: path,
    CI_PROJECT_PATH_SLUG: slug(path),
    CI_PROJECT_URL: project.webUrl,
    CI_PROJECT_TITLE: project.title,
    CI_PROJECT_DESCRIPTION: project.description,
    CI_PROJECT_VISIBILITY: project.visibility,
    CI_DEFAULT_BRANCH: project.defaultBranch,
  };
}

function runnerValues({ runner }: PredefinedInput): Values {
  if (!runner) return {};
  return {
    CI_RUNNER_ID: runner.id,
    CI_RUNNER_DESCRIPTION: runner.description,
    CI_RUNNER_TAGS: runner.tags.join(', '),
  };
}

function environmentValues({ build }: PredefinedInput): Values {
  if (build.environment === null) return {};
  return { CI_ENVIRONMENT_NAME: build.environment, CI_ENVIRONMENT_SLUG: slug(build.environment, 24) };
}

function userValues({ user }: PredefinedInput): Values {
  if (!user) return {};
  return {
    GITLAB_USER_ID: user.id,
    GITLAB_USER_LOGIN: user.username,
    GITLAB_USER_NAME: user.name,
    GITLAB_USER_EMAIL: user.email,
  };
}

function both(oldName: string, newName: string, value: Values[string]): Values {
  return { [oldName]: value, [newName]: value };
}
