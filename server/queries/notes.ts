import type { EntityManager } from '@mikro-orm/postgresql';
import { votes } from '../policy/award.ts';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import { seesNote } from './note-readers.ts';
import type { NoteableType } from './noteable.ts';
import { summaryJson, type UserSummaryRow } from './user-summary.ts';

/** A comment, by whatever it is about. */
export interface NoteRow {
  id: number;
  project_id: number;
  author_id: number;
  noteable_type: string;
  noteable_id: number | null;
  commit_sha: string | null;
  body: string;
  system: boolean;
  is_award: boolean;
  upvote: boolean;
  downvote: boolean;
  path: string | null;
  line: number | null;
  line_type: 'new' | 'old' | null;
  line_code: string | null;
  updated_by_id: number | null;
  created_at: Date;
  updated_at: Date;
  author: UserSummaryRow;
}

const columns = `c.id, c.project_id, c.author_id, c.noteable_type, c.noteable_id, c.commit_sha, c.body, c.system, c.is_award,
  c.is_award and c.body = '${votes.up}' as upvote, c.is_award and c.body = '${votes.down}' as downvote, c.path,
  c.line, c.line_type, c.line_code, c.updated_by_id, c.created_at, c.updated_at, ${summaryJson} as author`;

const tables = 'notes c join users u on u.id = c.author_id';

/** What was said of a commit, oldest first. */
export function listCommitNotes(projectId: number, sha: string): ListQuery {
  return {
    columns,
    from: `${tables} where c.project_id = $1 and c.commit_sha = $2`,
    order: 'c.id',
    values: [projectId, sha],
    countFrom: 'notes c where c.project_id = $1 and c.commit_sha = $2',
  };
}

/** What people talk about, but for commits. */
export interface NoteParent {
  type: 'Issue' | 'MergeRequest' | 'Snippet';
  id: number;
}

const isOfParent = 'c.noteable_type = $1 and c.noteable_id = $2';

/** What a user may see of what was said and done, oldest first. */
export function listNotes({ type, id }: NoteParent, viewerId: number): ListQuery {
  const condition = `${isOfParent} and ${seesNote('$3')}`;
  return {
    columns,
    from: `${tables} where ${condition}`,
    order: 'c.created_at, c.id',
    values: [type, id, viewerId],
    countFrom: `notes c where ${condition}`,
  };
}

/** Null where the parent has no such note, and where the user may not see it. */
export async function findNoteOf(
  em: EntityManager,
  { type, id }: NoteParent,
  { noteId, viewerId }: { noteId: number; viewerId: number },
): Promise<NoteRow | null> {
  const text = `select ${columns} from ${tables} where ${isOfParent} and ${seesNote('$3')} and c.id = $4`;
  return sqlOne<NoteRow>(em, text, [type, id, viewerId, noteId]);
}

/** What people said of an issue or merge request, oldest first. */
export function listComments({ type, id }: { type: NoteableType; id: number }): ListQuery {
  const where = 'c.noteable_id = $1 and c.noteable_type = $2 and not c.system';
  return {
    columns,
    from: `${tables} where ${where}`,
    order: 'c.id',
    values: [id, type],
    countFrom: `notes c where ${where}`,
  };
}

export async function findNote(em: EntityManager, id: number): Promise<NoteRow | null> {
  return sqlOne<NoteRow>(em, `select ${columns} from ${tables} where c.id = $1`, [id]);
}
