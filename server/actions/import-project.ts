import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Fetched, type FetchLimits, fetchRepository, installFetched } from '../git/import.ts';
import { ImportFault } from '../git/import-fault.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { removeStaging, stagingDir } from '../git/staging.ts';
import { resolveAllowed } from '../outgoing.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { protectDefaultBranch } from './branch-protection.ts';
import { keepLogo } from './keep-logo.ts';
import { queueTidying } from './queue-tidying.ts';
import { recordEvent } from './record-event.ts';
import { queueImport } from './start-import.ts';

/** An hour, and 10 GiB. */
const importLimits: FetchLimits = { timeMs: 3_600_000, bytes: 10 * 1024 ** 3 };

interface ImportRow {
  url: string;
  credentials_sealed: Buffer | null;
  user_id: number | null;
  local_requests_allowed: boolean;
}

export interface ImportOptions {
  limits?: FetchLimits;
  /** Fires when this server is to stop: another task then begins anew. */
  signal?: AbortSignal;
  /** Milliseconds between two looks whether the project is still to be filled. */
  lookMs?: number;
}

/**
 * Fills a project from the repository that it was made with, or notes why that cannot be. Starts from the beginning
 * each time; two that run at once do no harm, and only the first one counts. Ends early when the project goes, or
 * when this server is to stop.
 */
export async function importProject(
  work: Work,
  projectId: number,
  { limits = importLimits, signal, lookMs = 5000 }: ImportOptions = {},
): Promise<void> {
  const row = await sqlOne<ImportRow>(work.em, findImport, [projectId]);
  if (!row) return;
  const staging = stagingDir(work.repositoriesDir, { kind: 'import', projectId }, randomUUID());
  const watch = watchProject(work, projectId, lookMs);
  try {
    const fetched = await fetchRepository({
      url: row.url,
      credentials: row.credentials_sealed && work.secrets.open(row.credentials_sealed),
      dir: join(staging, 'repository.git'),
      resolve: (host) => resolveAllowed(host, { allowPrivate: row.local_requests_allowed }),
      limits,
      signal: signal ? AbortSignal.any([signal, watch.signal]) : watch.signal,
    });
    await finish(work, projectId, { userId: row.user_id, fetched });
  } catch (error) {
    // Whatever failed then, it says nothing about the repository.
    if (watch.signal.aborted) return;
    if (signal?.aborted) return await queueImport(work, projectId);
    if (!(error instanceof ImportFault)) throw error;
    work.log.info({ project: projectId, reason: error.message }, 'an import failed');
    await failImport(work, projectId, { userId: row.user_id, reason: error.message });
  } finally {
    watch.stop();
    await removeStaging(staging);
  }
}

/** @returns a signal that fires once the project is removed, or was filled by another task. */
function watchProject({ em }: Work, projectId: number, lookMs: number) {
  const over = new AbortController();
  const timer = setInterval(async () => {
    // A database that is away for a moment knows of no removal.
    const row = await sqlOne(em, findImport, [projectId]).catch(() => undefined);
    if (row === null) over.abort();
  }, lookMs);
  return { signal: over.signal, stop: () => clearInterval(timer) };
}

const findImport = `
  select i.url, i.credentials_sealed, i.user_id, s.local_requests_allowed
  from project_imports i join projects p on p.id = i.project_id and not p.pending_delete
    join settings s on s.id = 1
  where i.project_id = $1 and p.import_status = 'started'`;

interface Finished {
  userId: number | null;
  fetched: Fetched;
}

async function finish(work: Work, projectId: number, { userId, fetched }: Finished): Promise<void> {
  await inTransaction(work, async (inner) => {
    // Its lock keeps others from the repository until the commit: other runs, and whoever removes the project.
    const ended = await endImport(inner, projectId, { status: 'finished', error: null });
    if (!ended) return;
    await sql(inner.em, 'update projects set default_branch = $2 where id = $1', [projectId, fetched.branch]);
    if (fetched.branch !== null) await protectDefaultBranch(inner, projectId, fetched.branch);
    await installFetched(fetched, repositoryDir(work.repositoriesDir, projectId));
    await keepLogo(inner, { projectId, branch: fetched.branch });
    await recordEvent(inner, { projectId, authorId: userId, action: 'imported' });
    await queueTidying(inner, projectId, 0);
  });
}

interface Failed {
  userId: number | null;
  reason: string;
}

/** Ends an import that cannot be. What is left is a project like one that was made empty. */
export async function failImport(work: Work, projectId: number, { userId, reason }: Failed): Promise<void> {
  await inTransaction(work, async (inner) => {
    const ended = await endImport(inner, projectId, { status: 'failed', error: reason });
    if (ended) await recordEvent(inner, { projectId, authorId: userId, action: 'created' });
  });
}

async function endImport(
  { em }: Work,
  projectId: number,
  { status, error }: { status: 'finished' | 'failed'; error: string | null },
): Promise<boolean> {
  const ended = await sqlOne(
    em,
    `update projects set import_status = $2, import_error = left($3, 1024), updated_at = now()
     where id = $1 and import_status = 'started' and not pending_delete returning id`,
    [projectId, status, error],
  );
  if (ended) await sql(em, 'delete from project_imports where project_id = $1', [projectId]);
  return ended !== null;
}
