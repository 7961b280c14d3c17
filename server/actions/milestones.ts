import { invalid } from '../errors.ts';
import { readDay } from '../policy/day.ts';
import { withoutTags } from '../policy/user-names.ts';
import { type MilestoneRow, milestoneColumns } from '../queries/milestone-row.ts';
import { findMilestone } from '../queries/milestones.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { recordEvent } from './record-event.ts';

export interface NewMilestone {
  title: string;
  description?: string | undefined;
  /** In any usual form; what names no day is none. */
  dueDate?: string | undefined;
}

/**
 * Gives a project a milestone with its next number.
 *
 * @throws AppError 400 for a title that cannot be; one that another milestone has is refused by its constraint.
 */
export async function createMilestone(
  work: Work,
  { projectId, authorId }: { projectId: number; authorId: number },
  given: NewMilestone,
): Promise<MilestoneRow> {
  const day = given.dueDate === undefined ? null : readDay(given.dueDate);
  const values = [projectId, readTitle(given.title), given.description, day];
  const row = await sqlOne<MilestoneRow>(work.em, insert, values);
  if (!row) throw new Error('no milestone was made');
  await tell(work, { row, authorId, action: 'opened' });
  return row;
}

const insert = `
  with counted as (
    update projects set last_milestone_iid = last_milestone_iid + 1 where id = $1 returning last_milestone_iid
  )
  insert into milestones as ms (project_id, iid, title, description, due_date)
  select $1, last_milestone_iid, $2, $3, $4::date from counted returning ${milestoneColumns}`;

export interface MilestoneChange extends Partial<NewMilestone> {
  stateEvent?: 'close' | 'activate' | undefined;
}

/**
 * Changes what is given and leaves the rest. Closing what is closed, or activating what is active, is no change.
 *
 * @returns null when the project has no such milestone.
 * @throws AppError as `createMilestone` does.
 */
export async function updateMilestone(
  work: Work,
  { projectId, id, userId }: { projectId: number; id: number; userId: number },
  change: MilestoneChange,
): Promise<MilestoneRow | null> {
  const { em } = work;
  const title = change.title === undefined ? undefined : readTitle(change.title);
  // Before the milestone, as whoever makes one does: the activity is noted there.
  if (change.stateEvent) await sqlOne(em, holdProject, [projectId]);
  const before = await sqlOne<Pick<MilestoneRow, 'state'>>(em, holdMilestone, [projectId, id]);
  if (!before) return null;
  if (Object.values(change).every((value) => value === undefined)) return findMilestone(em, projectId, id);
  const state = change.stateEvent && statesAfter[change.stateEvent];
  const isDayGiven = change.dueDate !== undefined;
  const day = change.dueDate === undefined ? null : readDay(change.dueDate);
  const row = await sqlOne<MilestoneRow>(em, update, [id, title, change.description, isDayGiven, day, state]);
  if (!row) throw new Error('a milestone that is held is gone');
  if (row.state !== before.state) {
    await tell(work, { row, authorId: userId, action: row.state === 'closed' ? 'closed' : 'opened' });
  }
  return row;
}

const holdProject = 'select 1 from projects where id = $1 for no key update';
const holdMilestone = 'select state from milestones where project_id = $1 and id = $2 for no key update';

const statesAfter = { close: 'closed', activate: 'active' } as const;

const update = `
  update milestones ms set title = coalesce($2, title), description = coalesce($3, description),
    due_date = case when $4::boolean then $5::date else due_date end, state = coalesce($6, state), updated_at = now()
  where ms.id = $1 returning ${milestoneColumns}`;

function readTitle(given: string): string {
  const title = withoutTags(given);
  if (title === '') throw invalid({ title: ["can't be blank"] });
  if (title.length > 255) throw invalid({ title: ['is too long (maximum is 255 characters)'] });
  return title;
}

async function tell(
  work: Work,
  { row, authorId, action }: { row: MilestoneRow; authorId: number; action: 'opened' | 'closed' },
): Promise<void> {
  const target = { targetType: 'Milestone', targetId: row.id, targetTitle: row.title };
  await recordEvent(work, { projectId: row.project_id, authorId, action, ...target });
}
