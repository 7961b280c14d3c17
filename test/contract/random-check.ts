import fc from 'fast-check';
import type { ServedEndpoint } from './every-endpoint.ts';
import { type RandomRequest, requestsTo } from './random-requests.ts';
import type { RandomWorld } from './random-world.ts';

/** Sent at once: what takes a second connection inside a transaction, or locks in another order, then hangs. */
const together = 10;

export interface RandomCheck {
  /** Where the endpoint is served. */
  url: string;
  world: RandomWorld;
  /** How many requests, about. */
  requests: number;
  seed: number;
  /** After this time without an answer an endpoint counts as hanging. */
  patienceMs?: number;
}

/** Sends random requests to an endpoint. @throws Error with the least ones that show what is wrong. */
export async function checkEndpoint(served: ServedEndpoint, check: RandomCheck): Promise<void> {
  const batch = fc.array(requestsTo(served, check.world), { minLength: 1, maxLength: together, size: 'max' });
  const property = fc.asyncProperty(batch, async (sent) => {
    const faults = await Promise.all(sent.map((request) => faultOf(request, check)));
    const found = faults.filter((fault) => fault !== null);
    if (found.length > 0) throw new Error(found.join('\n'));
  });
  // A batch has half of the most on average.
  const numRuns = Math.ceil(check.requests / (together / 2));
  await fc.assert(property, { seed: check.seed, numRuns, includeErrorInReport: true });
}

/** What is wrong with the answer to a request; null when nothing is. */
async function faultOf(
  { method, path, headers, body, caller }: RandomRequest,
  { url, world, patienceMs = 60_000 }: RandomCheck,
): Promise<string | null> {
  const told = `${method} ${path.slice(0, 300)} of ${caller}`;
  const signal = AbortSignal.timeout(patienceMs);
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${url}${path}`, { method, headers, body, signal, redirect: 'manual' });
    text = await answer.text();
  } catch (error) {
    const { message, cause } = error as Error;
    return `${told}: no answer (${message} ${cause ?? ''})`;
  }
  if (answer.status >= 500) return `${told}: ${answer.status} ${text.slice(0, 200)}`;
  const everything = `${text} ${JSON.stringify([...answer.headers])}`;
  const leak = world.secrets.find(
    ({ value, isForAdmins }) => everything.includes(value) && !(isForAdmins && world.isAdmin),
  );
  return leak ? `${told}: ${answer.status} tells ${leak.what}` : null;
}
