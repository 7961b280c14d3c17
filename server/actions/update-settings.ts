import { Settings } from '../entities/settings.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** What an administrator may change, as the columns are called; the token is given open. */
export type SettingsChange = Partial<
  Omit<
    Settings,
    'id' | 'createdAt' | 'updatedAt' | 'runnersRegistrationTokenDigest' | 'runnersRegistrationTokenSealed'
  >
> & { runnersRegistrationToken?: string | undefined };

/** Changes what is given and leaves the rest. Two changes of different settings do not undo each other. */
export async function updateSettings(work: Work, change: SettingsChange): Promise<void> {
  const { em } = work;
  const { runnersRegistrationToken: token, ...columns } = change;
  const settings = await em.findOneOrFail(Settings, { id: 1 });
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  em.assign(settings, Object.fromEntries(given));
  if (token !== undefined) {
    const stored = work.secrets.store(token);
    settings.runnersRegistrationTokenDigest = stored.digest;
    settings.runnersRegistrationTokenSealed = stored.sealed;
  }
  await em.flush();
  await sql(em, 'update settings set updated_at = now() where id = 1');
}
