import { invalid } from '../errors.ts';
import { labelColorFaults, labelTitle, labelTitleFaults } from '../policy/label-names.ts';
import { type StoredLabelRow, storedLabelColumns } from '../queries/labels.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

export interface NewLabel {
  title: string;
  color: string;
  description?: string | undefined;
}

/**
 * Gives a project a label.
 *
 * @returns null, with nothing changed, when it has one of this title.
 * @throws AppError 400 for a title or color that cannot be.
 */
export async function createLabel(
  { em }: Work,
  projectId: number,
  given: NewLabel,
): Promise<StoredLabelRow | null> {
  const { title, color } = read(given);
  return sqlOne<StoredLabelRow>(
    em,
    `insert into labels as l (project_id, title, color, description) values ($1, $2, $3, $4)
     on conflict on constraint labels_project_id_title_key do nothing returning ${storedLabelColumns}`,
    [projectId, title, color, given.description],
  );
}

/**
 * Changes what is given and leaves the rest. Whatever has the label has it under the new title.
 *
 * @param title of now.
 * @returns null when the project has no such label.
 * @throws AppError 400 for a title or color that cannot be; a title that another label has is refused by its constraint.
 */
export async function updateLabel(
  { em }: Work,
  { projectId, title }: { projectId: number; title: string },
  change: Partial<NewLabel>,
): Promise<StoredLabelRow | null> {
  const next = read(change);
  return sqlOne<StoredLabelRow>(
    em,
    `update labels l set title = coalesce($3, title), color = coalesce($4, color),
       description = coalesce($5, description), updated_at = now()
     where l.project_id = $1 and l.title = $2 returning ${storedLabelColumns}`,
    [projectId, labelTitle(title), next.title, next.color, change.description],
  );
}

/**
 * Takes a label from its project and from all that has it.
 *
 * @returns what it was, or null when the project has no such label.
 */
export async function removeLabel(
  { em }: Work,
  { projectId, title }: { projectId: number; title: string },
): Promise<StoredLabelRow | null> {
  return sqlOne<StoredLabelRow>(
    em,
    `delete from labels l where l.project_id = $1 and l.title = $2 returning ${storedLabelColumns}`,
    [projectId, labelTitle(title)],
  );
}

/** The given parts as they are stored. */
function read<T extends { title?: string | undefined; color?: string | undefined }>(given: T) {
  const title = given.title === undefined ? undefined : labelTitle(given.title);
  const color = given.color?.trim();
  const faults = {
    title: title === undefined ? [] : labelTitleFaults(title),
    color: color === undefined ? [] : labelColorFaults(color),
  };
  const wrong = Object.entries(faults).filter(([, texts]) => texts.length > 0);
  if (wrong.length > 0) throw invalid(Object.fromEntries(wrong));
  return { title, color };
}
