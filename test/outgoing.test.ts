import dns, { type LookupAddress } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import test from 'ava';
import { OutgoingRefused, type OutgoingRequest, resolveAllowed, sendOutgoing } from '../server/outgoing.ts';
import { isPublicAddress, readWebAddress } from '../server/policy/public-address.ts';

/** What the resolver says of these names, call by call; asked again after the last, the last. */
const answers: Record<string, string[][]> = {};
const { lookup } = dns;
type Done = (error: null, addresses: LookupAddress[]) => void;
dns.lookup = ((name: string, options: object, done: Done) => {
  const given = answers[name];
  if (!given) return Reflect.apply(lookup, dns, [name, options, done]);
  const addresses = (given.length > 1 ? given.shift() : given[0]) ?? [];
  done(
    null,
    addresses.map((address) => ({ address, family: 4 })),
  );
}) as typeof lookup;
syncBuiltinESMExports();

const servers: (Server | NetServer)[] = [];
const sockets = new Set<Socket>();

test.after.always(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

function listen(server: Server | NetServer): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  return new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });
}

const serve = (listener: RequestListener) => listen(createServer(listener));

function post(url: string, given: Partial<OutgoingRequest> = {}) {
  const headers = { 'Content-Type': 'application/json' };
  const limits = { timeoutMs: 10_000, maxBytes: 100 };
  return sendOutgoing({
    url,
    method: 'POST',
    headers,
    body: '{}',
    allowPrivate: true,
    verifyTls: true,
    ...limits,
    ...given,
  });
}

test('only addresses of the public internet are public', (t) => {
  const own = [
    ['127.0.0.1', '127.255.0.1', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    [
      '169.254.169.254',
      '100.64.0.1',
      '100.100.100.200',
      '192.0.0.192',
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
    ],
    ['255.255.255.255', '168.63.129.16', '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:a00:1'],
    ['::ffff:0:7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:7f00:1::', 'fe80::1', 'fe80::1%eth0'],
    ['fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1', '2001:db8::1', '4000::1', 'no address', ''],
  ].flat();
  t.deepEqual(own.filter(isPublicAddress), []);
  const open = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '::ffff:8.8.8.8', '2001:4860:4860::8888', '2a00::1'];
  t.deepEqual(open.filter(isPublicAddress), open);
});

test('only addresses of the web can be called', (t) => {
  const bad = [
    '',
    'example.com',
    'ftp://a',
    'javascript:x',
    'http://',
    'http:///x',
    'http://a b',
    'https:x',
    'file:///x',
  ];
  t.deepEqual(
    bad.filter((text) => readWebAddress(text) !== null),
    [],
  );
  for (const url of ['http://a', 'HTTPS://user:pw@a.example:81/x?y#z', 'http://[::1]:1/'])
    t.truthy(readWebAddress(url), url);
});

test('names and numbers of this machine are refused, however they are written', async (t) => {
  const hosts = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    '::1',
    '[::ffff:127.0.0.1]',
    '0',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
  ];
  for (const host of hosts) {
    await t.throwsAsync(resolveAllowed(host, { allowPrivate: false }), { instanceOf: OutgoingRefused }, host);
    t.true((await resolveAllowed(host, { allowPrivate: true })).length > 0, host);
  }
  t.deepEqual(await resolveAllowed('8.8.8.8', { allowPrivate: false }), [{ address: '8.8.8.8', family: 4 }]);
});

test('what is refused is never connected to', async (t) => {
  let calls = 0;
  const port = await serve((_request, response) => {
    calls += 1;
    response.end();
  });
  const hosts = [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '127.1',
    '[::ffff:7f00:1]',
    '0.0.0.0',
  ];
  for (const host of hosts) {
    const sent = post(`http://${host}:${port}/`, { allowPrivate: false });
    await t.throwsAsync(sent, { instanceOf: OutgoingRefused }, host);
  }
  t.is(calls, 0);
  t.is((await post(`http://127.0.0.1:${port}/`)).status, 200);
});

