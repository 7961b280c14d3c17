import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import test from 'ava';
import { serveGit } from './http-server.ts';
import { git, makeBench } from './real-git.ts';

// In a process of its own, whose memory nothing else moves.
const bench = await makeBench();
test.after.always(() => bench.clean());

test('a large pack passes in both directions without being held in memory', async (t) => {
  const { dir, tree } = await bench.filled();
  const random = Readable.from(
    (function* () {
      for (let index = 0; index < 60; index += 1) yield randomBytes(1024 * 1024);
    })(),
  );
  await pipeline(random, createWriteStream(join(tree, 'large')));
  await git(tree, 'add', 'large');
  await git(tree, 'commit', '--quiet', '-m', 'Large');
  const server = await serveGit({ dir });
  t.teardown(server.close);
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 10);
  await git(tree, 'push', '--quiet', server.url, 'master');
  const copy = await mkdtemp(join(bench.folder, 'copy-'));
  await git(copy, 'clone', '--quiet', server.url, '.');
  clearInterval(watch);
  t.is(await digest(join(copy, 'large')), await digest(join(tree, 'large')));
  // A chunked push asks first with an empty one whether it may.
  t.true(server.seen.some(({ push }) => push?.commands.length === 0));
  t.log(`memory grew by ${Math.round((peak - before) / 1e6)} MB`);
  t.true(peak - before < 60e6);
});

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
