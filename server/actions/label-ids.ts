import { conflict, invalidParts } from '../errors.ts';
import { labelTitle, labelTitleFaults, usualLabelColor } from '../policy/label-names.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/**
 * Labels of a project by their titles; those that it lacks are made. They stay until the transaction ends, whoever
 * wants to remove them meanwhile. Takes locks of labels alone, so hold what the labels are for before.
 *
 * @returns their ids in ascending order, each once.
 * @throws AppError 400 `labels: {"<title>": {title: [...]}}` with nothing written when a title cannot be, 404 when the
 * project is gone, 409 when others remove the labels as fast as they are made.
 */
export async function labelIds(work: Work, projectId: number, titles: readonly string[]): Promise<number[]> {
  const wanted = [...new Set(readTitles(titles))].sort();
  if (wanted.length === 0) return [];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const found = await sql<{ id: number; title: string }>(work.em, hold, [projectId, wanted]);
    if (found.length === wanted.length) return found.map(({ id }) => id).sort((a, b) => a - b);
    const known = new Set(found.map(({ title }) => title));
    const missing = wanted.filter((title) => !known.has(title));
    await sql(work.em, make, [projectId, missing, usualLabelColor]);
  }
  throw conflict();
}

/** Each but the first is for a label that somebody made and somebody removed between two statements. */
const attempts = 5;

// In one order, so that two requests never wait for each other.
const hold = `select id, title from labels where project_id = $1 and title = any($2::text[]) order by title collate "C"
  for key share`;
const make = `insert into labels (project_id, title, color)
  select $1, title, $3 from unnest($2::text[]) as title order by title collate "C" on conflict do nothing`;

/** @throws AppError 400 as `labelIds` does. */
export function readTitles(given: readonly string[]): string[] {
  const titles = given.map(labelTitle);
  const faults = given.flatMap((text, index) => {
    const title = labelTitleFaults(titles[index] ?? '');
    return title.length > 0 ? [[text, { title }] as const] : [];
  });
  if (faults.length > 0) throw invalidParts('labels', Object.fromEntries(faults));
  return titles;
}
