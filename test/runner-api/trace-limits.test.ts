import { Agent, request } from 'node:http';
import test from 'ava';
import pg from 'pg';
import { traceLimit } from '../../server/actions/trace-limit.ts';
import { withApp } from '../support/app.ts';
import { rawHttp } from '../support/raw-http.ts';
import { type RunningBuild, runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 3 });

const notice = '\n\u001b[31;1mThe trace ends here: no more than 512 MiB of it are kept.\u001b[0m\n';

/** A build whose trace ends `missing` bytes before the limit. Only the end of it is there to be read. */
async function almostFull(missing: number, ending: string): Promise<RunningBuild> {
  const setting = await runningBuild(holder.app);
  const length = traceLimit - missing;
  await holder.app.rows('update traces set length = $2 where build_id = $1', [setting.build.id, length]);
  await holder.app.rows('insert into trace_parts (build_id, start, bytes) values ($1, $2, $3)', [
    setting.build.id,
    length - ending.length,
    Buffer.from(ending),
  ]);
  return setting;
}

function readEnd(setting: RunningBuild, length: number) {
  return setting.read(`bytes=${traceLimit - length}-`);
}

test.serial('a trace is cut at the limit: runners go on as if it were taken, readers are told', async (t) => {
  const setting = await almostFull(10, '.'.repeat(5000));
  const crossing = await setting.patch(traceLimit - 10, '0123456789 and more');
  t.is(crossing.status, 202);
  t.is(crossing.headers.range, `0-${traceLimit}`, 'the length is that of what is stored');
  const sent = traceLimit + 9;
  for (const [start, body] of [
    [sent, 'what the runner sends next'],
    [sent + 26, ''],
    [traceLimit, 'from the length that it was told'],
    [traceLimit, ''],
  ] as const) {
    const answer = await setting.patch(start, body);
    t.is(answer.status, 202);
    t.is(answer.headers.range, `0-${traceLimit}`);
    t.is(answer.headers['build-status'], 'running');
  }
  t.is((await setting.patch(traceLimit - 1, 'x')).status, 416, 'one that starts before is wrong as ever');
  const shown = await readEnd(setting, 12);
  t.is(shown.status, 206);
  t.is(shown.text, `..0123456789${notice}`);
  const whole = traceLimit + notice.length;
  t.is(shown.headers['content-range'], `bytes ${traceLimit - 12}-${whole - 1}/${whole}`);
  t.is((await readEnd(setting, 0)).text, notice);
  t.is((await readEnd(setting, -5)).text, notice.slice(5));
  t.is((await setting.read(`bytes=${whole}-`)).status, 416);
});

test.serial('a full trace says that its runner is alive, and starts anew when it is replaced', async (t) => {
  const setting = await almostFull(0, 'end');
  const { id } = setting.build;
  await holder.app.rows(`update traces set touched_at = now() - interval '1 hour' where build_id = $1`, [id]);
  await setting.patch(traceLimit + 5000, 'more');
  const [row] = await holder.app.rows<{ is_fresh: boolean }>(
    `select touched_at > now() - interval '1 minute' as is_fresh from traces where build_id = $1`,
    [id],
  );
  t.true(row?.is_fresh);
  t.is((await setting.put({ trace: 'short' })).status, 200);
  t.is((await setting.read()).text, 'short');
  t.is((await setting.patch(5, '!')).headers.range, '0-6');
});

test.serial(
  'a report whose trace is too large counts without it, and what came in parts stays',
  async (t) => {
    for (const state of ['success', 'failed']) {
      const setting = await runningBuild(holder.app);
      await setting.patch(0, 'in parts');
      const answer = await setting.put({ state, trace: 'x'.repeat(45 * 1024 * 1024) });
      t.is(answer.status, 200, 'a runner would repeat it for ever');
      const [row] = await holder.app.rows<{ status: string }>('select status from builds where id = $1', [
        setting.build.id,
      ]);
      t.is(row?.status, state);
      t.is((await setting.read()).text, 'in parts');
    }
    const { build, runner } = await runningBuild(holder.app);
    const url = `${holder.app.url}/ci/api/v1/builds/${build.id}`;
    const large = 'x'.repeat(45 * 1024 * 1024);
    for (const json of [
      { token: runner.token, info: { name: large }, trace: 'a' },
      { trace: large, token: runner.token },
    ]) {
      t.is((await rawHttp(url, 'PUT', { json })).status, 413, 'only what comes last can be left out');
    }
  },
);

test.serial('a secret that the limit cuts in two is not shown, at work or at its end', async (t) => {
  const setting = await almostFull(20, '.'.repeat(5000));
  await setting.patch(traceLimit - 20, `ok ${setting.build.token}`);
  t.is((await readEnd(setting, 21)).text, `.ok ${notice}`);
  await setting.put({ state: 'success' });
  t.is((await readEnd(setting, 21)).text, `.ok ${notice}`);
});

