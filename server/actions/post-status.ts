import { type BuildStatus, buildStatuses, isFinished } from '../../shared/build-status.ts';
import { invalid, notFound } from '../errors.ts';
import { firstBranchWith } from '../git/containing-branch.ts';
import { checkRefName, zeroSha } from '../git/ref-name.ts';
import { lockPipeline } from '../queries/pipeline-row.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { keepTarget } from './keep-commits.ts';
import { refreshPipeline } from './progress-pipeline.ts';

export interface PostedStatus {
  projectId: number;
  /** Of the project's repository. */
  dir: string;
  /** A commit that is there. */
  sha: string;
  userId: number;
  /** As sent. */
  state: string;
  name: string;
  /** Without it the status counts for the first branch that holds the commit. */
  ref?: string | undefined;
  targetUrl?: string | undefined;
  description?: string | undefined;
  signal?: AbortSignal;
}

/**
 * Adds what a service outside says of a commit, or brings what it said before up to date. Only a pending or running
 * status of the same name and ref is changed; one that has come to its end stays, and a new one takes its place.
 *
 * @param work outside a transaction: git may need its time.
 * @returns id of the status.
 * @throws AppError 400 for an unknown state or a URL that is none, 404 when no branch holds the commit; GitTimeoutError
 * when that is not known in time.
 */
export async function postStatus(work: Work, posted: PostedStatus): Promise<number> {
  const status = buildStatuses.find((known) => known === posted.state);
  if (!status) throw invalid({ status: ['is invalid'] });
  if (posted.targetUrl !== undefined && !isWebAddress(posted.targetUrl)) {
    throw invalid({ target_url: ['must be a valid URL'] });
  }
  const ref = posted.ref ?? (await firstBranchWith(posted.dir, posted.sha, posted.signal));
  if (ref === null) throw notFound('References for commit');
  return inTransaction(work, (inner) => writeStatus(inner, { posted, ref, status }));
}

async function writeStatus(
  work: Work,
  { posted, ref, status }: { posted: PostedStatus; ref: string; status: BuildStatus },
): Promise<number> {
  const pipelineId = await pipelineFor(work, posted, ref);
  await lockPipeline(work.em, pipelineId);
  const id =
    (await changeOpen(work, { posted, pipelineId, status })) ??
    (await insertNew(work, { posted, pipelineId, status }));
  await refreshPipeline(work, pipelineId);
  return id;
}

/** The newest pipeline of commit and ref; where there is none, one without builds. */
async function pipelineFor(work: Work, posted: PostedStatus, ref: string): Promise<number> {
  const wanted = [posted.projectId, posted.sha, ref];
  const there = await sqlOne<{ id: number }>(work.em, newestPipeline, wanted);
  if (there) return there.id;
  const isTag = await isTagAlone(work, posted.dir, ref);
  await sql(work.em, insertPipeline, [...wanted, posted.userId, isTag, zeroSha]);
  // One that was made at the same moment may have come first.
  const made = await sqlOne<{ id: number }>(work.em, newestPipeline, wanted);
  if (!made) throw new Error('no pipeline was made');
  const full = `refs/${isTag ? 'tags' : 'heads'}/${ref}`;
  await keepTarget(work, { dir: posted.dir, ref: full, sha: posted.sha });
  return made.id;
}

const newestPipeline =
  'select id from pipelines where project_id = $1 and sha = $2 and ref = $3 order by id desc limit 1';

const insertPipeline = `
  with numbered as (
    update projects set last_pipeline_iid = last_pipeline_iid + 1 where id = $1 returning last_pipeline_iid
  )
  insert into pipelines (project_id, iid, sha, ref, user_id, tag, before_sha, source, status)
  select $1, last_pipeline_iid, $2, $3, $4, $5, $6, 'external', 'pending' from numbered
  on conflict (project_id, sha, ref) where source = 'external' do nothing`;

async function isTagAlone(work: Work, dir: string, ref: string): Promise<boolean> {
  if (!checkRefName(ref, 'short')) return false;
  if (await work.objects.readInfo(dir, `refs/heads/${ref}`)) return false;
  return (await work.objects.readInfo(dir, `refs/tags/${ref}`)) !== null;
}

interface Change {
  posted: PostedStatus;
  pipelineId: number;
  status: BuildStatus;
}

async function changeOpen(work: Work, change: Change): Promise<number | null> {
  const row = await sqlOne<{ id: number }>(
    work.em,
    `update external_statuses set status = $4, finished_at = case when $5 then now() end,
       started_at = case $4 when 'pending' then null when 'running' then coalesce(started_at, now()) else started_at end,
       target_url = coalesce($6, target_url), description = coalesce($7, description)
     where pipeline_id = $1 and name = $2 and ref is not distinct from $3 and status in ('pending', 'running')
     returning id`,
    valuesOf(change),
  );
  return row?.id ?? null;
}

async function insertNew(work: Work, change: Change): Promise<number> {
  const { pipelineId, posted } = change;
  await sql(
    work.em,
    'update external_statuses set latest = false where pipeline_id = $1 and name = $2 and latest',
    [pipelineId, posted.name],
  );
  const row = await sqlOne<{ id: number }>(
    work.em,
    `insert into external_statuses (id, pipeline_id, name, ref, status, finished_at, started_at, target_url,
       description, user_id)
     values (nextval('builds_id_seq'), $1, $2, $3, $4, case when $5 then now() end,
       case when $4 = 'running' then now() end, $6, $7, $8) returning id`,
    [...valuesOf(change), posted.userId],
  );
  if (!row) throw new Error('no status was made');
  return row.id;
}

function valuesOf({ posted, pipelineId, status }: Change): unknown[] {
  const { name, ref = null, targetUrl = null, description = null } = posted;
  return [pipelineId, name, ref, status, isFinished(status), targetUrl, description];
}

/** Pages link to it, so it must lead nowhere but to a web server. */
function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
