import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { changeIssueState, holdIssue, stateNote } from './issue-changes.ts';
import type { ReferenceSource } from './note-references.ts';

/** A commit by its hash, or a merge request by its number in the project. */
export type ClosingSource = { commit: string } | { mergeRequest: number; id: number };

/** What closed an issue; with its project when that is another one than the issue's. */
export type ClosedBy = ClosingSource & { project?: { id: number; path: string } | null };

/**
 * Closes an issue with all that follows. One that is closed already, or gone, stays as it is, and so does one that was
 * opened again after the same commit or merge request had closed it. What closed it from another project is told only to
 * those who may see that: the path of a project is told to nobody else.
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
  return changeIssueState(work, { issue, state: 'closed', userId, reason, reference: by && referenceOf(by) });
}

function nameOf(by: ClosedBy): string {
  const projectPath = by.project?.path ?? '';
  if ('mergeRequest' in by) return `merge request ${projectPath}!${by.mergeRequest}`;
  return `commit ${projectPath && `${projectPath}@`}${by.commit}`;
}

function referenceOf(by: ClosedBy): ReferenceSource | null {
  if (!by.project) return null;
  const { id: projectId } = by.project;
  return 'mergeRequest' in by
    ? { type: 'MergeRequest', projectId, id: by.id }
    : { type: 'Commit', projectId, sha: by.commit };
}

const findSuch = `
  select 1 from notes where noteable_type = 'Issue' and noteable_id = $1 and system and body = $2`;
