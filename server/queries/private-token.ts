import type { EntityManager } from '@mikro-orm/postgresql';
import type { Secrets } from '../secrets.ts';
import { sqlOne } from '../sql.ts';

/** The private token of a user, for showing it to himself. */
export async function privateTokenOf(em: EntityManager, secrets: Secrets, userId: number): Promise<string> {
  const row = await sqlOne<{ private_token_sealed: Buffer }>(
    em,
    'select private_token_sealed from users where id = $1',
    [userId],
  );
  return row ? secrets.open(row.private_token_sealed) : '';
}