test('the other side gets the body, the headers, and the user of the address', async (t) => {
  const got: { method?: string; url?: string; headers: Record<string, unknown>; body: string }[] = [];
  const port = await serve(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    got.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    response.writeHead(202).end('thanks');
  });
  const answer = await post(`http://ada:p%40ss@localhost:${port}/a?b=c#d`, { body: '{"ä":1}' });
  t.deepEqual(answer, { status: 202, body: 'thanks' });
  t.like(got[0], { method: 'POST', url: '/a?b=c', body: '{"ä":1}' });
  t.like(got[0]?.headers, {
    'content-type': 'application/json',
    'content-length': '8',
    authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
    host: `localhost:${port}`,
  });
});

test('a redirect is an answer, and nobody follows it', async (t) => {
  let calls = 0;
  const port = await serve((_request, response) => {
    calls += 1;
    response.writeHead(302, { Location: '/next' }).end();
  });
  t.is((await post(`http://127.0.0.1:${port}/`)).status, 302);
  t.is(calls, 1);
});

test('one that never answers, or drips its head, is given up', async (t) => {
  const silent = await listen(createNetServer(() => undefined));
  const dripping = await listen(
    createNetServer((socket) => {
      const timer = setInterval(() => socket.write('X'), 20);
      socket.on('close', () => clearInterval(timer));
      socket.write('HTTP/1.1 200 OK\r\nA: ');
    }),
  );
  for (const port of [silent, dripping]) {
    await t.throwsAsync(post(`http://127.0.0.1:${port}/`, { timeoutMs: 300 }), {
      message: 'no answer within 300 ms',
    });
  }
});

test('one that resets, ends or speaks no HTTP fails', async (t) => {
  const reset = await listen(createNetServer((socket) => socket.resetAndDestroy()));
  const mute = await listen(createNetServer((socket) => socket.end()));
  const odd = await listen(createNetServer((socket) => socket.end('SSH-2.0-x\r\n')));
  const headless = await listen(
    createNetServer((socket) => socket.write(`HTTP/1.1 200 OK\r\nA: ${'x'.repeat(100_000)}`)),
  );
  for (const port of [reset, mute, odd, headless]) await t.throwsAsync(post(`http://127.0.0.1:${port}/`));
  const closed = createNetServer();
  const port = await listen(closed);
  await new Promise((done) => closed.close(done));
  await t.throwsAsync(post(`http://127.0.0.1:${port}/`), { code: 'ECONNREFUSED' });
});

test('of a body without end a little is read, and the connection is closed', async (t) => {
  let sent = 0;
  const closed = new Promise<void>((done) => {
    void serve((_request, response) => {
      const send = () => {
        sent += 65_536;
        response.write('x'.repeat(65_536), (error) => error ?? send());
      };
      response.on('close', done);
      send();
    }).then(async (port) => {
      const answer = await post(`http://127.0.0.1:${port}/`);
      t.deepEqual(answer, { status: 200, body: 'x'.repeat(100) });
    });
  });
  await closed;
  t.true(sent < 64 * 1024 * 1024, 'not all that the other side had');
});

test('a body that does not end in time, or breaks off, leaves the answer standing', async (t) => {
  const slow = await serve((_request, response) => response.writeHead(201).write('begun'));
  t.deepEqual(await post(`http://127.0.0.1:${slow}/`, { timeoutMs: 300 }), { status: 201, body: 'begun' });
  const broken = await listen(
    createNetServer((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab', () => socket.destroy()),
      );
    }),
  );
  t.deepEqual(await post(`http://127.0.0.1:${broken}/`), { status: 200, body: 'ab' });
});

test('a name is asked once, so that a second answer cannot lead elsewhere', async (t) => {
  const port = await serve((_request, response) => response.end('reached'));
  answers['turning.example'] = [['127.0.0.1'], ['127.0.0.2']];
  t.is((await post(`http://turning.example:${port}/`)).body, 'reached');
  t.deepEqual(answers['turning.example'], [['127.0.0.2']]);
});

test('of several addresses only those that may be reached are taken', async (t) => {
  answers['mixed.example'] = [['10.0.0.1', '8.8.8.8', '127.0.0.1']];
  const found = await resolveAllowed('mixed.example', { allowPrivate: false });
  t.deepEqual(found, [{ address: '8.8.8.8', family: 4 }]);
  answers['inside.example'] = [['10.0.0.1']];
  await t.throwsAsync(post('https://inside.example/', { allowPrivate: false }), {
    instanceOf: OutgoingRefused,
  });
});
