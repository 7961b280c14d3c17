import { request } from 'node:http';
import test from 'ava';
import fc from 'fast-check';
import { archiveTrace } from '../../server/actions/archive-trace.ts';
import { withApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { rawHttp } from '../support/raw-http.ts';
import { callsOf, runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 5 });

test.serial('the same part twice is stored once: the second is told the length', async (t) => {
  const setting = await runningBuild(holder.app);
  t.is((await setting.patch(0, 'abc')).headers.range, '0-3');
  const again = await setting.patch(0, 'abc');
  t.is(again.status, 416);
  t.is(again.headers.range, '0-3');
  t.deepEqual(again.json, { message: '416 Range Not Satisfiable' });
  t.is((await setting.read()).text, 'abc');
});

test.serial('a part that comes too early is refused, and taken in its turn', async (t) => {
  const setting = await runningBuild(holder.app);
  t.is((await setting.patch(3, 'def')).status, 416);
  t.is((await setting.patch(0, 'abc')).status, 202);
  t.is((await setting.patch(2, 'cd')).status, 416, 'an overlap is not merged');
  t.is((await setting.patch(3, 'def')).status, 202);
  t.is((await setting.read()).text, 'abcdef');
});

test.serial('a part without its place is refused', async (t) => {
  const { build } = await runningBuild(holder.app);
  const url = `${holder.app.url}/ci/api/v1/builds/${build.id}/trace.txt`;
  const answer = await rawHttp(url, 'PATCH', { headers: { 'Build-Token': build.token }, body: 'abc' });
  t.is(answer.status, 400);
  t.deepEqual(answer.json, { message: '400 Missing header Content-Range' });
});

test.serial('of many writers at one place one is taken, and the trace is one of theirs', async (t) => {
  const setting = await runningBuild(holder.app);
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all(
      [...'abcdefgh'].map((letter) => setting.patch(round * 3, letter.repeat(3))),
    );
    t.is(answers.filter((answer) => answer.status === 202).length, 1);
    t.is(answers.filter((answer) => answer.status === 416).length, 7);
    for (const answer of answers) t.is(answer.headers.range, `0-${(round + 1) * 3}`);
  }
  t.regex((await setting.read()).text, /^(?:(\w)\1\1){10}$/);
});

test.serial('8 MiB in one part, sent as a form would be, are stored byte by byte', async (t) => {
  const setting = await runningBuild(holder.app);
  const bytes = Buffer.alloc(8 * 1024 * 1024);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = index % 251;
  const headers = {
    'Build-Token': setting.build.token,
    'Content-Range': '0-8388607',
    'Content-Type': 'application/x-www-form-urlencoded',
  };
  const url = `${holder.app.url}/ci/api/v1/builds/${setting.build.id}/trace.txt`;
  t.is((await rawHttp(url, 'PATCH', { headers, body: bytes })).status, 202);
  t.true((await setting.read()).bytes.equals(bytes));
});

test.serial('a part that is too large is refused, and its sender gets to know', async (t) => {
  const setting = await runningBuild(holder.app);
  const answer = await setting.patch(0, Buffer.alloc(40 * 1024 * 1024, 'x'));
  t.is(answer.status, 413);
  t.is((await setting.patch(0, 'abc')).headers.range, '0-3');
});

test.serial('a part that is broken off leaves nothing', async (t) => {
  const setting = await runningBuild(holder.app);
  const headers = {
    'Build-Token': setting.build.token,
    'Content-Range': '0-100',
    'Content-Length': '100',
  };
  const url = `${holder.app.url}/ci/api/v1/builds/${setting.build.id}/trace.txt`;
  const before = holder.app.logLines.length;
  const outgoing = request(url, { method: 'PATCH', headers, agent: false });
  outgoing.on('error', () => undefined);
  outgoing.write('half of it');
  await new Promise((resolve) => outgoing.once('socket', (socket) => socket.once('connect', resolve)));
  outgoing.destroy();
  const path = `/builds/${setting.build.id}/trace.txt`;
  await eventually(() => holder.app.logLines.slice(before).some((line) => line.includes(path)));
  t.is((await setting.patch(0, 'abc')).headers.range, '0-3');
});

