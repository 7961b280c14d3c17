import { performance } from 'node:perf_hooks';
import { removeRepository } from '../git/repository.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { closeForkRequests } from './close-fork-requests.ts';
import { writingSteps } from './purge-writings.ts';
import { queuePurges } from './remove-projects.ts';

/** Milliseconds after which the other tasks get their turn. */
const turnMs = 2000;
/** Rows of one transaction: few of those that take others along or have blobs. */
const batches = {
  builds: 200,
  pipelines: 200,
  uploads: 200,
  events: 5000,
  notes: 5000,
  stars: 5000,
};
/** Blobs removed at once. */
const lanes = 8;

/**
 * Removes what is left of a hidden project, in steps that each hold their locks for moments: builds with traces and
 * artifacts, pipelines, uploads, activity, comments, also those of other projects that tell of this one, merge requests,
 * issues, labels, milestones, snippets, the repository, and at last its row with the small rest. Safe to repeat, and to
 * cut off anywhere. A large project takes several turns.
 */
export async function purgeProject(work: Work, projectId: number): Promise<void> {
  const isHidden = await sqlOne(work.em, 'select 1 from projects where id = $1 and pending_delete', [
    projectId,
  ]);
  if (!isHidden) return;
  const end = performance.now() + turnMs;
  for (const step of steps) {
    while ((await inTransaction(work, (inner) => step(inner, projectId))) > 0) {
      if (performance.now() > end) return queuePurges(work, [projectId]);
    }
  }
  await removeRepository(repositoryOf(work, { id: projectId }));
  await inTransaction(work, (inner) => removeRow(inner, projectId));
}

/** @returns how many rows it removed; 0 when none is left. */
type Step = (work: Work, projectId: number) => Promise<number>;

const steps: Step[] = [
  closeForkRequests,
  removeBuilds,
  (work, projectId) => removeSome(work, projectId, 'pipelines'),
  removeUploads,
  (work, projectId) => removeSome(work, projectId, 'events'),
  (work, projectId) => removeSome(work, projectId, 'notes'),
  (work, projectId) => removeSome(work, projectId, 'stars'),
  ...writingSteps.map(
    (text): Step =>
      async ({ em }, projectId) =>
        (await sql(em, text, [projectId])).length,
  ),
];

/** The blobs go while the rows are held: no late upload can put another one under them. */
async function removeBuilds(work: Work, projectId: number): Promise<number> {
  const builds = await sql<{ id: number; artifacts_key: string | null }>(
    work.em,
    'select id, artifacts_key from builds where project_id = $1 order by id limit $2 for update',
    [projectId, batches.builds],
  );
  const ids = builds.map(({ id }) => id);
  const traces = await sql<{ blob_key: string | null }>(
    work.em,
    'select blob_key from traces where build_id = any($1) order by build_id for update',
    [ids],
  );
  await removeBlobs(work, [
    ...builds.map((build) => build.artifacts_key),
    ...traces.map((trace) => trace.blob_key),
  ]);
  await sql(work.em, 'delete from builds where id = any($1)', [ids]);
  return ids.length;
}

async function removeUploads(work: Work, projectId: number): Promise<number> {
  const uploads = await sql<{ id: number; blob_key: string }>(
    work.em,
    'select id, blob_key from uploads where project_id = $1 order by id limit $2 for update',
    [projectId, batches.uploads],
  );
  await removeBlobs(
    work,
    uploads.map((upload) => upload.blob_key),
  );
  await sql(work.em, 'delete from uploads where id = any($1)', [uploads.map(({ id }) => id)]);
  return uploads.length;
}

async function removeBlobs({ storage }: Work, keys: (string | null)[]): Promise<void> {
  const left = keys.filter((key): key is string => key !== null && key !== '');
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) await storage.remove(key);
    }),
  );
}

async function removeSome(
  { em }: Work,
  projectId: number,
  table: 'pipelines' | 'events' | 'notes' | 'stars',
): Promise<number> {
  const gone = await sql(
    em,
    `delete from ${table} where ctid = any(array(
       select ctid from ${table} where project_id = $1 limit $2 for update)) returning 1`,
    [projectId, batches[table]],
  );
  return gone.length;
}

async function removeRow({ em }: Work, projectId: number): Promise<void> {
  await sql(em, 'update projects set forked_from_id = null where forked_from_id = $1', [projectId]);
  await sql(em, 'delete from projects where id = $1 and pending_delete', [projectId]);
}
