import type { EntityManager } from '@mikro-orm/postgresql';
import type { BuildVariable } from '../../shared/protocol/build.ts';
import type { Secrets } from '../secrets.ts';
import { sqlOne } from '../sql.ts';
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

/** What a build gets beside its file, as it is stored. */
export interface SealedVariables {
  /** Of the project, in the order they were made; as `sealedVariables` gives them. */
  variables: { key: string; value_sealed: string }[];
  trigger_variables_sealed: Buffer | null;
}

/** One value with the variables of a project, for `SealedVariables`. */
export function sealedVariables(projectId: string): string {
  return `coalesce((select json_agg(json_build_object('key', v.key, 'value_sealed', encode(v.value_sealed, 'base64'))
    order by v.id) from ci_variables v where v.project_id = ${projectId}), '[]')`;
}

/** The variables of a build's project, then those of its trigger. None is public. */
export function openVariables(
  secrets: Secrets,
  { variables, trigger_variables_sealed }: SealedVariables,
): { project: BuildVariable[]; trigger: BuildVariable[] } {
  const secret = (key: string, value: string) => ({ key, value, public: false });
  const given: Record<string, string> = trigger_variables_sealed
    ? JSON.parse(secrets.open(trigger_variables_sealed))
    : {};
  return {
    project: variables.map((row) => secret(row.key, secrets.open(Buffer.from(row.value_sealed, 'base64')))),
    trigger: Object.entries(given).map(([key, value]) => secret(key, value)),
  };
}
