import type { Commit } from '../git/commit.ts';
import { GitError } from '../git/errors.ts';
import { zeroSha } from '../git/ref-name.ts';
import { lookUpRef } from '../git/refs.ts';
import { canUpdateIssue } from '../policy/issue.ts';
import { findNamedIssues } from '../queries/named-issues.ts';
import { repositoryOf } from '../queries/repository.ts';
import { type IssueName, readClosing } from '../references/closing.ts';
import type { Work } from '../services.ts';
import { inTransaction, sql, sqlOne } from '../sql.ts';
import { type ClosingSource, closeIssue } from './close-issue.ts';
import { closingNames, newCommits } from './closing-names.ts';
import { noteReferences } from './note-references.ts';
import { ownRequests } from './own-requests.ts';
import type { ClosingCause, Merged } from './queue-closing.ts';

/** Branches of one push whose commits are read, the default one first. */
const mostBranches = 20;

/**
 * Closes the issues that came to be closed, by those who may change them, and tells where commits are named. Each issue
 * is closed once by each cause, so that the task can be repeated, also after somebody opened one again.
 */
export async function closeIssues(work: Work, by: ClosingCause): Promise<void> {
  for (const merged of by.merged) await closeByMergeRequest(work, merged);
  for (const branch of await sql<Branch>(work.em, findBranches, [by.pushId])) await readBranch(work, branch);
}

/** Where a push moved a branch. */
interface Branch {
  project_id: number;
  full_path: string;
  default_branch: string | null;
  user_id: number;
  ref: string;
  before: string;
  after: string;
}

const findBranches = `
  select e.project_id, n.path || '/' || p.path as full_path, p.default_branch, e.author_id as user_id, e.ref,
    e.data->>'before' as before, e.data->>'after' as after
  from events e join projects p on p.id = e.project_id and not p.pending_delete
    join namespaces n on n.id = p.namespace_id
  where e.push_id = $1 and e.author_id is not null and starts_with(e.ref, 'refs/heads/')
    and e.data->>'after' <> '${zeroSha}'
  order by e.ref = 'refs/heads/' || p.default_branch desc, e.id limit ${mostBranches}`;

async function readBranch(work: Work, branch: Branch): Promise<void> {
  const commits = await commitsOf(work, branch);
  const { project_id: projectId, user_id: authorId } = branch;
  for (const commit of commits) {
    const { sha, message } = commit;
    if (!/[#!]\d/.test(message)) continue;
    const within = await ownRequests(work, projectId, commit);
    const source = { type: 'Commit', projectId, sha, within } as const;
    await inTransaction(work, (inner) =>
      noteReferences(inner, { authorId, source, noteId: null, texts: [message] }),
    );
  }
  if (branch.ref !== `refs/heads/${branch.default_branch}`) return;
  const closings = commits.flatMap(({ sha, message }) =>
    readClosing(message, work.origin).map((name) => ({ name, by: { commit: sha } })),
  );
  await closeNamed(work, { projectId, fullPath: branch.full_path, userId: authorId, closings });
}

/** Oldest first. A history that cannot be read is told nowhere. */
async function commitsOf(work: Work, branch: Branch): Promise<Commit[]> {
  const { project_id: projectId, before, after: from } = branch;
  try {
    const without = before === zeroSha ? await trunkBefore(work, branch) : before;
    return await newCommits(work, { projectId, from, without });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, project: projectId, ref: branch.ref }, 'the commits of a push were not read');
    return [];
  }
}

/** A new branch brings what the default one has not. */
async function trunkBefore(
  work: Work,
  { project_id: id, default_branch, ref }: Branch,
): Promise<string | null> {
  const trunk = `refs/heads/${default_branch}`;
  return default_branch === null || ref === trunk
    ? null
    : lookUpRef(work.objects, repositoryOf(work, { id }), trunk);
}

interface MergedRow {
  project_id: number;
  full_path: string;
  iid: number;
  description: string | null;
  head_sha: string | null;
  base_sha: string | null;
}

const findMerged = `
  select m.project_id, n.path || '/' || p.path as full_path, m.iid, m.description, m.head_sha, m.base_sha
  from merge_requests m join projects p on p.id = m.project_id and not p.pending_delete
    join namespaces n on n.id = p.namespace_id
  where m.id = $1 and m.state = 'merged' and m.deleted_at is null and m.target_branch = p.default_branch`;

async function closeByMergeRequest(work: Work, { mergeRequestId, userId }: Merged): Promise<void> {
  const request = await sqlOne<MergedRow>(work.em, findMerged, [mergeRequestId]);
  if (!request) return;
  const { project_id: projectId, full_path: fullPath, iid } = request;
  const names = await namesOf(work, request);
  const closings = names.map((name) => ({ name, by: { mergeRequest: iid, id: mergeRequestId } }));
  await closeNamed(work, { projectId, fullPath, userId, closings });
}

async function namesOf(work: Work, request: MergedRow): Promise<IssueName[]> {
  try {
    return await closingNames(work, request);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn(
      { err: error, project: request.project_id },
      'the commits of a merge request were not read',
    );
    return closingNames(work, { ...request, head_sha: null });
  }
}

interface Closings {
  /** Where the names stand. */
  projectId: number;
  fullPath: string;
  userId: number;
  closings: { name: IssueName; by: ClosingSource }[];
}

/** Each in a transaction of its own: nobody holds two issues. */
async function closeNamed(work: Work, { projectId, fullPath, userId, closings }: Closings): Promise<void> {
  const names = closings.map(({ name }) => name);
  const closed = new Set<number>();
  for (const issue of await findNamedIssues(work.em, { userId, projectId, names })) {
    const by = closings[issue.position]?.by;
    if (!by || closed.has(issue.id) || issue.state === 'closed' || !canUpdateIssue({ ...issue, issue }))
      continue;
    const project = issue.project_id === projectId ? null : { id: projectId, path: fullPath };
    const change = { issueId: issue.id, userId, by: { ...by, project } };
    if (await inTransaction(work, (inner) => closeIssue(inner, change))) closed.add(issue.id);
  }
}
