import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { Trace, type TraceOptions } from '../../../runner/job/trace.ts';
import { makePayload } from '../../support/build-payload.ts';
import { type FakeBuild, type FakeCiServer, type Intercept, reply } from '../../support/fake-ci-server.ts';
import { fakeApi, fakeCiServer, quickTrace } from '../../support/fake-ci-test.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

interface Opened {
  server: FakeCiServer;
  build: FakeBuild;
  trace: Trace;
  stops: string[];
  spoolFile: string;
}

async function open(t: ExecutionContext, options: Partial<TraceOptions> = {}): Promise<Opened> {
  const server = await fakeCiServer(t);
  return openAt(t, server, options);
}

async function openAt(
  t: ExecutionContext,
  server: FakeCiServer,
  options: Partial<TraceOptions> = {},
): Promise<Opened> {
  const build = server.add(makePayload());
  const stops: string[] = [];
  const spoolFile = join(await temporaryFolder(t), 'spool', 'trace.log');
  const trace = await Trace.open({
    api: fakeApi(server, build.payload),
    spoolFile,
    secrets: [],
    outputLimit: 1e9,
    onStop: (why) => stops.push(why),
    timing: quickTrace,
    ...options,
  });
  t.teardown(async () => {
    await trace.finish(false);
    await trace.close();
  });
  return { server, build, trace, stops, spoolFile };
}

/** Answers the first request that matches; later ones take the usual way. */
function once(method: string, intercept: Intercept): Intercept {
  let isDone = false;
  return (request, response) => {
    if (isDone || request.method !== method) return false;
    isDone = true;
    return intercept(request, response);
  };
}

test('what is written arrives, in order, while the build runs', async (t) => {
  const { server, build, trace } = await open(t);
  await trace.write('one\n');
  await trace.output(Buffer.from('two\n'));
  await server.until(() => build.trace.toString() === 'one\ntwo\n');
  await trace.write('three\n');
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), 'one\ntwo\nthree\n');
});

test('the first output leaves at once, what follows is gathered', async (t) => {
  const anHour = 3_600_000;
  const timing = { ...quickTrace, flush: anHour, poll: anHour };
  const { server, build, trace } = await open(t, { timing });
  await trace.write('one\n');
  await server.until(() => build.trace.length === 4);
  await trace.write('two\n');
  await trace.write('three\n');
  t.true(await trace.finish(true));
  const parts = server.requests('PATCH', /trace/).map((request) => request.body.toString());
  t.deepEqual(parts, ['one\n', 'two\nthree\n']);
});

test('each part names the byte it starts at', async (t) => {
  const { server, build, trace } = await open(t);
  await trace.write('é\n');
  await server.until(() => build.trace.length === 3);
  await trace.write('next');
  await trace.finish(true);
  const ranges = server.requests('PATCH', /trace/).filter((request) => request.body.length > 0);
  t.deepEqual(
    ranges.map((request) => request.headers['content-range']),
    ['0-3', '3-7'],
  );
  t.is(ranges[0]?.headers['build-token'], build.payload.token);
});

test('without output empty parts show that the build is alive', async (t) => {
  const { server, trace } = await open(t);
  await server.until(() => server.requests('PATCH', /trace/).length >= 3);
  t.true(server.seen.every((request) => request.body.length === 0));
  t.true(await trace.finish(true));
});

test('a cancel in the answer stops the build once, and the rest is still sent', async (t) => {
  const { server, build, trace, stops } = await open(t);
  build.status = 'canceled';
  await server.until(() => stops.length > 0);
  await trace.write('last words\n');
  await trace.finish(false);
  t.deepEqual(stops, ['canceled']);
  t.is(build.trace.toString(), 'last words\n');
});

for (const status of [403, 404]) {
  test(`${status} means that the build is not ours any more`, async (t) => {
    const { server, trace, stops } = await open(t);
    server.intercept = (_request, response) => {
      reply(response, status);
      return true;
    };
    await server.until(() => stops.length > 0);
    await trace.write('unwanted');
    t.false(await trace.finish(true));
    t.deepEqual(stops, ['gone']);
  });
}

/** A server that knows the build but has no call for parts of a trace. */
const withoutParts: Intercept = (request, response) => {
  if (request.method === 'PATCH') reply(response, 404);
  return request.method === 'PATCH';
};

