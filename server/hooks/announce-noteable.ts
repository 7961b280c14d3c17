import { tellOfNoteable, wakeHooks } from '../queries/hook-tasks.ts';
import { type NoteableType, noteables } from '../queries/noteable.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

export interface NoteableNews {
  type: NoteableType;
  id: number;
  action: 'open' | 'close' | 'reopen' | 'update' | 'merge';
  userId: number;
}

/** Tells the project's hooks what was done to an issue or merge request, which they hear of as it is now. */
export async function announceNoteable(
  { em }: Work,
  { type, id, action, userId }: NoteableNews,
): Promise<void> {
  await sql(em, statements[type], [id, action, userId]);
}

function statementFor(type: NoteableType): string {
  return `with changed as (select * from ${noteables[type].table} where id = $1), ${tellOfNoteable('changed', type)}
    select ${wakeHooks} as woken`;
}

const statements = { Issue: statementFor('Issue'), MergeRequest: statementFor('MergeRequest') };
