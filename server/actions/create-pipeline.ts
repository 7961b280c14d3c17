import { isStorable, storable } from '../../shared/storable-text.ts';
import type { CiJob, CiProblem } from '../ci/config.ts';
import { jobsForRef } from '../ci/only-except.ts';
import { parseCiConfig } from '../ci/parse.ts';
import { formatProblem } from '../ci/problems.ts';
import { skipMarker } from '../ci/skip-marker.ts';
import { type Commit, parseCommit } from '../git/commit.ts';
import { ObjectTooLargeError } from '../git/errors.ts';
import { repositoryDir } from '../git/repository-path.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { keepTarget } from './keep-commits.ts';
import { progressPipeline } from './progress-pipeline.ts';

const configFile = '.gitlab-ci.yml';
const configLimit = 1024 * 1024;
/** Bytes of a commit; messages beyond belong to no human. */
const commitLimit = 8 * 1024 * 1024;
/** Characters of a message that builds show and get: Linux starts no program with a variable of 128 KiB. */
const messageLimit = 32_768;

export interface PipelineRequest {
  project: { id: number; fullPath: string };
  ref: string;
  isTag: boolean;
  /** The commit, also where an annotated tag was pushed. */
  sha: string;
  beforeSha: string;
  userId: number | null;
  cause: PipelineCause;
}

/** Why a pipeline starts. A push starts at most one per ref; every call of a trigger a new one. */
export type PipelineCause =
  | { kind: 'push'; pushId: number; skipCi: boolean }
  | { kind: 'trigger'; triggerId: number; variables: Record<string, string> | null };

interface Plan {
  status: 'pending' | 'skipped' | 'failed';
  yamlErrors: string | null;
  yamlWarnings: string | null;
  jobs: CiJob[];
}

/**
 * Reads the configuration at the pushed commit and starts its first builds. Without a configuration, or with
 * none of its jobs meant for this ref, nothing is made. Doing it twice for one push and ref makes one pipeline.
 *
 * @returns id of the new pipeline, if builds come of it.
 */
export async function createPipeline(work: Work, request: PipelineRequest): Promise<number | null> {
  const dir = repositoryDir(work.repositoriesDir, request.project.id);
  const commit = await readCommit(work, dir, request);
  const plan = commit && (await makePlan(work, dir, { request, commit }));
  if (!commit || !plan) return null;
  const id = await insertPipeline(work, { request, commit, plan });
  if (id === null) return null;
  const ref = `refs/${request.isTag ? 'tags' : 'heads'}/${request.ref}`;
  await keepTarget(work, { dir, ref, sha: request.sha });
  if (plan.jobs.length === 0) return null;
  await insertJobs(work, id, plan.jobs);
  await progressPipeline(work, id, request.userId);
  return id;
}

/** @returns null for a commit that is not there, or too large to be an honest one. */
async function readCommit(
  work: Work,
  dir: string,
  { sha, project }: PipelineRequest,
): Promise<Commit | null> {
  try {
    const object = await work.objects.readObject(dir, `${sha}^{commit}`, commitLimit);
    return object && parseCommit(object.sha, object.data);
  } catch (error) {
    if (!(error instanceof ObjectTooLargeError)) throw error;
    work.log.warn({ project: project.id, sha, size: error.size }, 'no pipeline for a commit of such a size');
    return null;
  }
}