test.serial('characters may be split anywhere: bytes are stored, and given out as they were', async (t) => {
  const setting = await runningBuild(holder.app);
  const text = 'grün 日本 🚀 \u001b[32mok\u001b[0m \xff\n';
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe, 0x00])]);
  for (let start = 0; start < bytes.length; start += 1) {
    t.is((await setting.patch(start, bytes.subarray(start, start + 1))).status, 202);
  }
  t.deepEqual((await setting.read()).bytes, bytes);
});

test.serial('a canceled build takes parts and tells so, on and on', async (t) => {
  const setting = await runningBuild(holder.app);
  await setting.patch(0, 'abc');
  await setting.act('cancel');
  for (let index = 1; index <= 3; index += 1) {
    const answer = await setting.patch(index * 3, 'def');
    t.is(answer.status, 202);
    t.is(answer.headers['build-status'], 'canceled');
    t.is(answer.headers.range, `0-${index * 3 + 3}`);
  }
});

test.serial('a build that waits takes parts too, and tells that it waits', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const build = await make.build(project);
  const waiting = callsOf(holder.app, { project, build, runner: await make.runner() });
  const answer = await waiting.patch(0, 'abc');
  t.is(answer.status, 202);
  t.is(answer.headers['build-status'], 'pending');
});

test.serial('after the end: parts are taken for a while, then dropped with a truthful length', async (t) => {
  const setting = await runningBuild(holder.app);
  await setting.patch(0, 'abc');
  await setting.put({ state: 'success' });
  const late = await setting.patch(3, 'def');
  t.is(late.status, 202);
  t.is(late.headers['build-status'], 'success');
  t.is(late.headers.range, '0-6');
  t.true(await archiveTrace(holder.app.work, setting.build.id));
  for (const body of ['ghi', '']) {
    const dropped = await setting.patch(6, body);
    t.is(dropped.status, 202);
    t.is(dropped.headers.range, '0-6');
  }
  const wrong = await setting.patch(3, 'ghi');
  t.is(wrong.status, 416);
  t.is(wrong.headers.range, '0-6');
  t.is((await setting.read()).text, 'abcdef');
});

test.serial(
  'a report with a whole trace replaces what is there, shorter or empty too, and parts go on from it',
  async (t) => {
    const setting = await runningBuild(holder.app);
    await setting.patch(0, 'abcdef');
    t.is((await setting.put({ trace: 'xyz' })).status, 200);
    t.is((await setting.patch(6, 'g')).headers.range, '0-3');
    t.is((await setting.patch(3, '!')).status, 202);
    t.is((await setting.read()).text, 'xyz!');
    await setting.put({ state: 'running' });
    t.is((await setting.read()).text, 'xyz!', 'a report without a trace leaves it');
    await setting.put({ trace: '' });
    t.is((await setting.read()).text, '');
    t.is((await setting.patch(0, 'new')).status, 202);
    const long = 'longer than one stored part\n'.repeat(100_000);
    await setting.put({ trace: long });
    t.is((await setting.read()).text, long);
    t.is((await setting.patch(long.length, 'end')).headers.range, `0-${long.length + 3}`);
  },
);

test.serial('an erased trace is empty and takes nothing any more', async (t) => {
  const setting = await runningBuild(holder.app);
  await setting.patch(0, 'abc');
  await setting.put({ state: 'failed' });
  t.is((await setting.act('erase')).status, 201);
  const answer = await setting.patch(0, 'abc');
  t.is(answer.status, 403);
  t.deepEqual(answer.json, { message: '403 Forbidden - Build has been erased!' });
  t.is((await setting.read()).text, '');
  await holder.app.runAllTasks();
  t.is((await setting.read()).text, '');
});