test('a server without the call for parts gets the whole trace, again whenever it has grown', async (t) => {
  const server = await fakeCiServer(t);
  server.intercept = withoutParts;
  const { build, trace, stops } = await openAt(t, server);
  await trace.write('one\n');
  await server.until(() => build.trace.toString() === 'one\n');
  await trace.write('two\n');
  await server.until(() => build.trace.toString() === 'one\ntwo\n');
  await trace.output(Buffer.from([0xff]));
  await trace.write('end\n');
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), 'one\ntwo\n\ufffd\nend\n');
  t.is(server.requests('PATCH', /trace/).length, 1);
  t.deepEqual(stops, []);
});

test('while the whole trace is sent, a silent build still shows that it is alive, without the trace', async (t) => {
  const server = await fakeCiServer(t);
  server.intercept = withoutParts;
  const { trace } = await openAt(t, server);
  await trace.write('one\n');
  const bodies = () => server.requests('PUT', /builds/).map((request) => String(request.body));
  await server.until(() => bodies().filter((body) => !body.includes('"trace"')).length >= 2);
  t.is(bodies().filter((body) => body.includes('one')).length, 1);
});

test('a server without the call for parts may be away for a while', async (t) => {
  const server = await fakeCiServer(t);
  let faults = 0;
  server.intercept = (request, response) => {
    if (request.method === 'PUT' && faults < 3) {
      faults += 1;
      reply(response, 502);
      return true;
    }
    return withoutParts(request, response);
  };
  const { build, trace, stops } = await openAt(t, server);
  await trace.write('kept');
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), 'kept');
  t.deepEqual(stops, []);
});

for (const fault of [400, 409, 500, 502, 'dropped'] as const) {
  test(`after ${fault} the same part is sent again`, async (t) => {
    const server = await fakeCiServer(t);
    let faults = 0;
    server.intercept = (request, response) => {
      if (request.body.length === 0 || faults === 3) return false;
      faults += 1;
      if (fault === 'dropped') response.destroy();
      else reply(response, fault);
      return true;
    };
    const { build, trace, stops } = await openAt(t, server);
    await trace.write('kept');
    t.true(await trace.finish(true));
    t.is(build.trace.toString(), 'kept');
    t.is(faults, 3);
    t.deepEqual(stops, []);
  });
}

test('when the answer is lost, what the server has is not sent twice', async (t) => {
  const server = await fakeCiServer(t);
  const { build, trace } = await openAt(t, server);
  let isLost = false;
  server.intercept = (request, response) => {
    if (request.body.length === 0 || isLost) return false;
    isLost = true;
    build.trace = Buffer.concat([build.trace, request.body]);
    response.destroy();
    return true;
  };
  await trace.write('first ');
  await server.until(() => isLost);
  await trace.output(Buffer.from('second'));
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), 'first second');
});

test('a server that has less gets the missing part again', async (t) => {
  const { server, build, trace } = await open(t);
  await trace.write('0123456789');
  await server.until(() => build.trace.length === 10);
  build.trace = build.trace.subarray(0, 4);
  await trace.output(Buffer.from('abc'));
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), '0123456789abc');
});

test('a server that has more gets the whole trace', async (t) => {
  const { build, trace } = await open(t);
  build.trace = Buffer.from('something of somebody else that is longer');
  await trace.write('ours');
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), 'ours');
});

test('the whole trace may hold bytes that are no text, and goes on after that', async (t) => {
  const { server, build, trace } = await open(t);
  build.trace = Buffer.from('x'.repeat(100));
  await trace.output(Buffer.from([0xff, 0xfe]));
  await server.until(() => server.requests('PUT', /builds/).length > 0);
  await trace.output(Buffer.from(' end'));
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), '\ufffd\ufffd end');
});

test('a 416 that names no length ends well', async (t) => {
  const server = await fakeCiServer(t);
  server.intercept = once('PATCH', (_request, response) => {
    reply(response, 416);
    return true;
  });
  const { build, trace } = await openAt(t, server);
  await trace.write('text');
  t.true(await trace.finish(true));
  t.is(build.trace.toString(), 'text');
});

