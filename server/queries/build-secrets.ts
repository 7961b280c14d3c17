import type { EntityManager } from '@mikro-orm/postgresql';
import type { Secrets } from '../secrets.ts';
import { sqlOne } from '../sql.ts';

/** Texts that must never be read in the trace of a build. */
export async function secretsOfBuild(
  em: EntityManager,
  secrets: Secrets,
  buildId: number,
): Promise<string[]> {
  const row = await sqlOne<{ runners_token_sealed: Buffer }>(
    em,
    'select p.runners_token_sealed from builds b join projects p on p.id = b.project_id where b.id = $1',
    [buildId],
  );
  const tokens = [secrets.buildToken(buildId)];
  return row ? [...tokens, secrets.open(row.runners_token_sealed)] : tokens;
}
