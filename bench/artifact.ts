import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { type BenchmarkSettings, bound, type Figure, throughput } from './figure.ts';
import { startBare } from './support/bare.ts';
import { type Call, Client } from './support/client.ts';
import { elapsed, takeTurns } from './support/measure.ts';
import { memoryGrowth } from './support/memory.ts';
import { temporaryFolder, type World, withWorld } from './support/world.ts';

const piece = randomBytes(1024 * 1024);
const boundary = 'bench-boundary';
const head = [
  `--${boundary}`,
  'Content-Disposition: form-data; name="file"; filename="artifacts.zip"',
  'Content-Type: application/octet-stream',
  '\r\n',
].join('\r\n');
const tail = `\r\n--${boundary}--\r\n`;

/** A large file of a build, up and down. */
export function artifact({ scale }: BenchmarkSettings): Promise<Figure[]> {
  return withWorld(async (world) => {
    const size = Math.max(16, Math.round(1024 * scale));
    await world.db.query('update settings set max_artifacts_size = 2048');
    const { ours, limit } = await openTransfers(world);
    await ours.up(16);
    await ours.down();
    const growth = { up: 0, down: 0 };
    const watch = (way: 'up' | 'down', work: () => Promise<unknown>) => async () => {
      growth[way] = Math.max(growth[way], await memoryGrowth(world.pid, work));
    };
    const rate = (work: () => Promise<unknown>) => async () => (size * 1000) / (await elapsed(work));
    const rounds = 3;
    const sides = { ours: rate(watch('up', () => ours.up(size))), limit: rate(() => limit.up(size)) };
    const up = await takeTurns({ rounds, ...sides });
    const down = await takeTurns({
      rounds,
      ours: rate(watch('down', ours.down)),
      limit: rate(limit.down),
    });
    return [
      throughput({ name: `artifact, ${size} MiB up`, unit: 'MiB/s', ...up }, 0.7),
      throughput({ name: `artifact, ${size} MiB down`, unit: 'MiB/s', ...down }, 0.7),
      bound({ name: 'artifact, memory growth up', unit: 'MiB', ours: growth.up, limit: 64 }),
      bound({ name: 'artifact, memory growth down', unit: 'MiB', ours: growth.down, limit: 64 }),
    ];
  });
}

interface Transfers {
  /** Sends so many MiB. */
  up(size: number): Promise<unknown>;
  /** Receives what was sent last. */
  down(): Promise<unknown>;
}

async function openTransfers(world: World): Promise<{ ours: Transfers; limit: Transfers }> {
  const folder = await temporaryFolder(world.cleanup);
  const bare = new Client(await startBare(world, { program: 'bare-files.ts', args: [folder] }), 1);
  const client = new Client(world.url, 1);
  world.cleanup.add(() => bare.close());
  world.cleanup.add(() => client.close());
  const runner = await world.make.runner();
  const build = await world.make.build(await world.make.project(), { status: 'running', runner });
  const path = `/ci/api/v1/builds/${build.id}/artifacts`;
  const headers = { 'BUILD-TOKEN': build.token };
  return {
    ours: {
      up: (size) => client.drain({ path, ...form(size, headers) }),
      down: () => client.drain({ path, headers }),
    },
    limit: {
      up: (size) =>
        bare.drain({
          method: 'POST',
          path: '/file',
          headers: { 'Content-Length': size * piece.length },
          body: Readable.from(pieces(size)),
        }),
      down: () => bare.drain({ path: '/file' }),
    },
  };
}

function form(size: number, headers: Record<string, string>): Omit<Call, 'path'> {
  return {
    method: 'POST',
    headers: {
      ...headers,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': head.length + size * piece.length + tail.length,
    },
    body: Readable.from(framed(size), { objectMode: false }),
  };
}

function* framed(size: number): Generator<Buffer> {
  yield Buffer.from(head);
  yield* pieces(size);
  yield Buffer.from(tail);
}

function* pieces(size: number): Generator<Buffer> {
  for (let sent = 0; sent < size; sent += 1) yield piece;
}
