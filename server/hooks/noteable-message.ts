import { presentUserSummary } from '../present/user.ts';
import { summaryJson, type UserSummaryRow } from '../queries/user-summary.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { findHookProject, type HookProject, projectBlock, repositoryBlock } from './blocks.ts';
import {
  type IssueColumns,
  issueAttributes,
  type MergeRequestColumns,
  mergeRequestAttributes,
} from './noteable-attributes.ts';

/** What was done to an issue or merge request, and how it then was. */
export type NoteableSubject = { action: string; userId: number } & (
  | { kind: 'issue'; row: IssueColumns }
  | { kind: 'merge_request'; row: MergeRequestColumns }
);

/** The message of one change of an issue or merge request. @returns null when the project is gone. */
export async function noteableMessage(
  work: Work,
  subject: NoteableSubject,
): Promise<Record<string, unknown> | null> {
  const { kind, action, userId, row } = subject;
  const project = await findHookProject(work, row.project_id);
  if (!project) return null;
  const people = await sqlOne<People>(work.em, findPeople, [userId, row.assignee_id]);
  return {
    object_kind: kind,
    user: people?.user ? userBlock(work, people.user) : null,
    project: projectBlock(work, project),
    object_attributes: {
      ...(await attributesOf(work, subject, project)),
      url: `${work.origin}/${project.full_path}/${kind}s/${row.iid}`,
      action,
    },
    repository: repositoryBlock(work, project),
    ...(people?.assignee ? { assignee: userBlock(work, people.assignee) } : {}),
  };
}

function attributesOf(work: Work, subject: NoteableSubject, project: HookProject) {
  if (subject.kind === 'issue') return issueAttributes(subject.row);
  return mergeRequestAttributes(work, subject.row, project);
}

/** Null for those who are gone. */
interface People {
  user: UserSummaryRow | null;
  assignee: UserSummaryRow | null;
}

const findPeople = `select (select ${summaryJson} from users u where u.id = $1) as user,
  (select ${summaryJson} from users u where u.id = $2) as assignee`;

function userBlock({ origin }: Work, user: UserSummaryRow) {
  const { name, username, avatar_url } = presentUserSummary(user, origin);
  return { name, username, avatar_url };
}
