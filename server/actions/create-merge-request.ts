import { conflict, notFound } from '../errors.ts';
import { announceNoteable } from '../hooks/announce-noteable.ts';
import { tellPeople } from '../mail/happening.ts';
import { can } from '../policy/project.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { inTransaction, sqlOne } from '../sql.ts';
import { followAtOnce, queueFollow } from './follow-merge-request.ts';
import { labelIds, readTitles } from './label-ids.ts';
import { noteReferences } from './note-references.ts';
import { type Choices, findChoices } from './noteable-choices.ts';
import { otherOne, requireNoOther } from './open-once.ts';
import { recordEvent } from './record-event.ts';
import { setLabels } from './set-labels.ts';
import { type Heads, takeHeads } from './take-heads.ts';

export interface NewMergeRequest {
  viewer: Viewer;
  /** Whose branch is to be merged; the viewer's rights on it are the caller's question. */
  sourceProjectId: number;
  sourceBranch: string;
  /** Where it goes to, and is kept. */
  target: ProjectScope;
  targetBranch: string;
  title: string;
  description: string | undefined;
  /** Ids; counted only from those who may change merge requests of the target. */
  assigneeId: number | undefined;
  milestoneId: number | undefined;
  /** Titles; labels that the target lacks are made. */
  labels: readonly string[];
}

/**
 * Asks for a branch to be merged into another one, under the next number of the project that it goes to, with what
 * follows: mentions, a line of the project's activity, messages to hooks and to people.
 *
 * @param work outside a transaction: git may need its time.
 * @returns its id.
 * @throws AppError 400 for labels that cannot be, branches that are not there or an assignee that there is not, 422
 * when both branches are the same one, 409 when it was asked for before, 404 when the target is gone.
 */
export async function createMergeRequest(work: Work, wish: NewMergeRequest): Promise<number> {
  readTitles(wish.labels);
  await requireNoOther(work, branchesOf(wish));
  const heads = await takeHeads(work, branchesOf(wish));
  const id = await inTransaction(work, (inner) => addMergeRequest(inner, wish, heads));
  await followAtOnce(work, id);
  return id;
}

function branchesOf({ sourceProjectId, sourceBranch, target, targetBranch }: NewMergeRequest) {
  return {
    source: { projectId: sourceProjectId, name: sourceBranch },
    target: { projectId: target.id, name: targetBranch },
  };
}

async function addMergeRequest(work: Work, wish: NewMergeRequest, heads: Heads): Promise<number> {
  const { viewer, target, title, description } = wish;
  // Before the project's row is held, on which all its other new merge requests wait.
  const labels = await labelIds(work, target.id, wish.labels);
  const id = await insertMergeRequest(work, { wish, heads, given: await givenTo(work, wish) });
  const noteable = { type: 'MergeRequest', id } as const;
  if (labels.length > 0) await setLabels(work, noteable, labels);
  const source = { ...noteable, projectId: target.id };
  const texts = [title, description ?? null];
  await noteReferences(work, { authorId: viewer.id, source, noteId: null, texts });
  await recordEvent(work, {
    projectId: target.id,
    authorId: viewer.id,
    action: 'opened',
    targetType: 'MergeRequest',
    targetId: id,
    targetTitle: title,
  });
  await announceNoteable(work, { ...noteable, action: 'open', userId: viewer.id });
  await tellPeople(work, { kind: 'opened', ...noteable, by: viewer.id });
  await queueFollow(work, id);
  return id;
}

async function givenTo(
  work: Work,
  { viewer, target, assigneeId, milestoneId }: NewMergeRequest,
): Promise<Partial<Choices>> {
  if (!can(viewer, target, 'admin_merge_request')) return {};
  return findChoices(work, { projectId: target.id, assigneeId, milestoneId });
}

interface Insertion {
  wish: NewMergeRequest;
  heads: Heads;
  given: Partial<Choices>;
}

async function insertMergeRequest(work: Work, { wish, heads, given }: Insertion): Promise<number> {
  const row = await sqlOne<{ id: number }>(work.em, insert, [
    ...[wish.target.id, wish.sourceProjectId, wish.sourceBranch, wish.targetBranch, wish.title],
    ...[wish.description ?? null, wish.viewer.id, given.assignee?.id ?? null, given.milestone?.id ?? null],
    ...[heads.headSha, heads.baseSha],
  ]);
  if (row) return row.id;
  const isThere = await sqlOne(work.em, 'select 1 from projects where id = $1 and not pending_delete', [
    wish.target.id,
  ]);
  if (!isThere) throw notFound('Project');
  // The other one may have been closed since it was in the way.
  throw (await otherOne(work, branchesOf(wish))) ?? conflict();
}

const insert = `
  with numbered as (
    update projects set last_merge_request_iid = last_merge_request_iid + 1 where id = $1 and not pending_delete
    returning id, last_merge_request_iid
  )
  insert into merge_requests (project_id, iid, source_project_id, source_branch, target_branch, title, description,
    author_id, assignee_id, milestone_id, head_sha, base_sha)
  select id, last_merge_request_iid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 from numbered
  on conflict (source_project_id, source_branch, project_id, target_branch)
    where state in ('opened', 'reopened') and deleted_at is null do nothing
  returning id`;
