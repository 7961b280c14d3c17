import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { changeMergeRequestState } from './merge-request-changes.ts';
import { noteBranch } from './note-branch.ts';

interface OpenRequest {
  id: number;
  project_id: number;
  title: string;
  author_id: number;
  source_branch: string;
}

/** Requests of one transaction. */
const atOnce = 20;

const hold = `
  select id, project_id, title, author_id, source_branch from merge_requests
  where source_project_id = $1 and project_id <> $1 and state in ('opened', 'reopened') and deleted_at is null
  order by id limit ${atOnce} for no key update`;

/**
 * Closes what a project asks others to merge, as when its branches go one by one: it is about to be removed.
 *
 * @param work inside a transaction.
 * @returns how many it closed.
 */
export async function closeForkRequests(work: Work, projectId: number): Promise<number> {
  const rows = await sql<OpenRequest>(work.em, hold, [projectId]);
  for (const row of rows) {
    // Who removed the project is not known any more.
    const userId = row.author_id;
    await noteBranch(work, row, { userId, did: 'Deleted' });
    await changeMergeRequestState(work, { mergeRequest: row, state: 'closed', userId });
  }
  return rows.length;
}
