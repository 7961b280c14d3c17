import { setTimeout as pause } from 'node:timers/promises';
import { isConstraint } from '../database-errors.ts';
import { conflict, invalid, notAllowed, notFound } from '../errors.ts';
import { announceNoteable } from '../hooks/announce-noteable.ts';
import { isOpen } from '../policy/merge-request.ts';
import { can } from '../policy/project.ts';
import { isBeingMerged } from '../queries/merge-facts.ts';
import type { MergeRequestRow } from '../queries/merge-request-row.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { inTransaction } from '../sql.ts';
import { lookAgain } from './automatic-merge.ts';
import { followAtOnce, queueFollow } from './follow-merge-request.ts';
import { labelIds } from './label-ids.ts';
import {
  changeMergeRequestState,
  type HeldMergeRequest,
  holdMergeRequest,
  replaceLabels,
  saveChanges,
  saveHeads,
} from './merge-request-changes.ts';
import { findChoices } from './noteable-choices.ts';
import { otherOne, requireNoOther } from './open-once.ts';
import { settleOutstanding } from './record-push.ts';
import { type Branches, type Heads, takeHeads } from './take-heads.ts';

export interface MergeRequestChange {
  title: string | undefined;
  description: string | undefined;
  targetBranch: string | undefined;
  /** Ids, 0 for none; counted only from those who may change any merge request of the project. */
  assigneeId: number | undefined;
  milestoneId: number | undefined;
  /** Titles of all labels that it shall have; counted only from the same. */
  labels: readonly string[] | undefined;
  stateEvent: 'close' | 'reopen' | undefined;
}

interface Request {
  viewer: Viewer;
  project: ProjectScope;
  /** As it was when the request came. */
  mergeRequest: MergeRequestRow;
  change: MergeRequestChange;
}

/**
 * Changes what is given and leaves the rest, the state first; with what follows: notes, mentions, a line of the
 * project's activity, messages to hooks and to people. Opened again or with another target, it is about the commits
 * that the branches have now.
 *
 * @param work outside a transaction: git may need its time.
 * @throws AppError 404 when it is gone, 400 for labels that cannot be, an assignee that there is not, or branches that
 * are not there; 405 for another target of what is merged; 422 and 409 as for a new one.
 */
export async function updateMergeRequest(work: Work, request: Request): Promise<void> {
  const branches = newBranches(request);
  const { id, state } = request.mergeRequest;
  const willBeOpen = isOpen({ state }) || request.change.stateEvent === 'reopen';
  if (branches) await requireNoOther(work, branches, { exceptId: id, isOpen: willBeOpen });
  const heads = branches && (await takeHeads(work, branches));
  try {
    await writeOnceMerged(work, request, heads);
  } catch (error) {
    if (!branches || !isConstraint(error, 'merge_requests_open_key')) throw error;
    throw (await otherOne(work, branches, id)) ?? conflict();
  }
  if (heads) await followAtOnce(work, id);
}

/** A merge that has begun comes first, whatever becomes of it: what it merges must stay what was judged. */
async function writeOnceMerged(work: Work, request: Request, heads: Heads | null): Promise<void> {
  for (let round = 0; round < mostRounds; round += 1) {
    if (await inTransaction(work, (inner) => writeChange(inner, request, heads))) return;
    await settleOutstanding(work, request.project.id);
    await pause(betweenRoundsMs);
  }
  throw conflict('The merge request is being merged');
}

const mostRounds = 100;
const betweenRoundsMs = 100;

/** The branches, where they have to be looked at again; null where they have not. */
function newBranches({ project, mergeRequest, change }: Request): Branches | null {
  const { state, source_project_id: sourceId, source_branch, target_branch } = mergeRequest;
  const isMoved = change.targetBranch !== undefined && change.targetBranch !== target_branch;
  if (isMoved && state === 'merged') throw notAllowed();
  if (!isMoved && !(state === 'closed' && change.stateEvent === 'reopen')) return null;
  if (sourceId === null) throw invalid({ source_branch: ['does not exist'] });
  return {
    source: { projectId: sourceId, name: source_branch },
    target: { projectId: project.id, name: change.targetBranch ?? target_branch },
  };
}

/** @returns false, with nothing done, while the request is being merged. */
async function writeChange(work: Work, request: Request, heads: Heads | null): Promise<boolean> {
  const { viewer, project } = request;
  const { id } = request.mergeRequest;
  const before = await holdMergeRequest(work, id);
  if (!before) throw notFound();
  if (await isBeingMerged(work.em, before)) return false;
  if (heads && before.state === 'merged') throw notAllowed();
  const change = countedOf(request);
  // What is wrong with the rest is told before anything is done.
  const after = { ...before, ...(await changedOf(work, { projectId: project.id, change, heads })) };
  const labels = change.labels && (await labelIds(work, project.id, change.labels));
  // First of all: opened again for its old target, it could be one of two.
  if (heads) await saveHeads(work, after, heads);
  const state = nextState(before, change.stateEvent, heads);
  if (state) await changeMergeRequestState(work, { mergeRequest: before, state, userId: viewer.id });
  await saveChanges(work, { before, after, userId: viewer.id });
  if (labels) await replaceLabels(work, { id, labels, userId: viewer.id });
  if (after.title !== before.title) await lookAgain(work, id);
  const { stateEvent, ...rest } = change;
  if (Object.values(rest).some((value) => value !== undefined)) {
    await announceNoteable(work, { type: 'MergeRequest', id, action: 'update', userId: viewer.id });
  }
  if (heads) await queueFollow(work, id);
  return true;
}

/** What the event leads to; null where it does not apply, as when others were faster. */
function nextState(
  before: HeldMergeRequest,
  event: MergeRequestChange['stateEvent'],
  heads: Heads | null,
): 'closed' | 'reopened' | null {
  if (event === 'close') return isOpen(before) ? 'closed' : null;
  return event === 'reopen' && before.state === 'closed' && heads ? 'reopened' : null;
}

/** The change without what the viewer has no right to. */
function countedOf({ viewer, project, change }: Request): MergeRequestChange {
  if (can(viewer, project, 'admin_merge_request')) return change;
  return { ...change, assigneeId: undefined, milestoneId: undefined, labels: undefined };
}

interface Wanted {
  projectId: number;
  change: MergeRequestChange;
  heads: Heads | null;
}

async function changedOf(
  work: Work,
  { projectId, change, heads }: Wanted,
): Promise<Partial<HeldMergeRequest>> {
  const { title, description, assigneeId, milestoneId, targetBranch } = change;
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    // Without a look at the branches it is the target that it had when the request came.
    ...(targetBranch === undefined || !heads ? {} : { target_branch: targetBranch }),
    ...(await findChoices(work, { projectId, assigneeId, milestoneId })),
  };
}
