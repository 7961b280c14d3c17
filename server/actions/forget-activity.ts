import type { NoteParent } from '../queries/notes.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Takes out of a project's activity what it tells of a thing, and of what was said of that: it is nobody's business now. */
export async function forgetActivity({ em }: Pick<Work, 'em'>, { type, id }: NoteParent): Promise<void> {
  await sql(
    em,
    `delete from events where id in (
       select id from events where target_id = $2 and target_type = $1
       union all select e.id from notes n join events e on e.note_id = n.id
         where n.noteable_type = $1 and n.noteable_id = $2)`,
    [type, id],
  );
}