test('output beyond the limit is dropped after one notice, the last lines are kept', async (t) => {
  const { build, trace } = await open(t, { outputLimit: 10 });
  await trace.output(Buffer.from('123456'));
  await trace.output(Buffer.from('789abcdef'));
  await trace.output(Buffer.from('never'));
  await trace.write('Job succeeded\n');
  await trace.finish(true);
  const text = build.trace.toString();
  t.true(text.startsWith('123456789a\n'));
  t.is(text.split('exceeded').length, 2);
  t.false(text.includes('never'));
  t.true(text.endsWith('Job succeeded\n'));
});

test('a secret that the limit cuts in two is dropped with the rest', async (t) => {
  const { build, trace } = await open(t, { outputLimit: 12, secrets: ['topsecret'] });
  await trace.output(Buffer.from('so: topsecret and more'));
  await trace.finish(true);
  t.regex(build.trace.toString(), /^so: \n.*exceeded/);
  t.false(build.trace.toString().includes('top'));
});

test('words of the runner stand on a line of their own', async (t) => {
  const { build, trace } = await open(t);
  await trace.output(Buffer.from('prompt> '));
  await trace.write('Job succeeded\n');
  await trace.finish(true);
  t.is(build.trace.toString(), 'prompt> \nJob succeeded\n');
});

test('secrets are masked before anything leaves, also across two writes', async (t) => {
  const { server, build, trace } = await open(t, { secrets: ['topsecret'] });
  await trace.output(Buffer.from('a tops'));
  await server.until(() => build.trace.toString() === 'a ');
  await trace.output(Buffer.from('ecret b'));
  await trace.finish(true);
  t.is(build.trace.toString(), 'a [MASKED] b');
  t.false(server.seen.some((request) => request.body.includes('topsecret')));
});

test('what is held back as a possible secret appears at the end', async (t) => {
  const { build, trace } = await open(t, { secrets: ['topsecret'] });
  await trace.output(Buffer.from('a tops'));
  await trace.finish(true);
  t.is(build.trace.toString(), 'a tops');
});

test('an impatient end does not wait for a server that is away', async (t) => {
  const { server, trace } = await open(t);
  server.intercept = (_request, response) => {
    response.destroy();
    return true;
  };
  await trace.write('text');
  t.false(await trace.finish(false));
});

test('a part is at most a mebibyte', async (t) => {
  const { server, build, trace } = await open(t);
  const bytes = Buffer.alloc(3 * 2 ** 20 + 17, 'x');
  await trace.output(bytes);
  t.true(await trace.finish(true));
  t.is(build.trace.length, bytes.length);
  t.true(server.requests('PATCH', /trace/).every((request) => request.body.length <= 2 ** 20));
});

test('the spooled file holds the whole trace, with what was held back, as soon as that is asked for', async (t) => {
  const { server, trace, spoolFile } = await open(t, { secrets: ['topsecret'] });
  server.intercept = (_request, response) => {
    reply(response, 503);
    return true;
  };
  await trace.write('text tops');
  await trace.flush();
  t.is(await readFile(spoolFile, 'utf8'), 'text tops');
});

test('whatever goes wrong on the way, the server ends with exactly what was written', async (t) => {
  const server = await fakeCiServer(t);
  const faults = fc.constantFrom('none', 'none', 'error', 'drop', 'lost', 'forget');
  const writes = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(writes, fc.array(faults, { maxLength: 12 }), async (chunks, plan) => {
      const { build, trace } = await openAt(t, server);
      const left = [...plan];
      server.intercept = (request, response) => {
        if (request.method !== 'PATCH') return false;
        return play(left.shift() ?? 'none', { build, body: request.body, request, response });
      };
      for (const chunk of chunks) await trace.output(Buffer.from(chunk));
      t.true(await trace.finish(true));
      t.deepEqual(build.trace, Buffer.concat(chunks));
    }),
    { numRuns: 60 },
  );
});

interface Play {
  build: FakeBuild;
  body: Buffer;
  request: Parameters<Intercept>[0];
  response: Parameters<Intercept>[1];
}

function play(fault: string, { build, body, request, response }: Play): boolean {
  if (fault === 'error') {
    reply(response, 500);
    return true;
  }
  if (fault === 'forget') build.trace = build.trace.subarray(0, Math.floor(build.trace.length / 2));
  if (
    fault === 'lost' &&
    Number.parseInt(String(request.headers['content-range']), 10) === build.trace.length
  ) {
    build.trace = Buffer.concat([build.trace, body]);
  }
  if (fault === 'lost' || fault === 'drop') response.destroy();
  return fault === 'lost' || fault === 'drop';
}
