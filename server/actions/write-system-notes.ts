import { type NoteableType, noteables } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import type { ReferenceSource } from './note-references.ts';

export interface SystemNotes {
  /** Of the thing's project. */
  projectId: number;
  /** Whoever did what they tell of. */
  authorId: number;
  noteable: { type: NoteableType; id: number };
  /** In their order. */
  bodies: readonly string[];
  /** What they tell of besides the thing: only who may see that as well sees them. */
  reference?: ReferenceSource | null;
}

/**
 * Tells in an issue or merge request what was done to it. Nobody is mailed about that, no hook hears of it, and the
 * project's activity says nothing. The thing counts as changed; somebody who is changing it meanwhile sees to that
 * himself and is not waited for, so that two things that are named in each other do not wait for each other.
 */
export async function writeSystemNotes({ em }: Work, notes: SystemNotes): Promise<void> {
  const { projectId, authorId, noteable, bodies, reference = null } = notes;
  if (bodies.length === 0) return;
  const values = [projectId, authorId, noteable.id, bodies, ...columnsOf(reference)];
  await sql(em, writes[noteable.type], values);
}

function columnsOf(reference: ReferenceSource | null): (string | number | null)[] {
  if (!reference) return [null, null, null, null];
  const { type, projectId } = reference;
  return type === 'Commit' ? [type, projectId, null, reference.sha] : [type, projectId, reference.id, null];
}

function writeOf(type: NoteableType): string {
  const { table } = noteables[type];
  return `
    with touched as (
      update ${table} set updated_at = now()
      where id in (select id from ${table} where id = $3 for no key update skip locked)
    )
    insert into notes (project_id, author_id, noteable_type, noteable_id, body, system, reference_type,
      reference_project_id, reference_id, reference_sha)
    select $1, $2, '${type}', $3, body, true, $5::text, $6::int, $7::int, $8::text
    from unnest($4::text[]) with ordinality as given(body, number)
    order by number`;
}

const writes = { Issue: writeOf('Issue'), MergeRequest: writeOf('MergeRequest') };
