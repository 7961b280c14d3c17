import type { ErrorMessage } from '../errors.ts';
import { attributeFaults, type UserAttributes } from '../policy/user-attributes.ts';
import { emailDomainFaults } from '../policy/user-names.ts';
import { findTaken, type TakenAttributes } from '../queries/taken-attributes.ts';
import type { Work } from '../services.ts';
import { emailTurn } from './emails.ts';
import { takeTurns } from './take-turns.ts';

export type UserFaults = { [property: string]: string[] | ErrorMessage };

export interface CheckRequest {
  /** Null for a new user. */
  userId: number | null;
  user: UserAttributes;
  /** Found by whoever read the request. */
  faults: Record<string, string[]>;
  /** Domains that the address of a new user may have; none: all. */
  domains?: readonly string[];
}

export interface CheckResult {
  taken: TakenAttributes;
  /** Property → texts; empty when nothing is wrong. */
  faults: UserFaults;
}

const texts = ['has already been taken'];

/**
 * Looks for everything that is wrong with what shall be stored of a user. Until the end of the transaction nobody
 * else gets the address or the name.
 */
export async function checkUser(work: Work, request: CheckRequest): Promise<CheckResult> {
  const { userId, user } = request;
  await takeTurns(work, turnsOf(user));
  const taken = await findTaken(work.em, {
    userId,
    email: user.email ?? null,
    username: user.username ?? null,
    provider: user.provider ?? null,
    externUid: user.extern_uid ?? null,
  });
  const faults: UserFaults = { ...attributeFaults(user), ...request.faults };
  const domain = emailDomainFaults(user.email ?? '', request.domains ?? []);
  if (user.email !== undefined && domain.length > 0) faults.email ??= domain;
  if (taken.email || taken.secondary_email) faults.email ??= texts;
  if (taken.username || taken.group_path) faults.username ??= texts;
  if (taken.identity) faults.identities = { extern_uid: texts };
  return { taken, faults };
}

function turnsOf({ email, username, provider, extern_uid: externUid }: UserAttributes): string[] {
  const turns: string[] = [];
  if (email !== undefined) turns.push(emailTurn(email));
  if (username !== undefined) turns.push(`name ${username}`);
  if (provider !== undefined && externUid !== undefined) turns.push(`identity ${externUid} at ${provider}`);
  return turns;
}
