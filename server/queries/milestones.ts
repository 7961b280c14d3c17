import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import { type MilestoneRow, milestoneColumns } from './milestone-row.ts';

export const milestoneStates = ['active', 'closed'] as const;

export interface MilestoneFilter {
  iid?: number | undefined;
  state?: (typeof milestoneStates)[number] | undefined;
}

/** Milestones of a project, newest first. */
export function listMilestones(projectId: number, { iid, state }: MilestoneFilter): ListQuery {
  const values: unknown[] = [projectId];
  const conditions = ['ms.project_id = $1'];
  if (iid !== undefined) conditions.push(`ms.iid = $${values.push(iid)}`);
  if (state !== undefined) conditions.push(`ms.state = $${values.push(state)}`);
  return {
    columns: milestoneColumns,
    from: `milestones ms where ${conditions.join(' and ')}`,
    order: 'ms.id desc',
    values,
  };
}

export async function findMilestone(
  em: EntityManager,
  projectId: number,
  id: number,
): Promise<MilestoneRow | null> {
  const text = `select ${milestoneColumns} from milestones ms where ms.project_id = $1 and ms.id = $2`;
  return sqlOne<MilestoneRow>(em, text, [projectId, id]);
}