async function makePlan(
  work: Work,
  dir: string,
  { request, commit }: { request: PipelineRequest; commit: Commit },
): Promise<Plan | null> {
  const file = await readConfig(work, dir, request.sha);
  if (file === null) return null;
  const { cause } = request;
  const isTriggered = cause.kind === 'trigger';
  if (!isTriggered && (cause.skipCi || skipMarker(commit.message))) return plan({ status: 'skipped' });
  if (file === 'too large') return failed(`${configFile} is larger than ${configLimit} bytes`);
  const parsed = parseCiConfig(file.text);
  const yamlWarnings = listProblems(parsed.warnings);
  if ('errors' in parsed) return { ...failed(listProblems(parsed.errors)), yamlWarnings };
  const { ref, isTag, project } = request;
  const context = { ref, tag: isTag, trigger: isTriggered, projectPath: project.fullPath };
  const jobs = jobsForRef(parsed.config, context);
  if (jobs.length === 0) return null;
  if (!isAllStorable(jobs)) return failed(`${configFile}: texts must not hold NUL or half characters`);
  return plan({ jobs, yamlWarnings });
}

function plan(given: Partial<Plan>): Plan {
  return { status: 'pending', yamlErrors: null, yamlWarnings: null, jobs: [], ...given };
}

function failed(reason: string | null): Plan {
  return plan({ status: 'failed', yamlErrors: storable(reason ?? '') });
}

/** One line each; null without any. */
function listProblems(problems: CiProblem[]): string | null {
  return problems.length > 0 ? storable(problems.map(formatProblem).join('\n')) : null;
}

/** @returns null without the file. */
async function readConfig(
  work: Work,
  dir: string,
  sha: string,
): Promise<{ text: string } | 'too large' | null> {
  try {
    const bytes = await work.objects.readBlob(dir, `${sha}:${configFile}`, configLimit);
    return bytes && { text: bytes.toString('utf8') };
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return 'too large';
    throw error;
  }
}

async function insertPipeline(
  work: Work,
  { request, commit, plan }: { request: PipelineRequest; commit: Commit; plan: Plan },
): Promise<number | null> {
  const shown = {
    message: storable(commit.message.slice(0, messageLimit)),
    authorName: storable(commit.authorName),
    authorEmail: storable(commit.authorEmail),
    committedAt: commit.committedDate,
  };
  const { cause } = request;
  const row = await sqlOne<{ id: number }>(
    work.em,
    `with numbered as (
       update projects set last_pipeline_iid = last_pipeline_iid + 1 where id = $1 and not pending_delete
       returning last_pipeline_iid
     )
     insert into pipelines (project_id, user_id, push_id, ref, tag, sha, before_sha, commit, status, yaml_errors,
       yaml_warnings, source, trigger_id, trigger_variables_sealed, iid, finished_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, last_pipeline_iid,
       case when $9 = 'pending' then null else now() end from numbered
     on conflict on constraint pipelines_push_id_ref_key do nothing returning id`,
    [
      request.project.id,
      request.userId,
      cause.kind === 'push' ? cause.pushId : null,
      request.ref,
      request.isTag,
      request.sha,
      request.beforeSha,
      JSON.stringify(shown),
      plan.status,
      plan.yamlErrors,
      plan.yamlWarnings,
      cause.kind,
      cause.kind === 'trigger' ? cause.triggerId : null,
      cause.kind === 'trigger' && cause.variables ? work.secrets.seal(JSON.stringify(cause.variables)) : null,
    ],
  );
  return row?.id ?? null;
}

async function insertJobs(work: Work, pipelineId: number, jobs: CiJob[]): Promise<void> {
  const rows = jobs.map((job, position) => ({
    position,
    name: job.name,
    tags: [...new Set(job.tags)].sort(),
    definition: job,
  }));
  await sql(
    work.em,
    `insert into pipeline_jobs (pipeline_id, position, name, tags, definition, planned_build_id)
     select $1, j.position, j.name, array(select jsonb_array_elements_text(j.tags)), j.definition,
       case when j.definition->>'when' = 'manual' then nextval('builds_id_seq') end
     from jsonb_to_recordset($2::jsonb) as j(position int, name text, tags jsonb, definition jsonb)`,
    [pipelineId, JSON.stringify(rows)],
  );
}

/** Every text in a value, keys included. */
function isAllStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, item]) => isStorable(key) && isAllStorable(item));
}
