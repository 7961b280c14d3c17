import { storable } from '../../shared/storable-text.ts';
import { GitError, GitTimeoutError } from '../git/errors.ts';
import { Facts } from '../git/facts.ts';
import { commitsBetween, mergeBase } from '../git/history.ts';
import { type MergeOutcome, mergeTrees } from '../git/merge.ts';
import { fetchHead, setHeadRef } from '../git/merge-request-refs.ts';
import { zeroSha } from '../git/ref-name.ts';
import { keepAround } from '../git/refs.ts';
import { announceNoteable } from '../hooks/announce-noteable.ts';
import type { MergeRequestRow, MergeStatus } from '../queries/merge-request-row.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { type Branches, readTips, type Tips } from './merge-request-tips.ts';
import { writeSystemNotes } from './write-system-notes.ts';

type HeadRow = Branches & { iid: number; head_sha: string | null; base_sha: string | null };

/**
 * Brings an open merge request up to date with its source branch: its commits are those that the branch has now, and
 * nobody merges it by himself any more. Doing it twice changes nothing.
 *
 * @param work inside a transaction, which holds the row of the merge request from then on.
 * @param pusherId who brought the branch there; with him, it is noted and hooks hear of it.
 * @throws GitError when the commits cannot be brought to the repository of the target.
 */
export async function refreshHead(work: Work, mergeRequestId: number, pusherId?: number): Promise<void> {
  const row = await sqlOne<HeadRow>(work.em, hold, [mergeRequestId]);
  const tips = row && (await readTips(work, row));
  if (!row || !tips?.source || tips.source === row.head_sha) return;
  await takeOver(tips, row, tips.source);
  const base = tips.target ? await baseOf(tips.targetDir, [tips.target, tips.source]) : row.base_sha;
  await sql(work.em, update, [mergeRequestId, tips.source, base]);
  if (pusherId === undefined) return;
  await writeSystemNotes(work, {
    projectId: row.project_id,
    authorId: pusherId,
    noteable: { type: 'MergeRequest', id: mergeRequestId },
    bodies: await addedCommits(work, row, { ...tips, source: tips.source }),
  });
  await announceNoteable(work, {
    type: 'MergeRequest',
    id: mergeRequestId,
    action: 'update',
    userId: pusherId,
  });
}

const hold = `
  select t.project_id, t.source_project_id, t.source_branch, t.target_branch, t.iid, t.head_sha, t.base_sha
  from merge_requests t where t.id = $1 and t.state in ('opened', 'reopened') and t.deleted_at is null
  for no key update`;

const update = `
  update merge_requests set head_sha = $2, base_sha = $3, merge_status = 'unchecked', updated_at = now(),
    merge_when_build_succeeds = false, merge_user_id = null, merge_message = null, removes_source_branch = false
  where id = $1`;

/** Puts the commits where those of the target are, for good. */
async function takeOver(tips: Tips, { iid }: HeadRow, sha: string): Promise<void> {
  const { targetDir, sourceDir } = tips;
  if (sourceDir !== null && sourceDir !== targetDir) await fetchHead({ targetDir, sourceDir, sha });
  await keepAround(targetDir, sha);
  await setHeadRef({ dir: targetDir, iid, sha });
}

/** Bounds for what is done while others wait for the row. */
const timeoutMs = 10_000;

async function baseOf(dir: string, shas: [string, string]): Promise<string | null> {
  try {
    return await mergeBase(dir, shas, { timeoutMs });
  } catch (error) {
    if (error instanceof GitTimeoutError) return null;
    throw error;
  }
}

const listedCommits = 100;

/** The note about commits that the source branch did not have before; none when it only lost some. */
async function addedCommits(work: Work, row: HeadRow, tips: Tips & { source: string }): Promise<string[]> {
  const { total, commits } = await commitsBetween(work.objects, {
    dir: tips.targetDir,
    oldSha: row.head_sha ?? zeroSha,
    // Commits of the target that were merged into the source are not what the request is about.
    alsoWithout: tips.target ?? undefined,
    newSha: tips.source,
    limit: listedCommits,
  });
  if (total === 0) return [];
  const lines = commits.map(({ sha, title }) => `* ${sha.slice(0, 8)} - ${storable(title)}`);
  const more = total > commits.length ? [`* and ${total - commits.length} more`] : [];
  return [[`Added ${total} ${total === 1 ? 'commit' : 'commits'}:`, '', ...lines, ...more].join('\n')];
}

const verdicts = new Facts<MergeStatus>({ maxBytes: 4 * 1024 * 1024, weigh: () => 32 });

type CheckedRow = Branches &
  Pick<MergeRequestRow, 'id' | 'state' | 'merge_status' | 'checked_source_sha' | 'checked_target_sha'>;

/**
 * Whether a merge request can be merged as its branches are now. Of one that is closed or merged, what was last known.
 * Found out once for each pair of commits, and kept in the row.
 *
 * @returns `unchecked` when git cannot read the branches.
 */
export async function checkMergeStatus(work: Work, row: CheckedRow): Promise<MergeStatus> {
  if (row.state !== 'opened' && row.state !== 'reopened') return row.merge_status;
  try {
    const tips = await readTips(work, row);
    const { source, target } = tips;
    const isKnown = source === row.checked_source_sha && target === row.checked_target_sha;
    if (isKnown && row.merge_status !== 'unchecked') return row.merge_status;
    const status = await judge(work, tips);
    await sql(work.em, note, [row.id, status, source, target]);
    return status;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, mergeRequest: row.id }, 'whether it can be merged is not known');
    return 'unchecked';
  }
}

const note = `
  update merge_requests set merge_status = $2, checked_source_sha = $3, checked_target_sha = $4
  where id = $1 and state in ('opened', 'reopened')`;

async function judge(work: Work, tips: Tips): Promise<MergeStatus> {
  const { source, target, sourceDir, targetDir } = tips;
  if (source === null || target === null || sourceDir === null) return 'cannot_be_merged';
  return verdicts.find(`${target} ${source}`, async () => {
    const isThere = await work.objects.readInfo(targetDir, source);
    if (!isThere) await fetchHead({ targetDir, sourceDir, sha: source });
    const outcome = await outcomeOf(targetDir, target, source);
    return outcome.kind === 'clean' ? 'can_be_merged' : 'cannot_be_merged';
  });
}

/** What git does not merge in time is not merged here. */
async function outcomeOf(dir: string, ours: string, theirs: string): Promise<Pick<MergeOutcome, 'kind'>> {
  try {
    return await mergeTrees(dir, ours, theirs);
  } catch (error) {
    if (error instanceof GitTimeoutError) return { kind: 'conflict' };
    throw error;
  }
}
