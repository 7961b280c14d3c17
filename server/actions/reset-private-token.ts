import { newToken } from '../secrets.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Gives a user another private token. The one before opens nothing from the next request on. */
export async function resetPrivateToken({ em, secrets }: Work, userId: number): Promise<void> {
  const { digest, sealed } = secrets.store(newToken());
  await sql(
    em,
    'update users set private_token_digest = $2, private_token_sealed = $3, updated_at = now() where id = $1',
    [userId, digest, sealed],
  );
}
