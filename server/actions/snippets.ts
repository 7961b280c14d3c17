import { visibilityLevels } from '../../shared/access-level.ts';
import { Settings } from '../entities/settings.ts';
import { invalid } from '../errors.ts';
import { snippetFaults } from '../policy/snippet.ts';
import { openLevelUpTo, requireOpenLevel } from '../policy/visibility.ts';
import type { SnippetRow } from '../queries/snippets.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { forgetActivity } from './forget-activity.ts';

export interface NewSnippet {
  title: string;
  fileName: string;
  content: string;
  /** That of the instance where nothing is said. */
  visibilityLevel?: number | undefined;
}

/**
 * Keeps a snippet of the viewer.
 *
 * @param place project that it is in; null: a personal one.
 * @returns its id.
 * @throws AppError 400 with the faults, also for a level that the administrator keeps from others.
 */
export async function createSnippet(
  { em }: Work,
  { viewer, projectId }: { viewer: Viewer; projectId: number | null },
  given: NewSnippet,
): Promise<number> {
  const { title, fileName } = readWords(given);
  const settings = await em.findOneOrFail(Settings, { id: 1 });
  const { visibilityLevel } = given;
  if (visibilityLevel !== undefined) requireOpenLevel(visibilityLevel, { viewer, settings });
  const level = visibilityLevel ?? openLevelUpTo(settings.defaultSnippetVisibility, { viewer, settings });
  const row = await sqlOne<{ id: number }>(
    em,
    `insert into snippets (project_id, author_id, title, file_name, content, visibility_level)
     values ($1, $2, $3, $4, $5, $6) returning id`,
    [projectId, viewer.id, title, fileName, given.content, level],
  );
  if (!row) throw new Error('no snippet was made');
  return row.id;
}

/**
 * Changes what is given and leaves the rest. A level that the administrator keeps from others since may stay.
 *
 * @throws AppError 400 as `createSnippet` does.
 */
export async function updateSnippet(
  work: Work,
  { viewer, row }: { viewer: Viewer; row: SnippetRow },
  change: Partial<NewSnippet>,
): Promise<void> {
  const { em } = work;
  const { title, fileName } = readWords(change);
  const { content, visibilityLevel } = change;
  if (visibilityLevel !== undefined && visibilityLevel !== row.visibility_level) {
    requireOpenLevel(visibilityLevel, { viewer, settings: await em.findOneOrFail(Settings, { id: 1 }) });
  }
  const given = [title, fileName, content, visibilityLevel];
  if (given.every((value) => value === undefined)) return;
  await sql(
    em,
    `update snippets set title = coalesce($2, title), file_name = coalesce($3, file_name),
       content = coalesce($4, content), visibility_level = coalesce($5, visibility_level), updated_at = now()
     where id = $1`,
    [row.id, ...given],
  );
  if (visibilityLevel === visibilityLevels.private)
    await forgetActivity(work, { type: 'Snippet', id: row.id });
}

/** Removes a snippet with all that was said of it. */
export async function removeSnippet({ em }: Work, id: number): Promise<void> {
  await sql(em, 'delete from snippets where id = $1', [id]);
  // In a statement of its own: whoever was adding to them held the snippet, and is through.
  await sql(em, `delete from notes where noteable_type = 'Snippet' and noteable_id = $1`, [id]);
}

function readWords(given: Partial<NewSnippet>): { title: string | undefined; fileName: string | undefined } {
  const words = { title: given.title?.trim(), fileName: given.fileName?.trim() };
  const faults = snippetFaults(words);
  if (Object.keys(faults).length > 0) throw invalid(faults);
  return words;
}
