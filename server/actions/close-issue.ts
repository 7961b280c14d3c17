import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { changeIssueState, holdIssue, stateNote } from './issue-changes.ts';

/** What closed an issue; with the path of its project when that is another one than the issue's. */
export type ClosedBy =
  | { commit: string; projectPath?: string }
  /** Its number in the project. */
  | { mergeRequest: number; projectPath?: string };

/**
 * Closes an issue with all that follows. One that is closed already, or gone, stays as it is, and so does one that was
 * opened again after the same commit or merge request had closed it.
 *
 * @returns whether that changed anything.
 */
export async function closeIssue(
  work: Work,
  { issueId, userId, by }: { issueId: number; userId: number; by: ClosedBy | null },
): Promise<boolean> {
  const issue = await holdIssue(work, issueId);
  if (!issue) return false;
  const reason = by ? ` by ${nameOf(by)}` : '';
  if (by && (await sqlOne(work.em, findSuch, [issueId, stateNote('closed', reason)]))) return false;
  return changeIssueState(work, { issue, state: 'closed', userId, reason });
}

function nameOf(by: ClosedBy): string {
  const { projectPath = '' } = by;
  if ('mergeRequest' in by) return `merge request ${projectPath}!${by.mergeRequest}`;
  return `commit ${projectPath && `${projectPath}@`}${by.commit}`;
}

const findSuch = `
  select 1 from notes where noteable_type = 'Issue' and noteable_id = $1 and system and body = $2`;
