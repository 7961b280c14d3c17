import type { AddressInfo } from 'node:net';
import test from 'ava';
import { createHttpServer } from '../../server/http/http-server.ts';
import { exchange, RawSocket } from '../support/raw-socket.ts';

const server = createHttpServer({ headersTimeoutMs: 400 });
let url = '';

test.before(async () => {
  server.on('request', (request, response) => {
    request.resume().once('end', () => response.setHeader('Content-Length', 2).end('ok'));
    request.once('error', () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
test.after.always(() => {
  server.closeAllConnections();
  server.close();
});

/** What the one form of an error says. */
function message(body: string | undefined): unknown {
  return JSON.parse(body ?? '').message;
}

test('headers that never come to an end are answered in time, and others are served meanwhile', async (t) => {
  const slow = new RawSocket(url);
  await slow.send('GET / HTTP/1.1\r\nHost: x\r\nX-One: ');
  const dripping = setInterval(() => void slow.send('a'), 50);
  const [fine] = await exchange(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  t.is(fine?.status, 200);
  const [answer] = await slow.answers();
  clearInterval(dripping);
  t.is(answer?.status, 408);
  t.is(message(answer?.body), '408 Request Timeout');
  t.true(answer?.head.includes('content-type: application/json'));
});

test('a body may take longer than headers', async (t) => {
  const slow = new RawSocket(url);
  await slow.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n');
  for (let count = 0; count < 30; count += 1) {
    await slow.send('a');
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  t.is((await slow.answers())[0]?.status, 200);
  slow.close();
});

const unreadable: Record<string, [string, number, string]> = {
  'no HTTP': ['hello\r\n\r\n', 400, '400 Bad Request'],
  TLS: ['\x16\x03\x01\x02\x00\x01\x00\x01', 400, '400 Bad Request'],
  'an unknown method': ['HACK / HTTP/1.1\r\nHost: x\r\n\r\n', 400, '400 Bad Request'],
  'no host': ['GET / HTTP/1.1\r\n\r\n', 400, ''],
  'NUL in a header': ['GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n', 400, '400 Bad Request'],
  'NUL in the target': ['GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n', 400, '400 Bad Request'],
  'two lengths': [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
    '400 Bad Request',
  ],
  'a length that is no number': [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    400,
    '400 Bad Request',
  ],
  'a length beyond counting': [
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n`,
    400,
    '400 Bad Request',
  ],
  'a length and chunks': [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    '400 Bad Request',
  ],
  'a chunk size that is none': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n',
    400,
    '400 Bad Request',
  ],
  'a chunk that is longer than it says': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcdef\r\n0\r\n\r\n',
    400,
    '400 Bad Request',
  ],
  'a header that is too large': [
    `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(100_000)}\r\n\r\n`,
    431,
    '431 Request Header Fields Too Large',
  ],
  'a target that is too long': [
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    431,
    '431 Request Header Fields Too Large',
  ],
  'an expectation that nobody has': [
    'GET / HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n\r\n',
    417,
    '417 Expectation Failed',
  ],
};

for (const [name, [bytes, status, text]] of Object.entries(unreadable)) {
  test(`what is no request is refused in the one form: ${name}`, async (t) => {
    const [answer] = await exchange(url, Buffer.from(bytes, 'latin1'));
    t.is(answer?.status, status);
    if (text !== '') t.is(message(answer?.body), text);
    t.is((await exchange(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'))[0]?.status, 200);
  });
}

test('requests one behind the other are answered one behind the other', async (t) => {
  const one = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc';
  const answers = await exchange(url, one.repeat(50), 50);
  t.deepEqual(
    answers.map(({ status }) => status),
    new Array(50).fill(200),
  );
});

test('a client that waits to be told may send its body', async (t) => {
  const connection = new RawSocket(url);
  await connection.send('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n');
  t.is((await connection.answers())[0]?.status, 100);
  await connection.send('abc');
  t.is((await connection.answers(2))[1]?.status, 200);
  connection.close();
});
