import { createUser } from './actions/create-user.ts';
import { newToken } from './secrets.ts';
import type { Services, Work } from './services.ts';
import { inTransaction, sql, sqlOne } from './sql.ts';

export interface FirstStart {
  /** Asked for only when root does not exist yet. */
  rootPassword(): Promise<string>;
  rootToken: string | null;
  /** Given by the administrator: it replaces the stored one at every start. */
  registrationToken: string | null;
}

/**
 * Makes what an empty database needs: the settings, and root with id 1. Servers that start together take turns.
 *
 * @returns true when this call made root.
 */
export async function bootstrap(services: Services, first: FirstStart): Promise<boolean> {
  return inTransaction({ ...services, origin: services.baseUrl }, async (work) => {
    await sql(work.em, `select pg_advisory_xact_lock(hashtext('hearth bootstrap'))`);
    await ensureSettings(work, first.registrationToken);
    if (await sqlOne(work.em, 'select 1 from users limit 1')) return false;
    await createUser(work, {
      username: 'root',
      name: 'Administrator',
      email: 'admin@example.com',
      password: await first.rootPassword(),
      admin: true,
      projects_limit: 100_000,
      token: first.rootToken ?? newToken(),
    });
    return true;
  });
}

async function ensureSettings(work: Work, given: string | null): Promise<void> {
  const present = await sqlOne(work.em, 'select 1 from settings where id = 1');
  if (present && given === null) return;
  const stored = work.secrets.store(given ?? newToken());
  await sql(
    work.em,
    `insert into settings (id, runners_registration_token_digest, runners_registration_token_sealed)
     values (1, $1, $2) on conflict (id) do update set
       runners_registration_token_digest = excluded.runners_registration_token_digest,
       runners_registration_token_sealed = excluded.runners_registration_token_sealed`,
    [stored.digest, stored.sealed],
  );
}
