import { type NoteableType, noteables } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

export interface SystemNotes {
  /** Of the thing's project. */
  projectId: number;
  /** Whoever did what they tell of. */
  authorId: number;
  noteable: { type: NoteableType; id: number };
  /** In their order. */
  bodies: readonly string[];
}

/**
 * Tells in an issue or merge request what was done to it. Nobody is mailed about that, no hook hears of it, and the
 * project's activity says nothing. The thing counts as changed; somebody who is changing it meanwhile sees to that
 * himself and is not waited for, so that two things that are named in each other do not wait for each other.
 */
export async function writeSystemNotes({ em }: Work, notes: SystemNotes): Promise<void> {
  const { projectId, authorId, noteable, bodies } = notes;
  if (bodies.length === 0) return;
  await sql(em, writes[noteable.type], [projectId, authorId, noteable.id, bodies]);
}

function writeOf(type: NoteableType): string {
  const { table } = noteables[type];
  return `
    with touched as (
      update ${table} set updated_at = now()
      where id in (select id from ${table} where id = $3 for no key update skip locked)
    )
    insert into notes (project_id, author_id, noteable_type, noteable_id, body, system)
    select $1, $2, '${type}', $3, body, true from unnest($4::text[]) with ordinality as given(body, number)
    order by number`;
}

const writes = { Issue: writeOf('Issue'), MergeRequest: writeOf('MergeRequest') };
