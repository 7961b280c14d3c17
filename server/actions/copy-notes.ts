import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { rewriteTexts, type TextOrigin } from './rewrite-texts.ts';

/** Notes that are held in memory at once. */
const batch = 100;

export interface NotesCopy {
  from: TextOrigin;
  toProjectId: number;
  /** Ids of issues; the second one need not be there yet. */
  issueId: number;
  newIssueId: number;
}

/**
 * Says of another issue all that was said of one, in its order, with authors and dates. Nobody is told.
 *
 * @param work inside a transaction that holds the old issue.
 */
export async function copyNotes(work: Work, copy: NotesCopy): Promise<void> {
  for (let after = 0; ; ) {
    const notes = await sql<{ id: number; body: string }>(work.em, read, [copy.issueId, after, batch]);
    const last = notes.at(-1);
    if (!last) return;
    const bodies = await rewriteTexts(
      work,
      copy.from,
      notes.map(({ body }) => body),
    );
    const ids = notes.map(({ id }) => id);
    await sql(work.em, write, [copy.toProjectId, copy.newIssueId, ids, bodies]);
    after = last.id;
  }
}

const read = `select id, body from notes where noteable_type = 'Issue' and noteable_id = $1 and id > $2
  order by id limit $3`;
const write = `
  insert into notes (project_id, author_id, noteable_type, noteable_id, body, system, is_award, reference_type,
    reference_project_id, reference_id, reference_sha, updated_by_id, created_at, updated_at)
  select $1, n.author_id, n.noteable_type, $2, given.body, n.system, n.is_award, n.reference_type,
    n.reference_project_id, n.reference_id, n.reference_sha, n.updated_by_id, n.created_at, n.updated_at
  from unnest($3::int[], $4::text[]) as given (id, body) join notes n on n.id = given.id order by n.id`;

/** Has the copies name the users that the notes name. Nothing may have been said of the new issue besides. */
export async function copyMentions({ em }: Work, { issueId, newIssueId }: NotesCopy): Promise<void> {
  await sql(em, mention, [issueId, newIssueId]);
}

const numbered = (issue: string) => `select id, row_number() over (order by id) as number from notes
  where noteable_type = 'Issue' and noteable_id = ${issue}`;
const mention = `
  insert into mentions (user_id, issue_id, note_id)
  select m.user_id, $2, copy.id from mentions m
    join (${numbered('$1')}) note on note.id = m.note_id
    join (${numbered('$2')}) copy using (number)
  where m.issue_id = $1 order by m.id`;
