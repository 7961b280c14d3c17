import type { EntityManager } from '@mikro-orm/postgresql';
import { tokenNeedles, valueNeedles } from '../../shared/secret-forms.ts';
import type { Secrets } from '../secrets.ts';
import { sqlOne } from '../sql.ts';
import { openVariables, type SealedVariables, sealedVariables } from './ci-variables.ts';

interface SecretsRow extends SealedVariables {
  runners_token_sealed: Buffer;
}

/** Texts that must never be read in the trace of a build: tokens and secret variables, in every form they take. */
export async function secretsOfBuild(
  em: EntityManager,
  secrets: Secrets,
  buildId: number,
): Promise<string[]> {
  const row = await sqlOne<SecretsRow>(
    em,
    `select p.runners_token_sealed, pl.trigger_variables_sealed, ${sealedVariables('p.id')} as variables
     from builds b join projects p on p.id = b.project_id join pipelines pl on pl.id = b.pipeline_id
     where b.id = $1`,
    [buildId],
  );
  const own = tokenNeedles(secrets.buildToken(buildId));
  if (!row) return own;
  const { project, trigger } = openVariables(secrets, row);
  const values = [...project, ...trigger].flatMap(({ value }) => valueNeedles(value));
  return [...own, ...tokenNeedles(secrets.open(row.runners_token_sealed)), ...values];
}
