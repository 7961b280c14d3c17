import { createRequire } from 'node:module';
import test, { type ExecutionContext } from 'ava';
import type { Forge } from '../support/forge.ts';
import type { Hearth } from '../support/hearth.ts';
import { withHearth } from '../support/with-hearth.ts';

const requireHere = createRequire(import.meta.url);

/** The places of the setting that answers creations with the documented status, or with 201 always. */
export const createStatuses = ['documented', '201'] as const;

/** A server, and what a client needs to sign in there as its administrator. */
export interface Place {
  url: string;
  /** Root of the interface, without a slash at the end. */
  api: string;
  token: string;
  /** Status of a creation that is documented to answer 200. */
  createdAs200: 200 | 201;
  /** For names that nobody else uses. */
  name(word: string): string;
}

const isInstalled = process.env.HEARTH_TEST_CLIENTS === '1';
const servers = withHearth();
const places = new Map<string, Promise<Place>>();
let count = 0;

/** A client of others as its package gives it (null: not installed), with the part of its shape that a test uses. */
export function loadClient<T>(name: string): T | null {
  return isInstalled ? (requireHere(name) as T) : null;
}

/** Runs against a server of each status of creations. Skipped where the clients could not be installed. */
export function clientTest(title: string, run: (t: ExecutionContext, place: Place) => Promise<void>): void {
  for (const createStatus of createStatuses) {
    const name = `${title}, creations answered as ${createStatus}`;
    if (!isInstalled) test.skip(name, (t) => t.pass());
    else test.serial(name, async (t) => run(t, await placeOf(createStatus)));
  }
}

function placeOf(createStatus: string): Promise<Place> {
  const known = places.get(createStatus) ?? openPlace(createStatus);
  places.set(createStatus, known);
  return known;
}

async function openPlace(createStatus: string): Promise<Place> {
  const hearth: Hearth = await servers.start({
    settings: { HEARTH_CREATE_STATUS: createStatus, HEARTH_SIGN_INS_PER_MINUTE: '0' },
  });
  const root: Forge = await hearth.forge();
  return {
    url: hearth.url,
    api: `${hearth.url}/api/v3`,
    token: root.token,
    createdAs200: createStatus === '201' ? 201 : 200,
    name: (word) => `${word}-${++count}`,
  };
}
