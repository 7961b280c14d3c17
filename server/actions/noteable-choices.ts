import { invalid } from '../errors.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

/** To whom an issue or merge request is given, and for which milestone. */
export interface Choices {
  assignee: { id: number; username: string } | null;
  milestone: { id: number; iid: number } | null;
}

interface Wish {
  projectId: number;
  /** Ids; 0 stands for none. */
  assigneeId: number | undefined;
  milestoneId: number | undefined;
}

/**
 * Looks up what somebody asks for. What he says nothing of is not among the answers. A milestone that is none of the
 * project's is as good as none.
 *
 * @throws AppError 400 for a user that there is not.
 */
export async function findChoices({ em }: Work, wish: Wish): Promise<Partial<Choices>> {
  const { projectId, assigneeId, milestoneId } = wish;
  if (assigneeId === undefined && milestoneId === undefined) return {};
  const found = await sqlOne<Choices>(em, find, [projectId, assigneeId ?? 0, milestoneId ?? 0]);
  const { assignee = null, milestone = null } = found ?? {};
  if (assigneeId && !assignee) throw invalid({ assignee_id: ['is invalid'] });
  return {
    ...(assigneeId === undefined ? {} : { assignee }),
    ...(milestoneId === undefined ? {} : { milestone }),
  };
}

const find = `select
  (select json_build_object('id', u.id, 'username', u.username) from users u where u.id = $2) as assignee,
  (select json_build_object('id', m.id, 'iid', m.iid) from milestones m where m.id = $3 and m.project_id = $1) as milestone`;
