import type { Server } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { methods, serveFrame } from './frame-endpoints.ts';
import { multipart, type RawRequest, send } from './send.ts';

const holder = withApp();

let frame: { url: string; server: Server };
test.serial.before(async () => {
  frame = await serveFrame(holder.app.services);
});
test.after.always(() => frame.server.close());

async function ask(request: RawRequest) {
  const answer = await send(frame.url, request);
  return { ...answer, body: answer.text === '' ? null : JSON.parse(answer.text) };
}

const json = { 'Content-Type': 'application/json' };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const wanted = { name: 'a b', number: 40, yes: true, labels: ['x', 'y'] };

/** Of what is no list, the last counts. */
const twice = 'labels=x&name=c&name=a%20b&number=4&number=40&yes=0&yes=1&labels=y';

/** The same parameters in every form that a client sends. */
const forms: Record<string, Omit<RawRequest, 'method'>> = {
  query: { path: '/t/echo/1?name=a+b&number=40&&yes=true&labels=x,%20y' },
  'query with brackets': { path: '/t/echo/1?name=a%20b&number=40&yes=1&labels[]=x&labels[]=y' },
  urlencoded: {
    path: '/t/echo/1',
    headers: form,
    body: 'name=a+b&number=40&&yes=on&labels%5B0%5D=x&labels%5B1%5D=y',
  },
  multipart: {
    path: '/t/echo/1',
    ...(() => {
      const fields = { name: 'a b', number: '40', yes: 'TRUE', labels: 'x, y' };
      const { body, type } = multipart(Object.entries(fields).map(([name, value]) => ({ name, value })));
      return { body, headers: { 'Content-Type': type } };
    })(),
  },
  'query with names that come twice': { path: `/t/echo/1?${twice}` },
  'urlencoded with names that come twice': { path: '/t/echo/1', headers: form, body: twice },
  'multipart with names that come twice': {
    path: '/t/echo/1',
    ...(() => {
      const pairs = [...new URLSearchParams(twice)].map(([name, value]) => ({ name, value }));
      const { body, type } = multipart(pairs);
      return { body, headers: { 'Content-Type': type } };
    })(),
  },
  'JSON of its types': { path: '/t/echo/1', headers: json, body: JSON.stringify(wanted) },
  'JSON of texts': {
    path: '/t/echo/1',
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: '{"name":"a b","number":"40","yes":"true","labels":"x, y"}',
  },
  'query and JSON, merged': {
    path: '/t/echo/1?name=a+b&number=40',
    headers: json,
    body: '{"yes":1,"labels":["x","y"]}',
  },
  'query and JSON null': { path: fullQuery(), headers: json, body: 'null' },
  'query and an empty object': { path: fullQuery(), headers: json, body: '{}' },
  'query and an empty body': { path: fullQuery(), headers: json, body: '' },
  'nulls and unknown names': {
    path: `${fullQuery()}&unknown=1&name[]=`,
    headers: json,
    body: '{"name":"a b","nothing":null,"other":{"deep":[1]}}',
  },
};

function fullQuery(): string {
  return '/t/echo/1?name=a%20b&number=40&yes=T&labels=x,y';
}

for (const [label, request] of Object.entries(forms)) {
  test(`parameters from ${label}, on every method`, async (t) => {
    for (const method of methods) {
      const answer = await ask({ method, ...request });
      t.is(answer.status, 200, `${method} ${answer.text}`);
      t.deepEqual(answer.body, { viewer: null, given: wanted }, method);
    }
  });
}

test('a body beats the query, and the path beats both', async (t) => {
  const answer = await ask({
    method: 'PUT',
    path: '/t/echo/1?name=query',
    headers: json,
    body: '{"name":"body","id":9}',
  });
  t.deepEqual(answer.body.given, { name: 'body' });
});

