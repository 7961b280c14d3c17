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
 * Gives an issue or merge request somebody's vote.
 *
 * @returns id of the note that keeps it.
 * @throws AppError 404 when the thing is gone; 400 when he gave it this one before.
 */
export async function createAward(work: Work, award: NewAward): Promise<number> {
  const { projectId, authorId, noteable, name, createdAt } = award;
  // Before the note, as everybody does; without the votes, which it need not have.
  await touchParent(work, noteable);
  const values = [projectId, authorId, noteable.type, noteable.id, name, createdAt];
  const row = await sqlOne<{ id: number }>(work.em, insert, values);
  if (!row) throw invalid({ body: ['has already been taken'] });
  if (name === votes.up) await touchParent(work, noteable, { upvotes: 1 });
  if (name === votes.down) await touchParent(work, noteable, { downvotes: 1 });
  return row.id;
}

const insert = `
  insert into notes (project_id, author_id, noteable_type, noteable_id, body, is_award, created_at)
  values ($1, $2, $3, $4, $5, true, coalesce($6::timestamptz, now())) on conflict do nothing returning id`;
