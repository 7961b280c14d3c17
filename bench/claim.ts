import pg from 'pg';
import { claim as claimStatement } from '../server/actions/claim-build.ts';
import { tokenDigest } from '../server/secrets.ts';
import type { MadeBuild, MadeRunner } from '../test/support/make.ts';
import { type BenchmarkSettings, cost, type Figure, throughput } from './figure.ts';
import { eachPerSecond, takeTurns } from './support/measure.ts';
import { fillQueue } from './support/seed.ts';
import { Wire } from './support/wire.ts';
import { type World, withWorld } from './support/world.ts';

const lanes = 32;

/** Runners that take builds, over HTTP and by the bare statement. */
export function claim({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return withWorld(async (world) => {
    const claims = await openClaims(world);
    const project = await world.make.project();
    const build = await world.make.build(project);
    // The one that is copied must go on waiting.
    await world.db.query('delete from pending_builds');
    await warmUp(world, { claims, build, length: 4000 });
    const small = await measure(world, { claims, build, length: 1000 });
    const large = await measure(world, { claims, build, length: Math.max(2000, 100_000 * scale) });
    const perClaim = { unit: 'ms', ours: 1000 / large.ours, limit: 1000 / small.ours };
    return [
      throughput({ name: `claim from ${small.length}`, unit: '/s', ...small }, 0.5),
      throughput({ name: `claim from ${large.length}`, unit: '/s', ...large }, 0.5),
      cost({ name: `claim, ${large.length} beside ${small.length}`, ...perClaim }, 1.3),
    ];
  });
}

type Claim = (lane: number) => Promise<unknown>;

async function openClaims({
  cleanup,
  databaseUrl,
  make,
  url,
}: World): Promise<{ ours: Claim; limit: Claim }> {
  const runners: MadeRunner[] = [];
  for (let lane = 0; lane < lanes; lane += 1) runners.push(await make.runner());
  const connections = runners.map(() => new pg.Client({ connectionString: databaseUrl }));
  cleanup.add(() => Promise.all(connections.map((connection) => connection.end())));
  await Promise.all(connections.map((connection) => connection.connect()));
  const digests = runners.map(({ token }) => tokenDigest(token));
  const path = '/ci/api/v1/builds/register';
  const wires = runners.map(({ token }) => new Wire(url, { path, body: JSON.stringify({ token }) }));
  for (const wire of wires) cleanup.add(() => wire.close());
  return {
    ours: untilTaken(async (lane) => isTaken(await wires[lane]?.send())),
    limit: untilTaken(async (lane) => {
      const values = [digests[lane]];
      const taken = await connections[lane]?.query({ name: 'claim', text: claimStatement.token, values });
      return taken?.rows[0].id !== null;
    }),
  };
}

function isTaken(status: number | undefined): boolean {
  if (status !== 201 && status !== 404) throw new Error(`a claim was answered with ${status}`);
  return status === 201;
}

/** A claim that others overtake on all builds that it looks at gets none, and is made again. */
function untilTaken(attempt: (lane: number) => Promise<boolean>): Claim {
  return async (lane) => {
    for (let left = 1000; left > 0; left -= 1) if (await attempt(lane)) return;
    throw new Error('there is no build to claim');
  };
}

interface ClaimRequest {
  claims: { ours: Claim; limit: Claim };
  build: MadeBuild;
  length: number;
}

/** Programs that have just started would make whatever is measured first look slow. */
async function warmUp(world: World, { claims, build, length }: ClaimRequest): Promise<void> {
  for (const claim of [claims.limit, claims.ours]) {
    await fillQueue(world, { build, length });
    await eachPerSecond({ lanes, count: length - 500 }, (_, lane) => claim(lane));
  }
}

/** Claims per second from a queue that has `length` builds at the start of each turn. */
async function measure(world: World, { claims, build, length }: ClaimRequest) {
  const turn = (claim: Claim) => async () => {
    await fillQueue(world, { build, length });
    await eachPerSecond({ lanes, count: 100 }, (_, lane) => claim(lane));
    return eachPerSecond({ lanes, count: 600 }, (_, lane) => claim(lane));
  };
  const rates = await takeTurns({ rounds: 5, ours: turn(claims.ours), limit: turn(claims.limit) });
  return { ...rates, length };
}
