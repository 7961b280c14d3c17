import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildVariable } from '../../shared/protocol/build.ts';
import type { Secrets } from '../secrets.ts';
import { sql, sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';

export interface CiVariableRow {
  id: number;
  key: string;
  value_sealed: Buffer;
}

/** Variables of a project, in the order they were made. */
export function listCiVariables(projectId: number): ListQuery {
  return {
    columns: 'v.id, v.key, v.value_sealed',
    from: 'ci_variables v where v.project_id = $1',
    order: 'v.id',
    values: [projectId],
  };
}

export async function findCiVariable(
  em: EntityManager,
  projectId: number,
  key: string,
): Promise<CiVariableRow | null> {
  return sqlOne<CiVariableRow>(
    em,
    'select id, key, value_sealed from ci_variables where project_id = $1 and key = $2',
    [projectId, key],
  );
}

export interface SecretSource {
  project_id: number;
  trigger_variables_sealed: Buffer | null;
}

/** What a build gets beside its file: the variables of its project, then those of its trigger. None is public. */
export async function secretVariables(
  em: EntityManager,
  secrets: Secrets,
  { project_id, trigger_variables_sealed }: SecretSource,
): Promise<{ project: BuildVariable[]; trigger: BuildVariable[] }> {
  const rows = await sql<CiVariableRow>(
    em,
    'select id, key, value_sealed from ci_variables where project_id = $1 order by id',
    [project_id],
  );
  const project = rows.map((row) => ({ key: row.key, value: secrets.open(row.value_sealed), public: false }));
  const given: Record<string, string> = trigger_variables_sealed
    ? JSON.parse(secrets.open(trigger_variables_sealed))
    : {};
  const trigger = Object.entries(given).map(([key, value]) => ({ key, value, public: false }));
  return { project, trigger };
}
