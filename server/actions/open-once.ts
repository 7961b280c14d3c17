import { type AppError, conflict, unprocessable } from '../errors.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import type { Branches } from './take-heads.ts';

interface Standing {
  /** The one that is asked for, where it is there already. */
  exceptId: number;
  /** Whether it is going to be open. */
  isOpen: boolean;
}

/**
 * Between two branches there is one open merge request at most. Another one may still come before this one is written.
 *
 * @throws AppError 422 when both are the same branch, 409 when there is another one.
 */
export async function requireNoOther(
  work: Work,
  branches: Branches,
  { exceptId, isOpen }: Standing = { exceptId: 0, isOpen: true },
): Promise<void> {
  const { source, target } = branches;
  if (source.projectId === target.projectId && source.name === target.name) {
    throw unprocessable(['You can not use same project/branch for source and target']);
  }
  const other = isOpen && (await otherOne(work, branches, exceptId));
  if (other) throw other;
}

/** The error that tells of the other open merge request between these branches; null without one. */
export async function otherOne(
  { em }: Work,
  { source, target }: Branches,
  exceptId = 0,
): Promise<AppError | null> {
  const values = [source.projectId, source.name, target.projectId, target.name, exceptId];
  const row = await sqlOne<{ title: string }>(em, find, values);
  if (!row) return null;
  return conflict([`Cannot Create: This merge request already exists: ${JSON.stringify([row.title])}`]);
}

const find = `select title from merge_requests
  where source_project_id = $1 and source_branch = $2 and project_id = $3 and target_branch = $4 and id <> $5
    and state in ('opened', 'reopened') and deleted_at is null`;
