import type { UserAttributes } from '../policy/user-attributes.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Notes who a user is at a provider, in place of what was noted of that one. Half of it says nothing. */
export async function storeIdentity(
  { em }: Work,
  userId: number,
  { provider, extern_uid: externUid }: Pick<UserAttributes, 'provider' | 'extern_uid'>,
): Promise<void> {
  if (provider === undefined || externUid === undefined) return;
  await sql(
    em,
    `insert into identities (user_id, provider, extern_uid) values ($1, $2, $3)
     on conflict (user_id, provider) do update set extern_uid = excluded.extern_uid`,
    [userId, provider, externUid],
  );
}
