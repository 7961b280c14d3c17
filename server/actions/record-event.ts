import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

export interface NewEvent {
  projectId: number;
  authorId: number | null;
  /** As stored: `created`, `imported`, `joined`, `left`, `opened`, `closed`, `accepted`, `commented on`, `destroyed`. */
  action: string;
  targetType?: string;
  targetId?: number;
  targetTitle?: string;
  /** The comment that it tells of. */
  noteId?: number;
}

/** Adds a line to the activity of a project, which counts as activity at most once a minute. */
export async function recordEvent({ em }: Pick<Work, 'em'>, event: NewEvent): Promise<void> {
  const { projectId, authorId, action } = event;
  const { targetType = null, targetId = null, targetTitle = null, noteId = null } = event;
  await sql(
    em,
    `insert into events (project_id, author_id, action, target_type, target_id, target_title, note_id)
     values ($1, $2, $3, $4, $5, left($6, 255), $7)`,
    [projectId, authorId, action, targetType, targetId, targetTitle, noteId],
  );
  await touchProject({ em }, projectId);
}

/** Notes that something happened in a project. */
export async function touchProject({ em }: Pick<Work, 'em'>, projectId: number): Promise<void> {
  await sql(
    em,
    `update projects set last_activity_at = now()
     where id = $1 and last_activity_at < now() - interval '1 minute'`,
    [projectId],
  );
}
