import type { EntityManager } from '@mikro-orm/postgresql';
import type { Secrets } from '../secrets.ts';
import { sqlOne } from '../sql.ts';

/** The token with which runners for all projects are registered. */
export async function registrationToken(em: EntityManager, secrets: Secrets): Promise<string> {
  const row = await sqlOne<{ runners_registration_token_sealed: Buffer }>(
    em,
    'select runners_registration_token_sealed from settings where id = 1',
  );
  return row ? secrets.open(row.runners_registration_token_sealed) : '';
}