test('a token in a form body and sudo in a JSON body count like those of the query', async (t) => {
  const user = await holder.app.make.user();
  const { body, type } = multipart([{ name: 'private_token', value: user.token }]);
  const requests: RawRequest[] = [
    { path: '/t/echo/1', headers: form, body: `private_token=${user.token}` },
    { path: '/t/echo/1', headers: { 'Content-Type': type }, body },
    { path: '/t/echo/1', headers: json, body: JSON.stringify({ private_token: user.token }) },
    { path: '/t/echo/1', headers: { authorization: `bearer  ${user.token}` } },
    { path: `/t/echo/1?access_token=${user.token}` },
    { path: `/t/echo/1?private_token=${user.token}`, headers: { 'PRIVATE-TOKEN': rootToken } },
    { path: `/t/echo/1?private_token=${rootToken}`, headers: json, body: `{"sudo":${user.id}}` },
    {
      path: '/t/echo/1',
      headers: { 'private-token': rootToken, ...json },
      body: `{"sudo":"${user.username}"}`,
    },
    { path: '/t/echo/1', headers: { 'private-token': user.token, SUDO: user.username } },
  ];
  for (const request of requests) {
    const answer = await ask({ method: 'DELETE', ...request });
    t.is(answer.body.viewer, user.username, JSON.stringify(request));
  }
});

test('a token that is no text is none', async (t) => {
  const answer = await ask({
    path: '/t/echo/1?private_token[]=x',
    headers: json,
    body: '{"access_token":{"a":1}}',
  });
  t.is(answer.body.viewer, null);
});

test('the first attribute that is missing or blank is named, in declared order', async (t) => {
  const headers = { ...json, 'PRIVATE-TOKEN': rootToken };
  const cases = [
    ['{}', 'zeta'],
    ['{"alpha":"1","beta":1}', 'zeta'],
    ['{"zeta":"  ","alpha":null}', 'zeta'],
    ['{"zeta":"1","alpha":""}', 'alpha'],
    ['{"zeta":false,"alpha":0}', 'beta'],
  ];
  for (const [body, name] of cases) {
    const answer = await ask({ method: 'POST', path: '/t/strict', headers, body: body ?? '' });
    t.is(answer.status, 400);
    t.is(answer.text, JSON.stringify({ message: `400 (Bad request) "${name}" not given` }));
  }
  t.is((await ask({ method: 'POST', path: '/t/strict', headers: json, body: '{}' })).status, 401);
});

test('what cannot be parsed is a 400, whatever its kind', async (t) => {
  const gzip = { ...json, 'Content-Encoding': 'gzip' };
  const requests: Omit<RawRequest, 'path'>[] = [
    { headers: json, body: '{"a":' },
    { headers: json, body: '[1]' },
    { headers: json, body: '"text"' },
    { headers: json, body: '1' },
    { headers: json, body: '{"__proto__":{"a":1}}' },
    { headers: { ...json, 'Content-Encoding': 'klingon' }, body: '{}' },
    { headers: gzip, body: 'no gzip' },
    { headers: gzip, body: gzipSync('{"a":1}').subarray(0, 12) },
    { headers: { 'Content-Type': 'multipart/form-data' }, body: 'x' },
    {
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: '--b\r\nContent-Disposition: form',
    },
  ];
  for (const request of requests) {
    const answer = await ask({ method: 'POST', path: '/t/echo/1', ...request });
    t.is(answer.status, 400, `${JSON.stringify(request.headers)} ${answer.text}`);
    t.regex(answer.body.message, /^400 \(Bad request\) /);
  }
});

test('a compressed body is read', async (t) => {
  const headers = { ...json, 'Content-Encoding': 'gzip' };
  const answer = await ask({ method: 'POST', path: '/t/echo/1', headers, body: gzipSync('{"name":"a"}') });
  t.deepEqual(answer.body.given, { name: 'a' });
});

test('a body above its limit is a 413, also when it is so only unpacked', async (t) => {
  const large = 'x'.repeat(2 * 1024 * 1024 + 1);
  const packed = gzipSync(JSON.stringify({ name: large }));
  const parts = multipart([{ name: 'name', value: large }]);
  const requests: Omit<RawRequest, 'path'>[] = [
    { headers: json, body: JSON.stringify({ name: large }) },
    { headers: form, body: `name=${large}` },
    { headers: { 'Content-Type': parts.type }, body: parts.body },
    { headers: { ...json, 'Content-Encoding': 'gzip' }, body: packed },
  ];
  for (const request of requests) {
    const answer = await ask({ method: 'POST', path: '/t/echo/1', ...request });
    t.is(answer.status, 413, JSON.stringify(request.headers));
    t.is(answer.text, '{"message":"413 Request Entity Too Large"}');
  }
});

