import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { apiUrl, RunnerClient } from '../../runner/client.ts';
import { makePayload } from '../support/build-payload.ts';
import { partContent, reply } from '../support/fake-ci-server.ts';
import { fakeCiServer, fakeClient } from '../support/fake-ci-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const claim = { token: 'runner-token', executor: 'shell', wait: 0, signal: never() };

function never(): AbortSignal {
  return new AbortController().signal;
}

for (const url of ['http://h', 'http://h/', 'http://h/ci', 'http://h/ci/', 'http://h/ci/api/v1/']) {
  test(`the API of ${url} is found`, (t) => {
    t.is(apiUrl(url), 'http://h/ci/api/v1/');
  });
}

test('a server below a path keeps it', (t) => {
  t.is(apiUrl('https://h/forge/ci'), 'https://h/forge/ci/api/v1/');
});

test('a claim tells what the runner is and how long it can wait', async (t) => {
  const server = await fakeCiServer(t);
  const payload = makePayload();
  server.enqueue(payload);
  const answer = await fakeClient(server).claimBuild({ ...claim, wait: 50 });
  t.deepEqual(answer, { kind: 'build', build: payload });
  const [request] = server.requests('POST', /register/);
  t.is(request?.headers.prefer, 'wait=50');
  t.is(request?.headers['content-type'], 'application/json');
  t.deepEqual(JSON.parse(String(request?.body)), {
    token: 'runner-token',
    info: { name: 'test', version: '1', executor: 'shell' },
  });
});

for (const [status, kind] of [
  [204, 'none'],
  [404, 'none'],
  [409, 'none'],
  [403, 'forbidden'],
  [500, 'unavailable'],
  [502, 'unavailable'],
  [302, 'unavailable'],
] as const) {
  test(`a claim answered ${status} is ${kind}`, async (t) => {
    const server = await fakeCiServer(t);
    server.intercept = (_request, response) => {
      reply(response, status);
      return true;
    };
    t.is((await fakeClient(server).claimBuild({ ...claim, signal: never() })).kind, kind);
    t.is(server.seen.length, 1);
  });
}

test('a claim whose connection breaks is unavailable', async (t) => {
  const server = await fakeCiServer(t);
  server.intercept = (_request, response) => {
    response.destroy();
    return true;
  };
  t.is((await fakeClient(server).claimBuild({ ...claim, signal: never() })).kind, 'unavailable');
});

test('a claim at a server that is not there is unavailable', async (t) => {
  const client = new RunnerClient({ url: 'http://127.0.0.1:1', info: {} });
  t.is((await client.claimBuild(claim)).kind, 'unavailable');
});

test('a stop ends a claim that waits', async (t) => {
  const server = await fakeCiServer(t);
  const controller = new AbortController();
  const claimed = fakeClient(server).claimBuild({ ...claim, wait: 50, signal: controller.signal });
  await server.until(() => server.seen.length === 1);
  controller.abort();
  await t.throwsAsync(claimed, { any: true });
});

test('a build that cannot be read is told apart, with its id', async (t) => {
  const server = await fakeCiServer(t);
  server.intercept = (_request, response) => {
    reply(response, 201, { ...makePayload({ id: 12 }), timeout: 'long' });
    return true;
  };
  t.like(await fakeClient(server).claimBuild({ ...claim, signal: never() }), { kind: 'unreadable', id: 12 });
});

test('an answer that is no JSON is an unreadable build', async (t) => {
  const server = await fakeCiServer(t);
  server.intercept = (_request, response) => {
    response.writeHead(201).end('<html>');
    return true;
  };
  t.like(await fakeClient(server).claimBuild({ ...claim, signal: never() }), {
    kind: 'unreadable',
    id: null,
  });
});

