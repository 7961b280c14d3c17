import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { archiveTrace } from '../../server/actions/archive-trace.ts';
import { openTrace } from '../../server/actions/open-trace.ts';
import type { Work } from '../../server/services.ts';
import { withApp } from '../support/app.ts';
import type { MadeBuild } from '../support/make.ts';
import { runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 5 });

async function storedParts(build: MadeBuild): Promise<number> {
  const [row] = await holder.app.rows<{ count: number }>(
    'select count(*)::int as count from trace_parts where build_id = $1',
    [build.id],
  );
  return row?.count ?? 0;
}

async function blobsOf(build: MadeBuild): Promise<string[]> {
  const root = join(holder.app.services.repositoriesDir, '../blobs/traces');
  const names = await readdir(root, { recursive: true }).catch(() => []);
  return names.filter((name) => name.split('/').at(-1)?.startsWith(`${build.id}-`));
}

test.serial('an archived trace that is erased takes its blob along', async (t) => {
  const setting = await runningBuild(holder.app);
  await setting.put({ state: 'failed', trace: 'abc' });
  await holder.app.runAllTasks();
  t.is((await blobsOf(setting.build)).length, 1);
  await setting.act('erase');
  await holder.app.runAllTasks();
  t.deepEqual(await blobsOf(setting.build), []);
  t.is((await setting.read()).text, '');
});

test.serial('an erase between the check of a part and its writing leaves nothing to write to', async (t) => {
  const setting = await runningBuild(holder.app);
  await setting.put({ state: 'failed' });
  const { url } = holder.app;
  const headers = {
    'Build-Token': setting.build.token,
    'Content-Range': '0-6',
    'Content-Length': '6',
  };
  const outgoing = request(`${url}/ci/api/v1/builds/${setting.build.id}/trace.txt`, {
    method: 'PATCH',
    headers,
    agent: false,
  });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    outgoing.on('response', (response) => resolve(response.resume().statusCode));
    outgoing.on('error', reject);
  });
  outgoing.write('abc');
  // The build has been looked at once the server has read a part of the body; it waits for the rest now.
  await new Promise((resolve) => outgoing.once('socket', (socket) => socket.once('connect', resolve)));
  await holder.app.call('GET', '/nothing-here');
  await setting.act('erase');
  outgoing.end('def');
  t.true([416, 403].includes((await answered) ?? 0));
  t.is((await setting.read()).text, '');
  t.is(await storedParts(setting.build), 0);
});

test.serial('the end of a build moves its trace to the blob store, and the parts go', async (t) => {
  const setting = await runningBuild(holder.app);
  for (let index = 0; index < 70; index += 1) await setting.patch(index * 5, 'line\n');
  await setting.put({ state: 'success' });
  t.is(await storedParts(setting.build), 70);
  await holder.app.runTasks();
  t.is(await storedParts(setting.build), 70, 'parts that are on their way have time to come');
  await holder.app.runAllTasks();
  t.is(await storedParts(setting.build), 0);
  t.is((await blobsOf(setting.build)).length, 1);
  t.is((await setting.read()).text, 'line\n'.repeat(70));
  t.is((await setting.read('bytes=347-')).text, 'ne\n');
});

test.serial('the trace of a build that said nothing is closed without a blob', async (t) => {
  const setting = await runningBuild(holder.app);
  await setting.put({ state: 'success' });
  await holder.app.runAllTasks();
  t.deepEqual(await blobsOf(setting.build), []);
  t.is((await setting.patch(0, 'late')).headers.range, '0-0');
  t.is((await setting.read()).text, '');
});

test.serial('moving is safe to cut off anywhere and to repeat', async (t) => {
  const setting = await runningBuild(holder.app);
  const text = 'some text\n'.repeat(1000);
  await setting.put({ state: 'success', trace: text });
  const { work } = holder.app;
  const { storage } = work;
  const fails: [string, Partial<Work['storage']>][] = [
    ['before the first byte', { put: async () => Promise.reject(new Error('cut off')) }],
    [
      'in the middle of the bytes',
      {
        put: (key, source) =>
          storage.put(
            key,
            Readable.from(
              (async function* () {
                for await (const chunk of source as AsyncIterable<Buffer>) {
                  yield chunk.subarray(0, 10);
                  throw new Error('cut off');
                }
              })(),
            ),
          ),
      },
    ],
    [
      'after the bytes, before the row',
      {
        put: async (key, source) => {
          await storage.put(key, source);
          throw new Error('cut off');
        },
      },
    ],
  ];
  for (const [point, replaced] of fails) {
    const broken = { put: storage.put.bind(storage), ...replaced } as Work['storage'];
    await t.throwsAsync(archiveTrace({ ...work, storage: broken }, setting.build.id), { message: 'cut off' });
    t.is((await setting.read()).text, text, point);
  }
  t.true(await archiveTrace(work, setting.build.id));
  t.is((await setting.read()).text, text);
  t.true(await archiveTrace(work, setting.build.id), 'again');
  t.is((await setting.read()).text, text);
  t.is((await blobsOf(setting.build)).length, 1);
});

