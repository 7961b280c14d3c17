import { readRefName } from '../../shared/ref-kind.ts';
import type { RefChange } from '../entities/push.ts';
import { checkRefName, zeroSha } from '../git/ref-name.ts';
import { wereApplied } from '../git/reflog.ts';
import { lookUpRef, lookUpRefs } from '../git/refs.ts';
import { setHead } from '../git/repository.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { removeStaleLocks, type StaleAfter } from '../git/stale-locks.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { protectDefaultBranch } from './branch-protection.ts';
import { createPipeline } from './create-pipeline.ts';
import { followPush } from './follow-push.ts';
import { keepDropped } from './keep-commits.ts';
import { keepLogo } from './keep-logo.ts';
import type { EarlyList } from './list-early.ts';
import { queueClosing } from './queue-closing.ts';
import { notePush } from './queue-tidying.ts';
import { dropReleases } from './releases.ts';
import { writePushEvent } from './write-push-event.ts';

/** Refs of one push that get a pipeline; a push of a whole old repository must not start thousands. */
export const pipelinesPerPush = 20;
/** No push lasts so long: what has not happened by then will not happen. */
const abandonedAfterSeconds = 2 * 3600;
export const staleAfter: StaleAfter = {
  /** Git holds the lock of a ref for moments, but one that moves thousands of refs at once holds all of theirs. */
  lockMs: 10 * 60_000,
  /** Longer than a push may take, and shorter than a push is remembered. */
  packMs: 90 * 60_000,
};

/** A recorded push with what its consequences need to know. */
export interface PushRow {
  id: number;
  project_id: number;
  user_id: number | null;
  user_name: string | null;
  changes: RefChange[];
  age_ms: number;
  name: string;
  full_path: string;
  description: string | null;
  default_branch: string | null;
  builds_enabled: boolean;
}

/** Who moved the refs, as it stands in their logs. */
export function pushIdentity(pushId: number): { name: string; email: string } {
  return { name: 'Hearth', email: `push-${pushId}@hearth` };
}

interface SettleOptions {
  /** Git has ended; without it a ref that has not moved yet may still do so. */
  isOver: boolean;
  /** Hears how many refs got no pipeline because there were too many. */
  onLeftOut?: (refs: number) => void;
  /** What the push brought, where that is known already. */
  early?: EarlyList;
}

/**
 * Writes what follows from the refs that a push really moved: pipelines, events, the default branch. All of it
 * in one transaction, and each at most once, however often and wherever it is called.
 *
 * @returns false when something is left to be looked at later.
 */
export async function settlePush(
  work: Work,
  pushId: number,
  { isOver, onLeftOut, early }: SettleOptions,
): Promise<boolean> {
  return inTransaction(work, async (inner) => {
    const push = await sqlOne<PushRow>(inner.em, findPush, [pushId]);
    if (!push) return true;
    const dir = repositoryDir(work.repositoriesDir, push.project_id);
    if (!isOver && push.age_ms > staleAfter.lockMs) await clearLocks(inner, push, dir);
    const applied = await appliedChanges(inner, push, dir);
    const leftOut = await writeConsequences(inner, { push, dir, applied, early });
    if (leftOut > 0) onLeftOut?.(leftOut);
    const isAbandoned = push.age_ms > abandonedAfterSeconds * 1000;
    if (!isOver && applied.length < push.changes.length && !isAbandoned) return false;
    await sql(inner.em, 'delete from pushes where id = $1', [pushId]);
    await inner.queue.remove(inner.em, `settle_push:${pushId}`);
    return true;
  });
}

const findPush = `
  select s.id, s.project_id, s.user_id, u.name as user_name, s.changes, p.name, p.description, p.default_branch,
    p.builds_enabled, n.path || '/' || p.path as full_path,
    (extract(epoch from now() - s.created_at) * 1000)::float8 as age_ms
  from pushes s join projects p on p.id = s.project_id and not p.pending_delete
    join namespaces n on n.id = p.namespace_id left join users u on u.id = s.user_id
  where s.id = $1 for update of s`;

/** A push that is still open after so long may have been killed with its locks in place. */
async function clearLocks(work: Work, push: PushRow, dir: string): Promise<void> {
  const removed = await removeStaleLocks(dir, staleAfter);
  if (removed.length > 0) {
    work.log.warn(
      { project: push.project_id, push: push.id, paths: removed },
      'removed what a dead git left',
    );
  }
}