test('registration, verification and removal speak with the server', async (t) => {
  const server = await fakeCiServer(t);
  const client = fakeClient(server);
  const wanted = {
    registrationToken: 'right',
    description: 'box',
    tags: ['a', 'b'],
    runUntagged: false,
    locked: true,
  };
  t.is((await client.registerRunner(wanted)).id, 7);
  t.deepEqual(JSON.parse(String(server.seen[0]?.body)), {
    token: 'right',
    description: 'box',
    tag_list: 'a,b',
    run_untagged: false,
    locked: true,
    info: { name: 'test', version: '1' },
  });
  await t.throwsAsync(client.registerRunner({ ...wanted, registrationToken: 'wrong' }), { message: /403/ });
  t.is(await client.verifyRunner('known'), 'alive');
  t.is(await client.unregisterRunner('known'), 'removed');
  t.is(await client.unregisterRunner('wrong'), 'unknown');
  server.intercept = (_request, response) => {
    reply(response, 403);
    return true;
  };
  t.is(await client.verifyRunner('gone'), 'removed');
});

for (const [status, kind] of [
  [200, 'done'],
  [403, 'gone'],
  [404, 'gone'],
  [400, 'unavailable'],
  [500, 'unavailable'],
] as const) {
  test(`a state answered ${status} is ${kind}`, async (t) => {
    const server = await fakeCiServer(t);
    server.intercept = (_request, response) => {
      reply(response, status);
      return true;
    };
    const answer = await fakeClient(server).updateBuild({ buildId: 1, token: 'x', state: 'success' });
    t.is(answer.kind, kind);
  });
}

function upload(content = 'zip bytes') {
  return {
    buildId: 1,
    token: 'build-token',
    filename: 'a"b.zip',
    content: () => Readable.from([Buffer.from(content)], { objectMode: false }),
    signal: never(),
  };
}

test('an upload is one multipart file', async (t) => {
  const server = await fakeCiServer(t);
  const build = server.add(makePayload({ id: 1 }));
  await fakeClient(server).uploadArtifacts(upload());
  t.is(partContent(build.upload ?? Buffer.alloc(0)).toString(), 'zip bytes');
  t.true(server.seen[0]?.body.includes('name="file"; filename="a_b.zip"'));
});

for (const [status, tries] of [
  [403, 1],
  [404, 1],
  [413, 1],
  [400, 3],
  [500, 3],
] as const) {
  test(`an upload answered ${status} is tried ${tries} times`, async (t) => {
    const server = await fakeCiServer(t);
    server.intercept = (_request, response) => {
      reply(response, status);
      return true;
    };
    await t.throwsAsync(fakeClient(server).uploadArtifacts(upload()), { message: new RegExp(`${status}`) });
    t.is(server.seen.length, tries);
  });
}

test('an upload that fails once is sent whole again', async (t) => {
  const server = await fakeCiServer(t);
  const build = server.add(makePayload({ id: 1 }));
  server.intercept = (_request, response) => {
    if (server.seen.length > 1) return false;
    response.destroy();
    return true;
  };
  await fakeClient(server).uploadArtifacts(upload());
  t.is(partContent(build.upload ?? Buffer.alloc(0)).toString(), 'zip bytes');
});

for (const status of [429, 502, 503, 504]) {
  test(`an upload waits for a server that answers ${status}`, async (t) => {
    const server = await fakeCiServer(t);
    const build = server.add(makePayload({ id: 1 }));
    server.intercept = (_request, response) => {
      if (server.seen.length > 7) return false;
      reply(response, status);
      return true;
    };
    await fakeClient(server).uploadArtifacts(upload());
    t.is(server.seen.length, 8);
    t.is(partContent(build.upload ?? Buffer.alloc(0)).toString(), 'zip bytes');
  });
}

test('an upload waits for a server that is not there', async (t) => {
  const server = await fakeCiServer(t);
  const build = server.add(makePayload({ id: 1 }));
  const port = Number(new URL(server.url).port);
  await server.stop();
  let tries = 0;
  const content = () => {
    tries += 1;
    if (tries === 6) server.start(port).catch(t.fail);
    return Readable.from([Buffer.from(`try ${tries}`)], { objectMode: false });
  };
  const client = new RunnerClient({ url: `http://127.0.0.1:${port}`, info: {}, retryPause: 5 });
  await client.uploadArtifacts({ ...upload(), content });
  t.true(tries > 5);
  t.is(partContent(build.upload ?? Buffer.alloc(0)).toString(), `try ${tries}`);
});

