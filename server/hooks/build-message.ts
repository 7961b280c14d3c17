import type { PipelineCommit } from '../entities/pipeline.ts';
import { presentTimeOrNull, readJsonTime } from '../present/timestamp.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { findHookProject, type HookProject, repositoryBlock } from './blocks.ts';

/** A state that a build has come into. Moments as PostgreSQL writes them in JSON. */
export interface BuildState {
  buildId: number;
  status: string;
  startedAt: string | null;
  finishedAt: string | null;
}

interface AnnouncedRow {
  id: number;
  project_id: number;
  name: string;
  stage: string;
  allow_failure: boolean;
  ref: string;
  tag: boolean;
  sha: string;
  before_sha: string;
  commit: PipelineCommit | null;
  pipeline_id: number;
  pipeline_status: string;
  pipeline_started_at: Date | null;
  pipeline_finished_at: Date | null;
  user_id: number | null;
  user_name: string | null;
  user_email: string | null;
}

/** The message of one state of a build. @returns null when it is gone. */
export async function buildMessage(work: Work, state: BuildState): Promise<Record<string, unknown> | null> {
  const row = await sqlOne<AnnouncedRow>(work.em, find, [state.buildId]);
  const project = row && (await findHookProject(work, row.project_id));
  return row && project && buildBody(work, { row, project, state });
}

const find = `
  select b.id, b.project_id, b.name, b.stage, b.allow_failure, pl.ref, pl.tag, pl.sha, pl.before_sha, pl.commit,
    pl.id as pipeline_id, pl.status as pipeline_status, pl.started_at as pipeline_started_at,
    pl.finished_at as pipeline_finished_at, u.id as user_id, u.name as user_name, u.email as user_email
  from builds b join pipelines pl on pl.id = b.pipeline_id left join users u on u.id = b.user_id
  where b.id = $1`;

interface Announced {
  row: AnnouncedRow;
  project: HookProject;
  state: BuildState;
}

function buildBody(work: Work, { row, project, state }: Announced): Record<string, unknown> {
  const startedAt = state.startedAt === null ? null : readJsonTime(state.startedAt);
  const finishedAt = state.finishedAt === null ? null : readJsonTime(state.finishedAt);
  return {
    object_kind: 'build',
    ref: row.ref,
    tag: row.tag,
    before_sha: row.before_sha,
    sha: row.sha,
    build_id: row.id,
    build_name: row.name,
    build_stage: row.stage,
    build_status: state.status,
    build_started_at: presentTimeOrNull(startedAt),
    build_finished_at: presentTimeOrNull(finishedAt),
    build_duration: seconds(startedAt, finishedAt),
    build_allow_failure: row.allow_failure,
    project_id: project.id,
    project_name: project.name_with_namespace,
    user: { id: row.user_id, name: row.user_name, email: row.user_email },
    commit: commitBlock(row),
    repository: repositoryBlock(work, project),
  };
}

/** Under this name receivers know the pipeline. */
function commitBlock(row: AnnouncedRow): Record<string, unknown> {
  return {
    id: row.pipeline_id,
    sha: row.sha,
    message: row.commit?.message ?? null,
    author_name: row.commit?.authorName ?? null,
    author_email: row.commit?.authorEmail ?? null,
    status: row.pipeline_status,
    duration: seconds(row.pipeline_started_at, row.pipeline_finished_at),
    started_at: presentTimeOrNull(row.pipeline_started_at),
    finished_at: presentTimeOrNull(row.pipeline_finished_at),
  };
}

function seconds(from: Date | null, to: Date | null): number | null {
  return from && to ? (to.getTime() - from.getTime()) / 1000 : null;
}
