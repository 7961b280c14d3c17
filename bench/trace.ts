import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type BenchmarkSettings, cost, type Figure, throughput } from './figure.ts';
import { startBare } from './support/bare.ts';
import { Client } from './support/client.ts';
import { eachPerSecond, elapsed, median, takeTurns } from './support/measure.ts';
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
    const small = Math.max(many, Math.round(100_000 * scale));
    const crumbs = await crumble(senders, small);
    return [
      throughput({ name: 'trace, one build', unit: 'MiB/s', ...one }, 0.5),
      throughput({ name: `trace, ${many} builds at once`, unit: 'MiB/s', ...hundred }, 0.5),
      cost({ name: 'trace, last tenth beside first', ...lastBesideFirst(ages) }, 1.1),
      cost({ name: `trace, of ${small} × 10 bytes`, ...lastBesideFirst([crumbs]) }, 1.1),
    ];
  });
}

/** Milliseconds per part at the end of traces and at their beginning. */
function lastBesideFirst(turns: number[][]): { unit: string; ours: number; limit: number } {
  const tenth = (turn: number[]) => Math.floor(turn.length / 10);
  const ours = median(turns.flatMap((turn) => turn.slice(-tenth(turn))));
  return { unit: 'ms', ours, limit: median(turns.flatMap((turn) => turn.slice(0, tenth(turn)))) };
}

/** The times of one build's parts that are hardly worth sending. */
async function crumble(senders: Comparison['senders'], count: number): Promise<number[]> {
  const send = await senders.ours(Buffer.from('0123456789'));
  const times: number[] = [];
  for (let sent = 0; sent < count; sent += 1) times.push(await elapsed(() => send(0)));
  return times;
}

interface Comparison {
  senders: { ours: (part?: Buffer) => Promise<Sender>; limit: () => Promise<Sender> };
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
    async ours(bytes = part) {
      const ids = await copyBuild(world, { build, count: many });
      const lengths = new Array<number>(many).fill(0);
      const tokens = ids.map((id) => world.secrets.buildToken(id));
      return (lane) => {
        const start = lengths[lane] ?? 0;
        lengths[lane] = start + bytes.length;
        return ours.call({
          method: 'PATCH',
          path: `/ci/api/v1/builds/${ids[lane]}/trace.txt`,
          headers: { 'BUILD-TOKEN': tokens[lane], 'Content-Range': `${start}-${start + bytes.length}` },
          body: bytes,
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