test('waiting for a server ends when it lasts too long, or at a stop', async (t) => {
  const away = { url: 'http://127.0.0.1:1', info: {}, retryPause: 1 };
  const impatient = new RunnerClient({ ...away, patience: 20 });
  await t.throwsAsync(impatient.uploadArtifacts(upload()), { message: /ECONNREFUSED/ });
  const controller = new AbortController();
  let tries = 0;
  const content = () => {
    tries += 1;
    if (tries === 3) controller.abort(new Error('stopped'));
    return Readable.from([]);
  };
  const stopped = new RunnerClient(away).uploadArtifacts({ ...upload(), content, signal: controller.signal });
  await t.throwsAsync(stopped, { message: 'stopped' });
});

test('what the server says is told once', async (t) => {
  const server = await fakeCiServer(t);
  server.intercept = (_request, response) => {
    reply(response, 403, { message: '403 Forbidden' });
    return true;
  };
  const error = await t.throwsAsync(fakeClient(server).uploadArtifacts(upload()));
  t.is(error?.message, 'the server answered 403 Forbidden');
  server.intercept = (_request, response) => {
    reply(response, 413, { message: 'too large' });
    return true;
  };
  const other = await t.throwsAsync(fakeClient(server).uploadArtifacts(upload()));
  t.is(other?.message, 'the server answered 413 too large');
});

test('a refusal before the archive has been sent ends the reading', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(413, { Connection: 'close' }).end('{"message":"413 too large"}');
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let opened = 0;
  const streams: Readable[] = [];
  const content = () => {
    opened += 1;
    const stream = new Readable({
      read() {
        setImmediate(() => this.push(Buffer.alloc(65536)));
      },
    });
    streams.push(stream);
    return stream;
  };
  const client = new RunnerClient({ url: `http://127.0.0.1:${port}`, info: {}, retryPause: 1 });
  await t.throwsAsync(client.uploadArtifacts({ ...upload(), content }));
  // The connection may break before the answer is read: that looks like a passing fault.
  t.true(opened <= 3);
  t.true(streams.every((stream) => stream.destroyed));
});

test('a download is written to its file', async (t) => {
  const server = await fakeCiServer(t);
  server.archives.set(4, Buffer.from('archive'));
  const file = join(await temporaryFolder(t), 'a.zip');
  await fakeClient(server).downloadArtifacts({ buildId: 4, token: 'build-token', file, signal: never() });
  t.is(await readFile(file, 'utf8'), 'archive');
  t.is(server.seen[0]?.headers['build-token'], 'build-token');
});

test('a download waits for a server that is away', async (t) => {
  const server = await fakeCiServer(t);
  server.archives.set(4, Buffer.from('archive'));
  server.intercept = (_request, response) => {
    if (server.seen.length > 5) return false;
    reply(response, 503);
    return true;
  };
  const file = join(await temporaryFolder(t), 'a.zip');
  await fakeClient(server).downloadArtifacts({ buildId: 4, token: 'x', file, signal: never() });
  t.is(await readFile(file, 'utf8'), 'archive');
});

test('a download that breaks off is made again', async (t) => {
  const server = await fakeCiServer(t);
  server.archives.set(4, Buffer.from('archive'));
  server.intercept = (_request, response) => {
    if (server.seen.length > 1) return false;
    response.writeHead(200, { 'Content-Length': 100 }).write('arch', () => response.destroy());
    return true;
  };
  const file = join(await temporaryFolder(t), 'a.zip');
  await fakeClient(server).downloadArtifacts({ buildId: 4, token: 'x', file, signal: never() });
  t.is(await readFile(file, 'utf8'), 'archive');
});

for (const [status, tries] of [
  [403, 1],
  [404, 1],
  [500, 3],
] as const) {
  test(`a download answered ${status} is tried ${tries} times`, async (t) => {
    const server = await fakeCiServer(t);
    server.intercept = (_request, response) => {
      reply(response, status);
      return true;
    };
    const file = join(await temporaryFolder(t), 'a.zip');
    const download = { buildId: 4, token: 'x', file, signal: never() };
    await t.throwsAsync(fakeClient(server).downloadArtifacts(download), { message: new RegExp(`${status}`) });
    t.is(server.seen.length, tries);
  });
}
