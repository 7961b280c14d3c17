import { randomInt } from 'node:crypto';
import test from 'ava';
import type { TestApp } from '../support/app.ts';
import { everyEndpoint } from './every-endpoint.ts';
import { checkEndpoint } from './random-check.ts';
import { type RandomWorld, randomWorld } from './random-world.ts';

/** To each endpoint. `HEARTH_RANDOM_REQUESTS=1000` is the thorough way; it takes minutes. */
const requests = Number(process.env.HEARTH_RANDOM_REQUESTS ?? 50);
export const seed = Number(process.env.HEARTH_RANDOM_SEED ?? randomInt(2 ** 31));

/** Declares a test for each endpoint. An administrator, who sees all there is, makes the smaller part of the requests. */
export function randomTests(holder: { app: TestApp }, { isAdmin }: { isAdmin: boolean }): void {
  const who = isAdmin ? 'an administrator' : 'anybody else';
  const share = isAdmin ? 0.3 : 0.7;
  let world: RandomWorld | null = null;
  for (const served of everyEndpoint()) {
    test.serial(`random requests of ${who} to ${served.name}`, async (t) => {
      t.log(`again with HEARTH_RANDOM_SEED=${seed}`);
      world ??= await randomWorld(holder.app, { isAdmin });
      const check = { url: holder.app.url, world, requests: requests * share, seed };
      await t.notThrowsAsync(checkEndpoint(served, check));
      // What is gone cannot show a fault of the endpoints that follow.
      if (served.endpoint.method === 'DELETE') world = null;
    });
  }
}