async function appliedChanges(
  { objects }: Work,
  { id, changes }: PushRow,
  dir: string,
): Promise<RefChange[]> {
  const { email } = pushIdentity(id);
  const questions = changes.map((change) => ({ ...change, email, isLater: isLaterThan(id) }));
  const verdicts = await wereApplied(dir, questions, (names) => lookUpRefs(objects, dir, names));
  return changes.filter((_, index) => verdicts[index]);
}

function isLaterThan(pushId: number): (email: string) => boolean {
  return (email) => Number(/^push-(\d+)@hearth$/.exec(email)?.[1] ?? 0) > pushId;
}

interface Consequences {
  push: PushRow;
  dir: string;
  applied: RefChange[];
  early?: EarlyList | undefined;
}

/** @returns how many refs got no pipeline because there were too many. */
async function writeConsequences(work: Work, { push, dir, applied, early }: Consequences): Promise<number> {
  if (applied.length === 0) return 0;
  const { id: pushId, project_id: projectId, user_id: userId } = push;
  // Merge requests before projects: so they are held everywhere.
  const merged = await followPush(work, { pushId, projectId, userId, dir, applied });
  await keepDropped(work, { projectId, dir, changes: applied });
  await chooseDefaultBranch(work, { push, dir, applied });
  await dropReleases(work, { pushId, projectId, tags: removedTags(applied) });
  const trunkRef = push.default_branch === null ? null : `refs/heads/${push.default_branch}`;
  const leavesTrunk = applied.some(({ ref, oldSha }) => oldSha === zeroSha && ref !== trunkRef);
  const trunk = leavesTrunk && trunkRef ? await lookUpRef(work.objects, dir, trunkRef) : null;
  let pipelines = 0;
  let mayName = false;
  for (const change of applied) {
    if (!readRefName(change.ref)) continue;
    if (await writePushEvent(work, { push, dir, change, trunk, early })) mayName = true;
    if (change.newSha === zeroSha || !push.builds_enabled) continue;
    pipelines += 1;
    if (pipelines <= pipelinesPerPush) await startPipeline(work, { push, dir, change });
  }
  const refs = Math.max(0, pipelines - pipelinesPerPush);
  if (refs > 0) {
    work.log.warn({ project: push.project_id, push: push.id, refs }, 'no pipelines for so many refs at once');
  }
  if (mayName || merged.length > 0) await queueClosing(work, { pushId, merged });
  // As it is by now: another may have been chosen since the push was read.
  const branch = await notePush(work, projectId);
  if (applied.some(({ ref }) => ref === `refs/heads/${branch}`)) await keepLogo(work, { projectId, branch });
  return refs;
}

function removedTags(changes: readonly RefChange[]): string[] {
  return changes
    .filter(({ newSha }) => newSha === zeroSha)
    .map(({ ref }) => readRefName(ref))
    .flatMap((kind) => (kind?.isTag ? [kind.name] : []));
}

interface OneChange {
  push: PushRow;
  dir: string;
  change: RefChange;
}

async function startPipeline(work: Work, { push, dir, change }: OneChange): Promise<void> {
  const kind = readRefName(change.ref);
  const target = await work.objects.readInfo(dir, `${change.newSha}^{commit}`);
  if (!kind || !target) return;
  await createPipeline(work, {
    project: { id: push.project_id, fullPath: push.full_path },
    ref: kind.name,
    isTag: kind.isTag,
    sha: target.sha,
    beforeSha: change.oldSha,
    userId: push.user_id,
    cause: { kind: 'push', pushId: push.id, skipCi: change.skipCi === true },
  });
}

/** The first branch that is pushed becomes the default one, and is protected as the settings say. */
async function chooseDefaultBranch(work: Work, { push, dir, applied }: Consequences): Promise<void> {
  if (push.default_branch !== null) return;
  const branches = applied
    .filter((change) => change.newSha !== zeroSha)
    .map((change) => readRefName(change.ref))
    .flatMap((kind) => (kind && !kind.isTag && checkRefName(kind.name, 'short') ? [kind.name] : []));
  const branch = branches.find((name) => name === 'master' || name === 'main') ?? branches[0];
  if (branch === undefined) return;
  // The row first: its lock lets only one of two first pushes go on to HEAD.
  const chosen = await sqlOne(
    work.em,
    'update projects set default_branch = $2 where id = $1 and default_branch is null returning id',
    [push.project_id, branch],
  );
  if (!chosen) return;
  push.default_branch = branch;
  await protectDefaultBranch(work, push.project_id, branch);
  await setHead(dir, branch);
}
