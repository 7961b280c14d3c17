import { invalid } from '../errors.ts';
import { votes } from '../policy/award.ts';
import type { NoteParent } from '../queries/notes.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { touchParent } from './touch-parent.ts';

interface NewAward {
  projectId: number;
  authorId: number;
  noteable: NoteParent;
  /** Of the picture. */
  name: string;
  createdAt: Date | undefined;
}

/**
 * Gives an issue or merge request somebody's vote, which is one of its comments as well.
 *
 * @param work in a transaction, of which this is the beginning.
 * @returns id of the note that keeps it.
 * @throws AppError 404 when the thing is gone; 400 when he gave it this one before.
 */
export async function createAward(work: Work, award: NewAward): Promise<number> {
  const { projectId, authorId, noteable, name, createdAt } = award;
  const votesFor = { upvotes: Number(name === votes.up), downvotes: Number(name === votes.down) };
  await touchParent(work, noteable, { comments: 1, ...votesFor });
  const values = [projectId, authorId, noteable.type, noteable.id, name, createdAt];
  const row = await sqlOne<{ id: number }>(work.em, insert, values);
  if (!row) throw invalid({ body: ['has already been taken'] });
  return row.id;
}

const insert = `
  insert into notes (project_id, author_id, noteable_type, noteable_id, body, is_award, created_at)
  values ($1, $2, $3, $4, $5, true, coalesce($6::timestamptz, now())) on conflict do nothing returning id`;
