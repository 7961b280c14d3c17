import { Agent, request } from 'node:http';
import test from 'ava';
import { archiveTrace } from '../../server/actions/archive-trace.ts';
import { withApp } from '../support/app.ts';
import { rawHttp } from '../support/raw-http.ts';
import { callsOf, type RunningBuild, runningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 8 });

function traceUrl({ build }: RunningBuild): string {
  return `${holder.app.url}/ci/api/v1/builds/${build.id}/trace.txt`;
}

test.serial('every way to write Content-Range is read, and its end plays no part', async (t) => {
  const setting = await runningBuild(holder.app);
  let length = 0;
  const send = async (range: string) => {
    const headers = { 'Build-Token': setting.build.token, 'Content-Range': range };
    return rawHttp(traceUrl(setting), 'PATCH', { headers, body: 'abcde' });
  };
  const forms = [
    'S-E',
    'bytes S-E',
    'bytes S-E/*',
    'bytes S-E/99',
    'S-E/*',
    'Bytes S-E',
    ' S-E ',
    'S-',
    'S-0',
    'S-999999',
  ];
  for (const form of forms) {
    for (const end of [length + 4, length + 5]) {
      const answer = await send(form.replace('S', String(length)).replace('E', String(end)));
      t.is(answer.status, 202, form);
      length += 5;
      t.is(answer.headers.range, `0-${length}`);
    }
  }
  t.is((await send(`00${length}-`)).status, 202, 'leading zeros');
  const bad = [
    'abc',
    '-',
    '-5',
    '-1-5',
    '1.5-9',
    '0x5-9',
    '1e3-2',
    '5',
    'bytes 5',
    '9'.repeat(30).concat('-'),
    '1-2-3',
    '1,2-3',
  ];
  for (const form of bad) {
    const answer = await send(form);
    t.is(answer.status, 400, form);
    t.is(typeof (answer.json as { message: unknown }).message, 'string');
  }
  t.is((await send('999999999999999-')).status, 416, 'as far away as can be written');
  t.is((await setting.read()).text, 'abcde'.repeat(forms.length * 2 + 1));
});

test.serial(
  'a start that is too small or too large, and parts of nothing, leave the trace as it is',
  async (t) => {
    const setting = await runningBuild(holder.app);
    await setting.patch(0, 'abcdef');
    for (const [start, body, status] of [
      [0, 'abcdef', 416],
      [5, 'f', 416],
      [7, 'h', 416],
      [0, '', 416],
      [5, '', 416],
      [7, '', 416],
      [6, '', 202],
      [6, '', 202],
    ] as const) {
      const answer = await setting.patch(start, body);
      t.is(answer.status, status, `${start} ${body}`);
      t.is(answer.headers.range, '0-6');
    }
    t.is((await setting.read()).text, 'abcdef');
  },
);

test.serial(
  'two writers that race: one takes each place, and the trace is what the winners were told',
  async (t) => {
    const setting = await runningBuild(holder.app);
    const taken: [number, string][] = [];
    const lost: number[] = [];
    const writer = async (name: string) => {
      for (let round = 0, length = 0; round < 60; round += 1) {
        const body = `${name}${round}${name.repeat(round % 7)}\n`;
        const answer = await setting.patch(length, body);
        const told = Number(/^0-(\d+)$/.exec(String(answer.headers.range))?.[1]);
        if (answer.status === 202) {
          t.is(told, length + body.length);
          taken.push([length, body]);
        } else {
          t.is(answer.status, 416);
          t.true(told > length, 'somebody else was there before');
          lost.push(length);
        }
        length = told;
      }
    };
    await Promise.all([writer('a'), writer('b'), writer('c')]);
    t.is(taken.length + lost.length, 180);
    t.true(lost.length > 0, 'they did meet');
    const inOrder = taken.sort(([one], [other]) => one - other);
    t.is((await setting.read()).text, inOrder.map(([, body]) => body).join(''));
    let end = 0;
    for (const [start, body] of inOrder) {
      t.is(start, end);
      end += body.length;
    }
  },
);

test.serial(
  'a whole trace that races with parts is there as a whole, and parts go on behind it',
  async (t) => {
    for (let round = 0; round < 10; round += 1) {
      const setting = await runningBuild(holder.app);
      await setting.patch(0, 'old old old');
      const whole = 'the whole trace\n'.repeat(1 + round);
      const [replaced, late, behind] = await Promise.all([
        setting.put({ trace: whole }),
        setting.patch(11, 'more'),
        setting.patch(whole.length, 'rest'),
      ]);
      t.is(replaced.status, 200);
      const expected = [whole, ...(behind.status === 202 ? ['rest'] : [])].join('');
      const { text } = await setting.read();
      // A part that came before is replaced with the others; one can also land where the whole trace ends.
      t.true(text === expected || (late.status === 202 && text === `${whole}more`), text);
      t.is((await setting.patch(text.length, '!')).headers.range, `0-${text.length + 1}`);
    }
  },
);