test.serial('two servers that move one trace at once leave one blob and every byte', async (t) => {
  const setting = await runningBuild(holder.app);
  const text = 'some text\n'.repeat(50_000);
  await setting.put({ state: 'success', trace: text });
  const { work } = holder.app;
  await Promise.all([archiveTrace(work, setting.build.id), archiveTrace(work, setting.build.id)]);
  t.is((await blobsOf(setting.build)).length, 1);
  t.is((await setting.read()).text, text);
});

test.serial('readers see no gap while the trace is moved under them', async (t) => {
  const setting = await runningBuild(holder.app);
  const { work } = holder.app;
  let expected = '';
  for (let index = 0; index < 100; index += 1) {
    const part = `part ${index} ${'.'.repeat(5000)}\n`;
    await setting.patch(expected.length, part);
    expected += part;
  }
  await setting.put({ state: 'success' });
  const starts = [0, 0, 7, 500, expected.length - 3];
  const readers = await Promise.all(
    starts.map((start) => openTrace(work, { id: setting.build.id, status: 'success' }, start)),
  );
  // Each has read its first parts before the move and reads the rest after it.
  const first = await Promise.all(
    readers.map(async ({ stream }) => ((await stream[Symbol.asyncIterator]().next()).value ?? '') as Buffer),
  );
  t.true(first.every((chunk) => chunk.length > 0));
  t.true(await archiveTrace(work, setting.build.id));
  const rest = await Promise.all(
    starts.map((start) => openTrace(work, { id: setting.build.id, status: 'success' }, start)),
  );
  for (const [index, { stream }] of rest.entries()) {
    t.is(Buffer.concat(await stream.toArray()).toString(), expected.slice(starts[index]));
  }
  const halves = await Promise.all(
    starts.slice(0, 2).map(async (start) => {
      const other = await runningBuild(holder.app);
      await other.put({ state: 'success', trace: '' });
      for (let at = 0; at < expected.length; at += 5000) {
        await other.patch(at, expected.slice(at, at + 5000));
      }
      const { stream } = await openTrace(work, { id: other.build.id, status: 'success' }, start);
      const chunks: Buffer[] = [];
      for await (const chunk of stream) {
        chunks.push(chunk);
        if (chunks.length === 1) await archiveTrace(work, other.build.id);
      }
      return Buffer.concat(chunks).toString();
    }),
  );
  t.deepEqual(halves, [expected, expected]);
});

test.serial(
  'a trace that grows while it is moved stays where it is, whole, and leaves no blob',
  async (t) => {
    const setting = await runningBuild(holder.app);
    await setting.patch(0, 'abc');
    await setting.put({ state: 'failed' });
    const { work } = holder.app;
    const storage = {
      remove: work.storage.remove.bind(work.storage),
      async put(key: string, source: Readable) {
        const stored = await work.storage.put(key, source);
        await setting.patch(3, 'def');
        return stored;
      },
    } as Work['storage'];
    t.false(await archiveTrace({ ...work, storage }, setting.build.id));
    t.deepEqual(await blobsOf(setting.build), []);
    t.is((await setting.read()).text, 'abcdef');
    await holder.app.runAllTasks();
    t.is((await setting.read()).text, 'abcdef');
    t.is((await blobsOf(setting.build)).length, 1);
  },
);

test.serial(
  'a reader of a trace that is replaced by a shorter one is cut off, not given other bytes',
  async (t) => {
    const setting = await runningBuild(holder.app);
    const part = 'old text.\n'.repeat(5000);
    for (let index = 0; index < 50; index += 1) await setting.patch(index * part.length, part);
    const { stream } = await openTrace(holder.app.work, { id: setting.build.id, status: 'running' }, 0);
    const fault = await t.throwsAsync(async () => {
      let isFirst = true;
      for await (const _ of stream) {
        if (isFirst) await setting.put({ trace: 'new' });
        isFirst = false;
      }
    });
    t.regex(fault?.message ?? '', /replaced/);
  },
);
