import { visibilityWord } from '../../shared/access-level.ts';
import type {
  BuildOptions,
  BuildPayload,
  BuildVariable,
  DependencyBuild,
} from '../../shared/protocol/build.ts';
import type { CiJob } from '../ci/config.ts';
import { mergeVariables, predefinedVariables } from '../ci/variables.ts';
import type { DependencyRow, PayloadRow } from '../queries/build-payload.ts';
import { version } from '../version.ts';

export interface PayloadParts {
  row: PayloadRow;
  /** The build's own token, which also opens the artifacts of the builds it depends on. */
  token: string;
  origin: string;
  /** Of the project and of the trigger; neither is public. */
  secrets: { project: BuildVariable[]; trigger: BuildVariable[] };
}

/** What a runner gets for a build that it has claimed. */
export function presentBuildPayload(parts: PayloadParts): BuildPayload {
  const { row, token, origin } = parts;
  const job = row.definition;
  return {
    id: row.id,
    project_id: row.project_id,
    project_name: row.project_name,
    token,
    status: 'running',
    name: row.name,
    stage: row.stage,
    ref: row.ref,
    tag: row.tag,
    sha: row.sha,
    before_sha: row.before_sha,
    repo_url: repoUrl(row, { token, origin }),
    commands: job.script.join('\n'),
    allow_git_fetch: row.allow_git_fetch,
    timeout: row.build_timeout,
    options: presentOptions(job),
    variables: presentVariables(parts),
    depends_on_builds: row.dependencies.map((dependency) => presentDependency(dependency, parts)),
    ext: { script: job.script },
  };
}

/** Only what is set: an old runner warns of every key that its executor does not know. */
function presentOptions(job: CiJob): BuildOptions {
  return {
    ...(job.image === null ? {} : { image: job.image }),
    ...(job.services === null || job.services.length === 0 ? {} : { services: job.services }),
    ...(job.artifacts === null ? {} : { artifacts: job.artifacts }),
    ...(job.cache === null || Object.keys(job.cache).length === 0 ? {} : { cache: job.cache }),
    ...(job.dependencies === null ? {} : { dependencies: job.dependencies }),
    ...(job.afterScript === null || job.afterScript.length === 0 ? {} : { after_script: job.afterScript }),
  };
}

function presentDependency(row: DependencyRow, { row: build, token }: PayloadParts): DependencyBuild {
  return {
    id: row.id,
    token,
    name: row.name,
    stage: row.stage,
    ref: build.ref,
    sha: build.sha,
    tag: build.tag,
    status: row.status,
    project_id: build.project_id,
    project_name: build.project_name,
    ...(row.artifacts_filename === null
      ? {}
      : { artifacts_file: { filename: row.artifacts_filename, size: row.artifacts_size ?? 0 } }),
  };
}

function presentVariables({ row, token, origin, secrets }: PayloadParts): BuildVariable[] {
  const job = row.definition;
  const predefined = predefinedVariables({
    server: { name: 'Hearth', version, revision: '', baseUrl: origin },
    project: {
      id: row.project_id,
      path: row.project_path,
      namespacePath: row.namespace_path,
      title: row.project_name,
      description: row.project_description,
      visibility: visibilityWord(row.visibility_level),
      defaultBranch: row.default_branch,
      webUrl: `${origin}/${row.namespace_path}/${row.project_path}`,
    },
    pipeline: {
      id: row.pipeline_id,
      iid: row.pipeline_iid,
      source: row.source as 'push' | 'trigger' | 'api',
      createdAt: row.pipeline_created_at.toISOString(),
    },
    commit: {
      sha: row.sha,
      beforeSha: row.before_sha,
      message: row.commit?.message ?? '',
      authorName: row.commit?.authorName ?? '',
      authorEmail: row.commit?.authorEmail ?? '',
      timestamp: row.commit?.committedAt ?? '',
    },
    ref: { name: row.ref, tag: row.tag, protected: row.ref_protected },
    build: {
      id: row.id,
      name: row.name,
      stage: row.stage,
      token,
      repoUrl: repoUrl(row, { token, origin }),
      image: job.image,
      environment: job.environment,
      // Nothing else makes builds of such jobs.
      manual: job.when === 'manual',
      startedAt: row.started_at.toISOString(),
      timeout: row.build_timeout,
    },
    runner: { id: row.runner_id, description: row.runner_description ?? '', tags: row.runner_tags },
    user:
      row.user_id === null
        ? null
        : {
            id: row.user_id,
            username: row.user_login ?? '',
            name: row.user_name ?? '',
            email: row.user_email ?? '',
          },
  });
  const own = Object.entries(job.variables).map(([key, value]) => ({ key, value, public: true }));
  return mergeVariables(predefined, own, secrets.project, secrets.trigger);
}

function repoUrl(row: PayloadRow, { token, origin }: { token: string; origin: string }): string {
  const url = new URL(`${origin}/${row.namespace_path}/${row.project_path}.git`);
  url.username = 'gitlab-ci-token';
  url.password = token;
  return url.href;
}
