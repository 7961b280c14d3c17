import { z } from 'zod';
import type { KeyRow } from '../queries/ssh-keys.ts';
import type { UserRow } from '../queries/user-row.ts';
import { presentTime, Timestamp } from './timestamp.ts';
import { presentUserFull, UserFullJson } from './user.ts';

/** Interface: "SSH key"; the same for deploy keys. */
export const SshKeyJson = z.strictObject({
  id: z.number(),
  title: z.string(),
  key: z.string(),
  created_at: Timestamp,
});

/** For administrators: whose key it is; null for a deploy key. */
export const SshKeyWithUserJson = z.strictObject({ ...SshKeyJson.shape, user: UserFullJson.nullable() });

/** What the removal of a key answers. */
export const RemovedKeyJson = z.strictObject({
  ...SshKeyJson.shape,
  user_id: z.number().nullable(),
  fingerprint: z.string(),
  type: z.enum(['DeployKey']).nullable(),
  public: z.boolean(),
  updated_at: Timestamp,
});

export function presentSshKey(row: KeyRow): z.infer<typeof SshKeyJson> {
  return { id: row.id, title: row.title, key: row.key, created_at: presentTime(row.created_at) };
}

export function presentSshKeyWithUser(
  row: KeyRow,
  user: UserRow | null,
  origin: string,
): z.infer<typeof SshKeyWithUserJson> {
  return { ...presentSshKey(row), user: user && presentUserFull(user, origin) };
}

export function presentRemovedKey(row: KeyRow): z.infer<typeof RemovedKeyJson> {
  return {
    ...presentSshKey(row),
    user_id: row.user_id,
    fingerprint: row.fingerprint,
    type: row.user_id === null ? 'DeployKey' : null,
    public: row.public,
    updated_at: presentTime(row.updated_at),
  };
}
