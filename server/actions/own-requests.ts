import type { Commit } from '../git/commit.ts';
import { isAncestor } from '../git/history.ts';
import { repositoryOf } from '../queries/repository.ts';
import { maxReferenceNumber, readReferences } from '../references/read.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

interface NamedRequest {
  id: number;
  head_sha: string | null;
  base_sha: string | null;
  merge_commit_sha: string | null;
}

const find = `select id, head_sha, base_sha, merge_commit_sha from merge_requests
  where project_id = $1 and iid = any($2) and deleted_at is null`;

/**
 * Those merge requests which a commit names that it is itself a part of, or has merged: what it says of them is no news
 * there.
 *
 * @returns their ids. Throws a GitError when the history cannot be read.
 */
export async function ownRequests(
  work: Work,
  projectId: number,
  { sha, message }: Commit,
): Promise<number[]> {
  const named = [...readReferences(message)].filter(
    ({ kind, project }) => kind === 'merge_request' && project === null,
  );
  const iids = named.map(({ name }) => Number(name)).filter((iid) => iid <= maxReferenceNumber);
  if (iids.length === 0) return [];
  const own: number[] = [];
  for (const request of await sql<NamedRequest>(work.em, find, [projectId, iids])) {
    if (await isPartOf(work, projectId, { sha, request })) own.push(request.id);
  }
  return own;
}

async function isPartOf(
  work: Work,
  projectId: number,
  { sha, request }: { sha: string; request: NamedRequest },
): Promise<boolean> {
  const { head_sha: head, base_sha: base, merge_commit_sha: merge } = request;
  if (sha === merge || sha === head) return true;
  if (head === null) return false;
  const dir = repositoryOf(work, { id: projectId });
  if (!(await isAncestor(dir, { ancestor: sha, descendant: head }))) return false;
  return base === null || !(await isAncestor(dir, { ancestor: sha, descendant: base }));
}
