import { Settings } from '../entities/settings.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { given } from './given.ts';

/** What an administrator may change, as the columns are called; the token is given open. */
export type SettingsChange = Partial<
  Omit<
    Settings,
    'id' | 'createdAt' | 'updatedAt' | 'runnersRegistrationTokenDigest' | 'runnersRegistrationTokenSealed'
  >
> & { runnersRegistrationToken?: string | undefined };

/** Changes what is given and leaves the rest. */
export async function updateSettings(work: Work, change: SettingsChange): Promise<void> {
  const { em } = work;
  const { runnersRegistrationToken: token, ...columns } = change;
  const stored = token === undefined ? null : work.secrets.store(token);
  const ofToken = {
    runnersRegistrationTokenDigest: stored?.digest,
    runnersRegistrationTokenSealed: stored?.sealed,
  };
  await em.nativeUpdate(Settings, { id: 1 }, given({ ...columns, ...ofToken }));
  await sql(em, 'update settings set updated_at = now() where id = 1');
}
