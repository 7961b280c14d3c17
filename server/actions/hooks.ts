import { readWebAddress } from '../policy/public-address.ts';
import { type HookOwner, type HookRow, hookColumns } from '../queries/hooks.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

const flags = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'merge_requests_events',
  'note_events',
  'build_events',
  'enable_ssl_verification',
] as const;

export type HookFlags = { [F in (typeof flags)[number]]?: boolean | undefined };

/** An address as it is kept: what it is called by, and apart from that who we are to it. */
export interface HookAddress {
  url: string;
  /** `user:password`. */
  credentials: string | null;
}

export interface HookAttributes {
  address: HookAddress;
  /** What the receiver knows us by. Blank takes it away. */
  token?: string | undefined;
  flags: HookFlags;
}

/** Longest address that is kept. */
const longest = 2048;

/** @returns null for what no message can be sent to. */
export function readHookAddress(text: string): HookAddress | null {
  const trimmed = text.trim();
  const found = readWebAddress(trimmed);
  if (!found) return null;
  const url = found.credentials === null ? trimmed : found.url.href;
  return url.length <= longest ? { url, credentials: found.credentials } : null;
}

export async function createHook(work: Work, owner: HookOwner, given: HookAttributes): Promise<HookRow> {
  const { address, token } = given;
  const row = await sqlOne<HookRow>(
    work.em,
    `insert into hooks (project_id, url, credentials_sealed, token_sealed, ${flags.join(', ')})
     values ($1, $2, $3, $4, coalesce($5::boolean, true), ${places(6, 'false')}, coalesce($11::boolean, true))
     returning ${hookColumns}`,
    [owner, address.url, seal(work, address.credentials), seal(work, token), ...flagValues(given)],
  );
  if (!row) throw new Error('no hook was made');
  return row;
}

/**
 * What is not given stays as it is. An address that comes back as it is shown keeps its user and password.
 *
 * @returns null when there is none any more.
 */
export async function updateHook(work: Work, id: number, given: HookAttributes): Promise<HookRow | null> {
  const { address, token } = given;
  const changes = flags.map((flag, index) => `${flag} = coalesce($${index + 6}::boolean, ${flag})`);
  const changed = await sqlOne<HookRow>(
    work.em,
    `update hooks set url = $2::text, updated_at = now(), paused_until = null, ${changes.join(', ')},
       credentials_sealed = case when $3::bytea is null and url = $2::text then credentials_sealed else $3 end,
       token_sealed = case when $5 then $4 else token_sealed end
     where id = $1 returning ${hookColumns}`,
    [
      id,
      address.url,
      seal(work, address.credentials),
      seal(work, token),
      token !== undefined,
      ...flagValues(given),
    ],
  );
  // What waits for it may arrive now.
  if (changed) await work.queue.add(work.em, 'deliver_hook', { hookId: id }, { queueName: `hook:${id}` });
  return changed;
}

/** What waits to be sent to it goes too. @returns null when there is none. */
export async function removeHook(work: Work, owner: HookOwner, id: number): Promise<HookRow | null> {
  return sqlOne<HookRow>(
    work.em,
    `delete from hooks where id = $1 and project_id is not distinct from $2 returning ${hookColumns}`,
    [id, owner],
  );
}

function flagValues({ flags: given }: HookAttributes): (boolean | null)[] {
  return flags.map((flag) => given[flag] ?? null);
}

/** Five values from `$first` on, each with this where it is null. */
function places(first: number, standard: string): string {
  return [0, 1, 2, 3, 4].map((index) => `coalesce($${first + index}::boolean, ${standard})`).join(', ');
}

function seal({ secrets }: Work, text: string | null | undefined): Buffer | null {
  return text ? secrets.seal(text) : null;
}