test.serial(
  'a trace is followed from an offset: 206 with the rest, 416 when there is nothing new',
  async (t) => {
    const setting = await runningBuild(holder.app);
    await setting.patch(0, 'hello ');
    const whole = await setting.read();
    t.is(whole.status, 200);
    t.is(whole.headers['content-type'], 'text/plain');
    t.is(whole.headers['content-length'], '6');
    const nothing = await setting.read('bytes=6-');
    t.is(nothing.status, 416);
    t.is(nothing.headers['content-range'], 'bytes */6');
    await setting.patch(6, 'world\n');
    const rest = await setting.read('bytes=6-');
    t.is(rest.status, 206);
    t.is(rest.headers['content-range'], 'bytes 6-11/12');
    t.is(rest.text, 'world\n');
    await setting.put({ state: 'success' });
    await holder.app.runAllTasks();
    t.is((await setting.read('bytes=6-')).text, 'world\n', 'the same from the blob store');
    t.is((await setting.read('bytes=12-')).status, 416);
  },
);

test.serial(
  'secrets are blacked out at their length, wherever parts and readers begin and end',
  async (t) => {
    const setting = await runningBuild(holder.app);
    const { build, project } = setting;
    const secrets = [build.token, project.runnersToken];
    const sent = `a ${build.token} b ${project.runnersToken} ${build.token}${build.token} c\n`;
    const shown = secrets.reduce((text, secret) => text.replaceAll(secret, 'x'.repeat(secret.length)), sent);
    for (let at = 0; at < sent.length; at += 11) await setting.patch(at, sent.slice(at, at + 11));
    t.is((await setting.read()).text, shown);
    for (let start = 1; start < sent.length; start += 7) {
      t.is((await setting.read(`bytes=${start}-`)).text, shown.slice(start), `from ${start}`);
    }
    await setting.put({ state: 'success' });
    await holder.app.runAllTasks();
    for (let start = 1; start < sent.length; start += 23) {
      t.is((await setting.read(`bytes=${start}-`)).text, shown.slice(start), `archived, from ${start}`);
    }
  },
);

test.serial(
  'who follows a trace byte by byte never sees the first half of a secret and then the second',
  async (t) => {
    const setting = await runningBuild(holder.app);
    const { build } = setting;
    const sent = `before ${build.token} after\n`;
    let seen = '';
    for (let at = 0; at < sent.length; at += 1) {
      await setting.patch(at, sent.slice(at, at + 1));
      const answer = await setting.read(seen === '' ? undefined : `bytes=${seen.length}-`);
      if (answer.status !== 416) seen += answer.text;
      t.false(seen.includes(build.token.slice(0, 8)), seen);
    }
    // So few letters tell nothing.
    t.regex(seen, /^before .{3}x{24,} after\n$/);
  },
);

test.serial('random parts and whole traces: the stored trace is what a text would be', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ü', '日', '\n', '\u001b', '🚀'), maxLength: 40 });
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), text }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('astray' as const),
        text,
        by: fc.integer({ min: -30, max: 30 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), text }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), from: fc.nat(200) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, isArchived) => {
      const setting = await runningBuild(holder.app);
      let model = Buffer.alloc(0);
      for (const item of steps) {
        if (item.kind === 'replace') {
          model = Buffer.from(item.text);
          if ((await setting.put({ trace: item.text })).status !== 200) return false;
        } else if (item.kind === 'read') {
          const { status, bytes } = await setting.read(`bytes=${item.from}-`);
          const isBeyond = item.from > 0 && item.from >= model.length;
          if (isBeyond ? status !== 416 : !bytes.equals(model.subarray(item.from))) return false;
        } else {
          const start = model.length + (item.kind === 'astray' ? item.by : 0);
          if (start < 0) continue;
          const { status, headers } = await setting.patch(start, item.text);
          if (start === model.length) model = Buffer.concat([model, Buffer.from(item.text)]);
          if (status !== (item.kind === 'append' || item.by === 0 ? 202 : 416)) return false;
          if (headers.range !== `0-${model.length}`) return false;
        }
      }
      await setting.put({ state: 'success' });
      if (isArchived) await archiveTrace(holder.app.work, setting.build.id);
      return (await setting.read()).bytes.equals(model);
    }),
    { numRuns: 40 },
  );
  t.pass();
});
