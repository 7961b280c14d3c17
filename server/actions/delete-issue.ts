import { notFound } from '../errors.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { forgetActivity } from './forget-activity.ts';

/**
 * Takes an issue away for everybody, and from the activity of its project. Its number stays taken.
 *
 * @throws AppError 404 when that was done meanwhile.
 */
export async function deleteIssue(work: Work, id: number): Promise<void> {
  const text = 'update issues set deleted_at = now() where id = $1 and deleted_at is null returning id';
  if (!(await sqlOne(work.em, text, [id]))) throw notFound();
  await forgetActivity(work, { type: 'Issue', id });
}
