import type { MergeIntent } from '../entities/push.ts';
import { GitError, RefConflictError } from '../git/errors.ts';
import { updateRef } from '../git/refs.ts';
import { repositoryDir } from '../git/repository-path.ts';
import type { Work } from '../services.ts';
import { recordPush } from './record-push.ts';
import { pushIdentity, settlePush } from './settle-push.ts';

export interface RefMove {
  projectId: number;
  userId: number;
  /** In full. */
  ref: string;
  /** Where it has to be; 40 zeros: it must not exist. */
  oldSha: string;
  /** 40 zeros remove it. */
  newSha: string;
  /** The merge request that it merges, which counts as merged with the move. */
  merge?: MergeIntent;
  /** As in `recordPush`. */
  hold?: (inner: Work) => Promise<void>;
}

/**
 * Moves a ref for a user, with all that follows from a push: the event, hooks and the pipeline. Whether he may is the
 * caller's question. The objects have to be there already.
 *
 * @param work outside a transaction: what is about to be done is written down first.
 * @throws RefConflictError when the ref is, or comes to be, somewhere else; nothing has changed then. GitError when
 * git refuses for another reason, such as a branch `a` that is in the way of `a/b`.
 */
export async function moveRef(work: Work, move: RefMove): Promise<void> {
  const { projectId, userId, ref, oldSha, newSha, merge, hold } = move;
  const dir = repositoryDir(work.repositoriesDir, projectId);
  const pushId = await recordPush(work, {
    projectId,
    userId,
    changes: [{ ref, oldSha, newSha, ...(merge && { merge }) }],
    hold,
  });
  try {
    await updateRef({ dir, ref, newSha, expectedOld: oldSha, identity: pushIdentity(pushId) });
  } catch (error) {
    throw isHeld(error) ? conflictOf(error) : error;
  } finally {
    await settle(work, pushId);
  }
}

/** A failure here is mended by the task that was queued with the push. */
async function settle(work: Work, pushId: number): Promise<void> {
  try {
    await settlePush(work, pushId, { isOver: true });
  } catch (error) {
    work.log.error({ err: error, push: pushId }, 'a move of a ref could not be settled yet');
  }
}

/** Somebody else is moving the ref, and has been for longer than git waits. */
function isHeld(error: unknown): error is GitError {
  return error instanceof GitError && /cannot lock ref .*(?:File exists|\.lock)/s.test(error.stderr);
}

function conflictOf(cause: GitError): RefConflictError {
  const { attempted, stderr, exitCode } = cause;
  return new RefConflictError({ attempted, actual: null, stderr, exitCode, cause });
}

/** Whether git refused a new ref because of another one: `a` and `a/b` cannot both be there. */
export function isInTheWay(error: unknown): boolean {
  return error instanceof GitError && /exists; cannot create|blocking reference/.test(error.stderr);
}
