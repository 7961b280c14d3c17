import type { EntityManager } from '@mikro-orm/postgresql';
import { tokenForms, valueForms } from '../../shared/secret-forms.ts';
import type { Secrets } from '../secrets.ts';
import { sql, sqlOne } from '../sql.ts';
import { openVariables, type SealedVariables, sealedVariables } from './ci-variables.ts';

interface SecretsRow extends SealedVariables {
  project_id: number;
  started_at: Date | null;
  runners_token_sealed: Buffer;
  /** Null when the runner is gone. */
  runner_token_sealed: Buffer | null;
}

/** Texts that must never be read in the trace of a build: tokens and secret variables, in every form they take. */
export async function secretsOfBuild(
  em: EntityManager,
  secrets: Secrets,
  buildId: number,
): Promise<string[]> {
  const row = await sqlOne<SecretsRow>(
    em,
    `select b.project_id, b.started_at, p.runners_token_sealed, r.token_sealed as runner_token_sealed,
       pl.trigger_variables_sealed, ${sealedVariables('p.id')} as variables
     from builds b left join runners r on r.id = b.runner_id join projects p on p.id = b.project_id join pipelines pl on pl.id = b.pipeline_id
     where b.id = $1`,
    [buildId],
  );
  const own = tokenForms(secrets.buildToken(buildId));
  if (!row) return own;
  const { project, trigger } = openVariables(secrets, row);
  const values = [...project, ...trigger].map(({ value }) => value);
  const former = (await formerValues(em, row)).map((sealed) => secrets.open(sealed));
  return [
    ...own,
    ...tokenForms(secrets.open(row.runners_token_sealed)),
    ...(row.runner_token_sealed ? tokenForms(secrets.open(row.runner_token_sealed)) : []),
    ...[...values, ...former].flatMap(valueForms),
  ];
}

/** What changes while a build is handed out may have reached it or not. */
const around = `interval '1 minute'`;

/** Values of variables that were changed or removed since, and that the build may have had. */
async function formerValues(em: EntityManager, row: SecretsRow): Promise<Buffer[]> {
  if (row.started_at === null) return [];
  const rows = await sql<{ value_sealed: Buffer }>(
    em,
    `select value_sealed from former_values
     where project_id = $1 and ended_at > $2::timestamptz - ${around} and began_at < $2::timestamptz + ${around}
     order by id`,
    [row.project_id, row.started_at],
  );
  return rows.map(({ value_sealed }) => value_sealed);
}