/** Statements that the server sends while something is done. */
async function statementsOf(run: () => Promise<unknown>): Promise<number> {
  const { prototype } = pg.Client;
  const { query } = prototype;
  let count = 0;
  prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
    count += 1;
    return Reflect.apply(query, this, given);
  } as typeof query;
  try {
    await run();
  } finally {
    prototype.query = query;
  }
  return count;
}

/** Sends parts one after the other over one connection, and throws for any answer but 202. */
async function sendParts(setting: RunningBuild, parts: { from: number; to: number; size: number }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = `${holder.app.url}/ci/api/v1/builds/${setting.build.id}/trace.txt`;
  for (let index = parts.from; index < parts.to; index += 1) {
    const start = index * parts.size;
    const body = String(index)
      .padStart(parts.size - 1, '0')
      .concat('\n');
    const headers = {
      'Build-Token': setting.build.token,
      'Content-Range': `${start}-`,
      'Content-Length': body.length,
    };
    const range = await new Promise<string | undefined>((resolve, reject) => {
      request(url, { method: 'PATCH', agent, headers })
        .on('response', (response) => resolve(response.resume().headers.range as string | undefined))
        .on('error', reject)
        .end(body);
    });
    if (range !== `0-${start + parts.size}`) throw new Error(`part ${index}: ${range}`);
  }
  agent.destroy();
}

test.serial('of thousands of parts of 10 bytes none costs more statements than another', async (t) => {
  const setting = await runningBuild(holder.app);
  const size = 10;
  await sendParts(setting, { from: 0, to: 10, size });
  const early = await statementsOf(() => sendParts(setting, { from: 10, to: 210, size }));
  await sendParts(setting, { from: 210, to: 1300, size });
  const late = await statementsOf(() => sendParts(setting, { from: 1300, to: 1500, size }));
  t.true(early >= 1);
  t.true(late <= early, `${late} statements for 200 parts, ${early} at first`);
  const lines = (await setting.read()).text.split('\n');
  t.deepEqual(
    lines.slice(0, -1).map(Number),
    Array.from({ length: 1500 }, (_, index) => index),
  );
});

test.serial('100,000 parts of 10 bytes are read, and grow, as if they were few', async (t) => {
  const setting = await runningBuild(holder.app);
  const count = 100_000;
  const size = 10;
  const { id } = setting.build;
  await holder.app.rows(
    `insert into trace_parts (build_id, start, bytes)
     select $1, n * 10, convert_to(lpad(n::text, 9, '0') || E'\\n', 'UTF8') from generate_series(0, $2::int - 1) n`,
    [id, count],
  );
  await holder.app.rows('update traces set length = $2 where build_id = $1', [id, count * size]);
  const few = await runningBuild(holder.app);
  const appends = (to: RunningBuild, from: number) => () => sendParts(to, { from, to: from + 50, size });
  t.is(await statementsOf(appends(setting, count)), await statementsOf(appends(few, 0)));
  let text = '';
  const reads = await statementsOf(async () => {
    text = (await setting.read()).text;
  });
  t.is(text.length, (count + 50) * size);
  t.true(text.split('\n').every((line, index) => line === '' || Number(line) === index));
  t.true(reads < 200, `${reads} statements to read them all`);
  t.is((await setting.read(`bytes=${size * 99_999}-`)).text.length, size * 51);
});

test.serial('a trace of large parts is read without being held in memory', async (t) => {
  const setting = await runningBuild(holder.app);
  const part = Buffer.alloc(8 * 1024 * 1024, 'line of a trace\n');
  for (let index = 0; index < 24; index += 1) {
    t.is((await setting.patch(index * part.length, part)).status, 202);
  }
  let peak = 0;
  const note = () => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  };
  note();
  const atFirst = peak;
  const url = `${holder.app.url}/api/v3/projects/${setting.project.id}/builds/${setting.build.id}/trace`;
  const size = await new Promise<number>((resolve, reject) => {
    const headers = { 'PRIVATE-TOKEN': setting.project.owner.token };
    let received = 0;
    request(url, { agent: false, headers })
      .on('response', (response) => {
        response.on('data', (data: Buffer) => {
          received += data.length;
          note();
        });
        response.on('end', () => resolve(received));
        response.on('error', reject);
      })
      .on('error', reject)
      .end();
  });
  t.is(size, 24 * part.length);
  t.true(peak - atFirst < 128 * 1024 * 1024, `grew by ${Math.round((peak - atFirst) / 1024 / 1024)} MiB`);
});