test.serial('a part that is too large is refused, and the connection goes on', async (t) => {
  const setting = await runningBuild(holder.app);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports: (number | undefined)[] = [];
  const send = (start: number, body: Buffer) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const headers = {
        'Build-Token': setting.build.token,
        'Content-Range': `${start}-`,
        'Content-Length': body.length,
      };
      const outgoing = request(traceUrl(setting), { method: 'PATCH', agent, headers });
      outgoing.on('socket', (socket) => socket.once('data', () => ports.push(socket.localPort)));
      outgoing.on('error', reject).on('response', async (response) => {
        const text = (await response.setEncoding('utf8').toArray()).join('');
        resolve({ status: response.statusCode, text });
      });
      outgoing.end(body);
    });
  const limit = 16 * 1024 * 1024;
  t.is((await send(0, Buffer.from('abc'))).status, 202);
  for (const size of [limit + 1, 40 * 1024 * 1024]) {
    t.deepEqual(await send(3, Buffer.alloc(size, 'x')), {
      status: 413,
      text: '{"message":"413 Request Entity Too Large"}',
    });
    t.is((await send(3, Buffer.alloc(0))).status, 202);
  }
  t.is((await send(3, Buffer.alloc(limit, 'y'))).status, 202);
  t.is(new Set(ports).size, 1, 'all over one connection');
  t.is((await setting.read('bytes=3-')).bytes.length, limit);
  agent.destroy();
});

test.serial(
  'late parts: taken within the grace, dropped after it, 403 once the build is erased',
  async (t) => {
    const setting = await runningBuild(holder.app);
    await setting.patch(0, 'abc');
    await setting.put({ state: 'failed' });
    const inGrace = await setting.patch(3, 'def');
    t.is(inGrace.status, 202);
    t.is(inGrace.headers['build-status'], 'failed');
    await holder.app.runAllTasks();
    for (const [start, body, status] of [
      [6, 'ghi', 202],
      [6, '', 202],
      [7, 'x', 416],
      [3, 'def', 416],
    ] as const) {
      const answer = await setting.patch(start, body);
      t.is(answer.status, status);
      t.is(answer.headers.range, '0-6', 'the truth, whatever was sent');
      if (status === 202) t.is(answer.headers['build-status'], 'failed');
    }
    t.is((await setting.put({ state: 'failed', trace: 'other' })).status, 200, 'the same end again');
    t.is((await setting.put({ state: 'success', trace: 'other' })).status, 404);
    t.is((await setting.read()).text, 'abcdef');
    await setting.act('erase');
    for (const start of [0, 6]) t.is((await setting.patch(start, 'late')).status, 403);
    t.is((await setting.read()).text, '');
  },
);

test.serial('a build that waits keeps its parts until a runner begins with its own', async (t) => {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project);
  const waiting = callsOf(holder.app, { project, build, runner });
  for (const [index, body] of ['one ', 'two'].entries()) {
    const answer = await waiting.patch(index * 4, body);
    t.is(answer.status, 202);
    t.is(answer.headers['build-status'], 'pending');
  }
  t.is((await waiting.read()).text, 'one two');
  await rawHttp(`${holder.app.url}/ci/api/v1/builds/register`, 'POST', { json: { token: runner.token } });
  const first = await waiting.patch(0, 'mine');
  t.is(first.status, 416);
  t.is(first.headers.range, '0-7', 'it learns what is there, as after a lost answer');
});

test.serial('readers at every offset and writers see one sequence while the trace is moved', async (t) => {
  const setting = await runningBuild(holder.app);
  const part = (index: number) => `part ${index} ${'.'.repeat(index * 37)}\n`;
  let expected = '';
  for (let index = 0; index < 60; index += 1) {
    await setting.patch(expected.length, part(index));
    expected += part(index);
  }
  await setting.put({ state: 'success' });
  let isOver = false;
  const reader = async (step: number) => {
    for (let at = step; !isOver; at = (at * 7 + step) % expected.length) {
      const answer = await setting.read(`bytes=${at}-`);
      t.is(answer.status, at === 0 ? 200 : 206);
      const seen = answer.text;
      // What is written meanwhile may be there or not.
      t.is(seen.slice(0, expected.length - at), expected.slice(at, at + seen.length));
    }
  };
  const whole = expected;
  const late: string[] = [];
  const writer = async () => {
    for (let index = 0; index < 10; index += 1) {
      const answer = await setting.patch(whole.length + late.join('').length, `late ${index}\n`);
      t.is(answer.status, 202);
      const length = Number(String(answer.headers.range).slice(2));
      if (length > whole.length + late.join('').length) late.push(`late ${index}\n`);
    }
  };
  const mover = async () => {
    for (let isMoved = false; !isMoved; ) isMoved = await archiveTrace(holder.app.work, setting.build.id);
  };
  const reading = Promise.all([reader(1), reader(1009)]);
  await Promise.all([writer(), mover()]);
  await mover();
  await setting.read();
  isOver = true;
  await reading;
  expected = whole + late.join('');
  t.is((await setting.read()).text, expected);
  for (const at of [1, whole.length - 1, whole.length, expected.length - 1].filter(
    (start) => start < expected.length,
  )) {
    t.is((await setting.read(`bytes=${at}-`)).text, expected.slice(at), `from ${at}`);
  }
  t.is((await setting.read(`bytes=${expected.length}-`)).status, 416);
});
