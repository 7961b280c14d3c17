import { CiVariable } from '../entities/ci-variable.ts';
import { invalid } from '../errors.ts';
import type { CiVariableRow } from '../queries/ci-variables.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/**
 * Gives a project a variable.
 *
 * @throws AppError 400 for a key that is no name, is too long or is taken.
 */
export async function addCiVariable(
  work: Work,
  projectId: number,
  { key, value }: { key: string; value: string },
): Promise<void> {
  const faults = keyFaults(key);
  if (faults.length > 0) throw invalid({ key: faults });
  const valueSealed = work.secrets.seal(value);
  await work.em.insert(CiVariable, { project: projectId, key, valueSealed });
}

export async function changeCiVariable(work: Work, row: CiVariableRow, value: string): Promise<void> {
  await keepFormerValue(work, row);
  await sql(work.em, 'update ci_variables set value_sealed = $2, updated_at = now() where id = $1', [
    row.id,
    work.secrets.seal(value),
  ]);
}

export async function removeCiVariable(work: Work, row: CiVariableRow): Promise<void> {
  await keepFormerValue(work, row);
  await sql(work.em, 'delete from ci_variables where id = $1', [row.id]);
}

/** Its readers go on being kept from it in the traces of builds that had it: it may still be good elsewhere. */
async function keepFormerValue({ em }: Work, { id }: CiVariableRow): Promise<void> {
  await sql(
    em,
    `insert into former_values (project_id, value_sealed, began_at)
     select project_id, value_sealed, updated_at from ci_variables where id = $1 for update`,
    [id],
  );
}

function keyFaults(key: string): string[] {
  if (key.length > 255) return ['is too long (maximum is 255 characters)'];
  return /^[A-Za-z0-9_]+$/.test(key) ? [] : ["can contain only letters, digits and '_'."];
}
