import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import type { NoteableType } from './noteable.ts';
import { summaryJson, type UserSummaryRow } from './user-summary.ts';

/** A comment, by whatever it is about. */
export interface NoteRow {
  id: number;
  project_id: number;
  noteable_type: string;
  noteable_id: number | null;
  commit_sha: string | null;
  body: string;
  system: boolean;
  is_award: boolean;
  path: string | null;
  line: number | null;
  line_type: 'new' | 'old' | null;
  line_code: string | null;
  updated_by_id: number | null;
  created_at: Date;
  updated_at: Date;
  author: UserSummaryRow;
}

const columns = `c.id, c.project_id, c.noteable_type, c.noteable_id, c.commit_sha, c.body, c.system, c.is_award, c.path,
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