test('files in a form are passed over', async (t) => {
  const { body, type } = multipart([
    { name: 'file', value: '', filename: 'empty' },
    { name: 'name', value: 'a' },
    { name: 'other', value: 'x'.repeat(3 * 1024 * 1024), filename: 'full' },
    { name: 'number', value: '1' },
  ]);
  const answer = await ask({ method: 'POST', path: '/t/echo/1', headers: { 'Content-Type': type }, body });
  t.deepEqual(answer.body.given, { name: 'a', number: 1 });
});

test('deep, odd and broken values never end in a 500', async (t) => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const requests: RawRequest[] = [
    { path: '/t/echo/1', headers: json, body: `{"name":${deep}}` },
    { path: '/t/echo/1', headers: json, body: `{"unknown":${deep}}` },
    { path: '/t/echo/1', headers: form, body: `name${'[a]'.repeat(10_000)}=1` },
    { path: '/t/echo/1', headers: form, body: 'a=1&'.repeat(100_000) },
    { path: '/t/echo/1', headers: json, body: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) },
    { path: '/t/echo/1', headers: json, body: Buffer.from('{"name":"\xff\xfe"}', 'latin1') },
    { path: '/t/echo/1', headers: json, body: '{"name":"\\ud800"}' },
    { path: '/t/echo/1', headers: json, body: '{"name":"\\u0000"}' },
    { path: '/t/echo/1?name=%00' },
    { path: '/t/echo/1?name=%ff%fe' },
    { path: '/t/echo/1?name=%' },
    { path: '/t/echo/%' },
    { path: '/t/echo/%ff' },
    { path: '/t/echo/%00?name=a' },
    { path: '/t/echo/1?__proto__[name]=a&constructor=1&toString=x' },
    { path: '/t/echo/1', headers: form, body: '__proto__=1&__proto__[x]=1&hasOwnProperty=1' },
  ];
  for (const request of requests) {
    const answer = await ask({ method: 'POST', ...request });
    t.true(answer.status === 200 || answer.status === 400, `${answer.status} ${request.path}`);
  }
});

test('a fault that nobody foresaw is a 500 that tells the log alone', async (t) => {
  const answer = await ask({ path: '/t/broken', headers: { 'X-Request-Id': 'my-id' } });
  t.is(answer.status, 500);
  t.is(answer.text, '{"message":"500 Internal Server Error"}');
  t.is(answer.headers['content-type'], 'application/json');
  const { logLines } = holder.app;
  const at = logLines.findIndex((line) => line.includes('the secret cause'));
  t.true(logLines[at]?.includes('"level":50') && logLines[at]?.includes('"request":"my-id"'));
  logLines.splice(at, 1);
});

test('what a request wrote before it failed is undone', async (t) => {
  t.is((await ask({ method: 'POST', path: '/t/undo' })).status, 500);
  t.deepEqual(await holder.app.rows(`select 1 from tag_sets where tags = '{undone}'`), []);
  const { logLines } = holder.app;
  logLines.splice(
    logLines.findIndex((line) => line.includes('after the write')),
    1,
  );
});

test('a client that goes away in the middle of its body is a fault of nobody here', async (t) => {
  const types = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'];
  const { logLines } = holder.app;
  for (const [index, type] of types.entries()) {
    const socket = connect(Number(new URL(frame.url).port), '127.0.0.1');
    const lines = [
      'POST /t/echo/1 HTTP/1.1',
      'Host: x',
      `X-Request-Id: gone-${index}`,
      `Content-Type: ${type}`,
      'Content-Length: 1000',
    ];
    socket.write(
      `${lines.join('\r\n')}\r\n\r\n--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n`,
      () => {
        socket.destroy();
      },
    );
    const isOver = () =>
      logLines.some((line) => line.includes(`"request":"gone-${index}"`) && line.includes('"ms"'));
    for (let tries = 0; tries < 500 && !isOver(); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    t.true(isOver(), type);
  }
});
