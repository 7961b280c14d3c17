import { type NoteableType, noteables } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

export interface LabelChange {
  /** Ids in ascending order. */
  added: number[];
  removed: number[];
}

/**
 * Gives an issue or merge request these labels and no others. Its row must be held, or be new, and the labels too, as
 * `labelIds` leaves them.
 */
export async function setLabels(
  { em }: Work,
  { type, id }: { type: NoteableType; id: number },
  labelIds: readonly number[],
): Promise<LabelChange> {
  const change = await sqlOne<LabelChange>(em, statements[type], [id, labelIds]);
  return change ?? { added: [], removed: [] };
}

function statementFor(type: NoteableType): string {
  const { column, labels } = noteables[type];
  return `
    with gone as (
      delete from ${labels} where ${column} = $1 and label_id <> all($2::int[]) returning label_id
    ), made as (
      insert into ${labels} (${column}, label_id) select $1, label_id from unnest($2::int[]) as label_id
      on conflict do nothing returning label_id
    )
    select array(select label_id from made order by label_id) as added,
      array(select label_id from gone order by label_id) as removed`;
}

const statements = { Issue: statementFor('Issue'), MergeRequest: statementFor('MergeRequest') };
