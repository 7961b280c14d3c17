import { loadClient, type Place } from './client-test.ts';

/** As it hands them back: bodies, and `true` for what was deleted. */
export interface Handed {
  [key: string]: unknown;
  id: number;
}
type Call = (...args: unknown[]) => void;
export type Calls = Record<string, Call>;
type Parts =
  | 'labels'
  | 'milestones'
  | 'members'
  | 'hooks'
  | 'deploy_keys'
  | 'runners'
  | 'builds'
  | 'merge_requests'
  | 'repository';

interface Client {
  users: Calls & Record<'keys', Calls>;
  groups: Calls;
  issues: Calls;
  labels: Calls;
  notes: Calls;
  projects: Calls & Record<Parts, Calls> & { issues: Record<'notes', Calls> };
}

type Options = { url: string } & ({ token: string } | { oauth_token: string });
/** Null when it is not installed. */
export const open = loadClient<(options: Options) => Client>('gitlab');

/** Signed in as the administrator. */
export function client({ url, token }: Place): Client {
  if (!open) throw new Error('not installed');
  return open({ url, token });
}

/** Whatever a call hands back: the body, `true` for what was deleted, `true`, `false` or null for a refusal. */
export function handed(calls: Calls | undefined, name: string, ...args: unknown[]): Promise<unknown> {
  return new Promise((resolve) => calls?.[name]?.(...args, resolve));
}

/** Calls for an object. @throws Error when something else is handed back, which is all that this client tells. */
export async function done(calls: Calls | undefined, name: string, ...args: unknown[]): Promise<Handed> {
  const found = await handed(calls, name, ...args);
  if (typeof found === 'object' && found !== null) return found as Handed;
  throw new Error(`${name} handed back ${JSON.stringify(found)}`);
}

/** Calls for a list. @throws Error when something else is handed back. */
export async function many(calls: Calls, name: string, ...args: unknown[]): Promise<Handed[]> {
  const found: unknown = await done(calls, name, ...args);
  if (Array.isArray(found)) return found;
  throw new Error(`${name} handed back no list`);
}

/** Its own, without a repository's first commit. */
export function makeProject(place: Place): Promise<Handed> {
  return done(client(place).projects, 'create', { name: place.name('site') });
}
