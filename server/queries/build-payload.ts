import type { BuildStatus } from '../../shared/build-status.ts';
import type { CiJob } from '../ci/config.ts';
import type { PipelineCommit } from '../entities/pipeline.ts';
import { type SealedVariables, sealedVariables } from './ci-variables.ts';

/** Everything that a runner is told of its build, apart from what is computed. */
export interface PayloadRow extends SealedVariables {
  id: number;
  name: string;
  stage: string;
  created_at: Date;
  started_at: Date;
  definition: CiJob;
  pipeline_id: number;
  pipeline_iid: number | null;
  pipeline_created_at: Date;
  source: string;
  ref: string;
  tag: boolean;
  /** The build is of a protected branch. */
  ref_protected: boolean;
  sha: string;
  before_sha: string;
  commit: PipelineCommit | null;
  project_id: number;
  project_name: string;
  project_path: string;
  project_description: string | null;
  visibility_level: number;
  default_branch: string | null;
  allow_git_fetch: boolean;
  build_timeout: number;
  namespace_path: string;
  namespace_name: string;
  user_id: number | null;
  user_login: string | null;
  user_name: string | null;
  user_email: string | null;
  runner_id: number;
  runner_description: string | null;
  runner_tags: string[];
  /** The newest build of each job in the stages before the build's own. */
  dependencies: DependencyRow[];
}

export interface DependencyRow {
  id: number;
  name: string;
  stage: string;
  status: BuildStatus;
  artifacts_filename: string | null;
  artifacts_size: number | null;
}

const dependencies = `select json_agg(json_build_object('id', d.id, 'name', d.name, 'stage', d.stage,
  'status', d.status, 'artifacts_size', d.artifacts_size, 'artifacts_filename',
  case when d.artifacts_expire_at is null or d.artifacts_expire_at > now() then d.artifacts_filename end)
  order by d.stage_idx, d.id)
  from builds d where d.pipeline_id = b.pipeline_id and d.latest and d.stage_idx < b.stage_idx`;

const isProtected = `not pl.tag and exists (select from protected_branches pb
  where pb.project_id = pl.project_id and pb.name = pl.ref)`;

/** Columns of a `PayloadRow`, from `payloadTables` and a runner `r`. */
export const payloadColumns = `b.id, b.name, b.stage, b.created_at, b.started_at, j.definition, pl.id as pipeline_id,
  pl.iid as pipeline_iid, pl.created_at as pipeline_created_at, pl.source,
  pl.trigger_variables_sealed, pl.ref, pl.tag, ${isProtected} as ref_protected, pl.sha,
  pl.before_sha, pl.commit,
  p.id as project_id, p.name as project_name, p.path as project_path, p.description as project_description,
  p.visibility_level, p.default_branch, p.allow_git_fetch, p.build_timeout,
  n.path as namespace_path, n.name as namespace_name,
  u.id as user_id, u.username as user_login, u.name as user_name, u.email as user_email,
  r.id as runner_id, r.description as runner_description, r.tag_list as runner_tags,
  ${sealedVariables('b.project_id')} as variables, coalesce((${dependencies}), '[]') as dependencies`;

/** The tables behind `payloadColumns` beside the runner; `builds` is a table of builds, or gives rows of one. */
export function payloadTables(builds: string): string {
  return `${builds} b join pipeline_jobs j on j.id = b.job_id join pipelines pl on pl.id = b.pipeline_id
    join projects p on p.id = b.project_id join namespaces n on n.id = p.namespace_id
    left join users u on u.id = b.user_id`;
}
