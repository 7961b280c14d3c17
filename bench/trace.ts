import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type BenchmarkSettings, cost, type Figure, throughput } from './figure.ts';
import { startBare } from './support/bare.ts';
import { Client } from './support/client.ts';
import { eachPerSecond, median, takeTurns } from './support/measure.ts';
import { copyBuild } from './support/seed.ts';
import { temporaryFolder, type World, withWorld } from './support/world.ts';

const partSize = 64 * 1024;
const many = 100;
/** Printable, and nothing that could be told apart from the output of a job. */
const part = Buffer.from(randomBytes((partSize * 3) / 4).toString('base64'));

/** Output of builds, part by part. */
export function trace({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return withWorld(async (world) => {
    const count = Math.max(many, Math.round((256 * 1024 * 1024 * scale) / partSize));
    const senders = await openSenders(world);
    const ages: number[][] = [];
    const one = await compare({ senders, count, lanes: 1, ages });
    const hundred = await compare({ senders, count, lanes: many, ages: [] });
    const tenth = Math.floor(count / 10);
    const last = median(ages.flatMap((turn) => turn.slice(-tenth)));
    const first = median(ages.flatMap((turn) => turn.slice(0, tenth)));
    const flat = { unit: 'ms', ours: last, limit: first };
    return [
      throughput({ name: 'trace, one build', unit: 'MiB/s', ...one }, 0.5),
      throughput({ name: `trace, ${many} builds at once`, unit: 'MiB/s', ...hundred }, 0.5),
      cost({ name: 'trace, last tenth beside first', ...flat }, 1.1),
    ];
  });
}

interface Comparison {
  senders: { ours: () => Promise<Sender>; limit: () => Promise<Sender> };
  count: number;
  lanes: number;
  /** Receives the milliseconds of each of our parts, turn by turn. */
  ages: number[][];
}

async function compare({ senders, count, lanes, ages }: Comparison) {
  const mebibytes = partSize / 1024 / 1024;
  const turn = (open: () => Promise<Sender>, all: number[][]) => async () => {
    const send = await open();
    const times: number[] = [];
    all.push(times);
    const rate = await eachPerSecond({ lanes, count }, async (_, lane) => {
      const start = performance.now();
      await send(lane);
      times.push(performance.now() - start);
    });
    return rate * mebibytes;
  };
  return takeTurns({ rounds: 3, ours: turn(senders.ours, ages), limit: turn(senders.limit, []) });
}

/** Sends the next part of the lane's own trace. */
type Sender = (lane: number) => Promise<unknown>;

async function openSenders(world: World): Promise<Comparison['senders']> {
  const folder = await temporaryFolder(world.cleanup);
  const bare = new Client(await startBare(world, { program: 'bare-files.ts', args: [folder] }), many);
  const ours = new Client(world.url, many);
  world.cleanup.add(() => bare.close());
  world.cleanup.add(() => ours.close());
  const runner = await world.make.runner();
  const build = await world.make.build(await world.make.project(), { status: 'running', runner });
  let turns = 0;
  return {
    async ours() {
      const ids = await copyBuild(world, { build, count: many });
      const lengths = new Array<number>(many).fill(0);
      const tokens = ids.map((id) => world.secrets.buildToken(id));
      return (lane) => {
        const start = lengths[lane] ?? 0;
        lengths[lane] = start + part.length;
        return ours.call({
          method: 'PATCH',
          path: `/ci/api/v1/builds/${ids[lane]}/trace.txt`,
          headers: { 'BUILD-TOKEN': tokens[lane], 'Content-Range': `${start}-${start + part.length}` },
          body: part,
        });
      };
    },
    async limit() {
      turns += 1;
      const turn = turns;
      return (lane) => bare.call({ method: 'PATCH', path: `/${turn}-${lane}`, body: part });
    },
  };
}
