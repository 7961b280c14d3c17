import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { blobsOf } from '../support/artifact-files.ts';
import type { MadeBuild, MadeProject, MadeRunner } from '../support/make.ts';
import { rawHttp } from '../support/raw-http.ts';
import { exchange, RawSocket } from '../support/raw-socket.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

const holder = withApp();
const mebibyte = 1024 * 1024;

interface Target {
  server: ServerProcess;
  project: MadeProject;
  build: MadeBuild;
  runner: MadeRunner;
}

/** A server of its own, with a running build: what is bounded and what survives is measured on a whole process. */
async function startTarget(t: ExecutionContext): Promise<Target> {
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project, { status: 'running', runner });
  return { server: await startServerProcess(t, holder.app), project, build, runner };
}

/** Resident memory in bytes: the most there ever was. */
async function peakMemory({ server }: Target): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Everything that a request could have left behind. */
async function stored(): Promise<unknown> {
  const tables = [
    'projects',
    'users',
    'builds',
    'pipelines',
    'runners',
    'ci_variables',
    'triggers',
    'traces',
    'trace_parts',
  ];
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`);
  const [row] = await holder.app.rows(`select ${counts.join(', ')}`);
  return { ...(row as object), blobs: await blobsOf(holder.app) };
}

async function isHealthy(t: ExecutionContext, { server }: Target): Promise<void> {
  const answer = await rawHttp(`${server.url}/api/v3/user`, 'GET', {
    headers: { 'PRIVATE-TOKEN': rootToken },
  });
  t.is(answer.status, 200);
}

const json = 'application/json';

/** Kinds of bodies, and where each is sent. */
function largeBodies({ build, runner, project }: Target): [string, string, Record<string, string>, string][] {
  const api = { 'PRIVATE-TOKEN': rootToken };
  return [
    ['POST', '/api/v3/projects', { ...api, 'Content-Type': json }, '{"name":"'],
    ['POST', '/api/v3/projects', { ...api, 'Content-Type': 'application/x-www-form-urlencoded' }, 'name='],
    [
      'POST',
      '/api/v3/projects',
      { ...api, 'Content-Type': 'multipart/form-data; boundary=b' },
      '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n',
    ],
    ['POST', '/api/v3/session', { 'Content-Type': json }, '{"login":"'],
    ['PUT', `/api/v3/projects/${project.id}`, { ...api, 'Content-Type': json }, '{"description":"'],
    [
      'PUT',
      `/ci/api/v1/builds/${build.id}`,
      { 'Content-Type': json },
      `{"token":"${runner.token}","trace":"`,
    ],
    ['POST', '/ci/api/v1/builds/register', { 'Content-Type': json }, `{"token":"${runner.token}","info":"`],
    [
      'PATCH',
      `/ci/api/v1/builds/${build.id}/trace.txt`,
      { 'Build-Token': build.token, 'Content-Range': '0-' },
      '',
    ],
  ];
}

test.serial('bodies of 50 MB are refused without being held, with their length told or not', async (t) => {
  const target = await startTarget(t);
  await isHealthy(t, target);
  const before = await stored();
  const chunk = Buffer.alloc(mebibyte, 'a');
  async function* parts(head: string, end: Buffer) {
    yield Buffer.from(head);
    for (let count = 0; count < 50; count += 1) yield chunk;
    yield end;
  }
  const atFirst = await peakMemory(target);
  for (const [method, path, headers, head] of largeBodies(target)) {
    const end = Buffer.from(head.startsWith('--b') ? '\r\n--b--\r\n' : '');
    const whole = Buffer.concat([Buffer.from(head), Buffer.alloc(50 * mebibyte, 'a'), end]);
    for (const body of [whole, parts(head, end)]) {
      const answer = await rawHttp(target.server.url + path, method, { headers, body });
      if (head.includes('"trace"')) {
        t.is(answer.status, 200, 'a report counts without a trace of such a size');
        continue;
      }
      t.is(answer.status, 413, `${method} ${path}`);
      t.deepEqual(answer.json, { message: '413 Request Entity Too Large' });
    }
  }
  const growth = (await peakMemory(target)) - atFirst;
  t.true(growth < 300 * mebibyte, `grew by ${Math.round(growth / mebibyte)} MiB`);
  t.deepEqual(await stored(), before);
  await isHealthy(t, target);
});

test.serial('a body that is small only while it is packed is refused as large', async (t) => {
  const target = await startTarget(t);
  await isHealthy(t, target);
  const atFirst = await peakMemory(target);
  const bomb = gzipSync(Buffer.alloc(500 * mebibyte));
  for (const [method, path, headers] of largeBodies(target).filter(
    ([, , { 'Content-Type': type }]) => type === json,
  )) {
    const packed = { ...headers, 'Content-Encoding': 'gzip' };
    const answer = await rawHttp(target.server.url + path, method, { headers: packed, body: bomb });
    t.is(answer.status, 413, path);
  }
  const growth = (await peakMemory(target)) - atFirst;
  t.true(growth < 300 * mebibyte, `grew by ${Math.round(growth / mebibyte)} MiB`);
  await isHealthy(t, target);
});

test.serial(
  'JSON of 100,000 levels, brackets and keys without end are answered, and bind nobody',
  async (t) => {
    const target = await startTarget(t);
    const before = await stored();
    const deep = 100_000;
    const bodies: [string, string][] = [
      [json, '['.repeat(deep) + ']'.repeat(deep)],
      [json, `{"name":${'['.repeat(deep)}${']'.repeat(deep)}}`],
      [json, `{"name":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}}`],
      [json, `{${'"a":{'.repeat(deep)}`],
      [json, `{"info":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)},"token":"${target.runner.token}"}`],
      [json, `{${Array.from({ length: deep }, (_, index) => `"k${index}":1`).join(',')}}`],
      [json, `{"name":[${'1,'.repeat(deep)}1]}`],
      [json, `{"name":${'1'.repeat(deep)}}`],
      [json, '{"name":1e99999}'],
      ['application/x-www-form-urlencoded', `name${'[a]'.repeat(deep)}=1`],
      ['application/x-www-form-urlencoded', `name${'[]'.repeat(deep)}=1`],
      ['application/x-www-form-urlencoded', `name${'['.repeat(deep)}=1`],
      ['application/x-www-form-urlencoded', 'name[]=1&'.repeat(deep)],
      [
        'application/x-www-form-urlencoded',
        Array.from({ length: deep }, (_, index) => `k${index}=1`).join('&'),
      ],
      ['application/x-www-form-urlencoded', `${'%'.repeat(deep)}=${'%zz'.repeat(deep)}`],
    ];
    for (const path of ['/api/v3/projects', '/ci/api/v1/builds/register', '/api/v3/session']) {
      for (const [type, body] of bodies) {
        const headers = { 'PRIVATE-TOKEN': rootToken, 'Content-Type': type };
        const answer = await rawHttp<{ message: unknown }>(target.server.url + path, 'POST', {
          headers,
          body,
        });
        t.true(answer.status >= 400 && answer.status < 500, `${answer.status} ${path} ${body.slice(0, 30)}`);
        t.deepEqual(Object.keys(answer.json), ['message']);
      }
    }
    t.deepEqual(await stored(), before);
    await isHealthy(t, target);
  },
);

test.serial('bodies that come slowly keep nobody else waiting', async (t) => {
  const target = await startTarget(t);
  const { build, runner } = target;
  const heads = [
    `PATCH /ci/api/v1/builds/${build.id}/trace.txt HTTP/1.1\r\nBuild-Token: ${build.token}\r\nContent-Range: 0-\r\n`,
    `PUT /ci/api/v1/builds/${build.id} HTTP/1.1\r\nContent-Type: application/json\r\n`,
    `POST /ci/api/v1/builds/${build.id}/artifacts HTTP/1.1\r\nBuild-Token: ${build.token}\r\nContent-Type: multipart/form-data; boundary=b\r\n`,
    'POST /api/v3/projects HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n',
    `POST /${target.project.fullPath}.git/git-receive-pack HTTP/1.1\r\nAuthorization: Basic ${Buffer.from(`x:${target.project.owner.token}`).toString('base64')}\r\n`,
  ];
  const firstBytes = [
    'abc',
    `{"token":"${runner.token}",`,
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx',
    'name=a',
    '00a0',
  ];
  const all: RawSocket[] = [];
  // More than there are connections to the database.
  for (let count = 0; count < 30; count += 1) {
    for (const [index, head] of heads.entries()) {
      const connection = new RawSocket(target.server.url);
      all.push(connection);
      await connection.send(`${head}Host: x\r\nContent-Length: 1000\r\n\r\n${firstBytes[index]}`);
    }
  }
  await isHealthy(t, target);
  const answer = await rawHttp(`${target.server.url}/ci/api/v1/builds/${build.id}/trace.txt`, 'PATCH', {
    headers: { 'Build-Token': build.token, 'Content-Range': '0-' },
    body: 'mine',
  });
  t.is(answer.headers.range, '0-4');
  for (const connection of all) connection.close();
  await isHealthy(t, target);
  const [row] = await holder.app.rows<{ length: number }>(
    'select length::int from traces where build_id = $1',
    [build.id],
  );
  t.is(row?.length, 4, 'what was broken off left nothing');
});

const token = `PRIVATE-TOKEN: ${rootToken}\r\nHost: x\r\n`;
const post = (path: string, type: string, body: string) =>
  `POST ${path} HTTP/1.1\r\n${token}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`;
const multi = 'multipart/form-data; boundary=b';
const field = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
/** Name, bytes, and the statuses that may be answered. */
const requests: [string, string, number[]][] = [
  ['TRACE', `TRACE /api/v3/projects HTTP/1.1\r\n${token}\r\n`, [404, 405]],
  ['OPTIONS', `OPTIONS /api/v3/projects HTTP/1.1\r\n${token}\r\n`, [404, 405]],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${token}\r\n`, [404, 405]],
  ['PROPFIND', `PROPFIND /api/v3/projects HTTP/1.1\r\n${token}\r\n`, [404, 405]],
  ['parents', `GET /api/v3/../../../etc/passwd HTTP/1.1\r\n${token}\r\n`, [404]],
  ['encoded parents', `GET /api/v3/projects/..%2f..%2f..%2fetc%2fpasswd HTTP/1.1\r\n${token}\r\n`, [404]],
  ['twice encoded parents', `GET /api/v3/projects/%252e%252e%252f HTTP/1.1\r\n${token}\r\n`, [404]],
  ['overlong UTF-8', `GET /api/v3/projects/%c0%ae%c0%ae%c0%af HTTP/1.1\r\n${token}\r\n`, [404]],
  [
    'parents of a repository',
    `GET /..%2f..%2fdata/info/refs?service=git-upload-pack HTTP/1.1\r\n${token}\r\n`,
    [401, 404],
  ],
  ['bytes in the target', `GET /api/v3/users?search=\xff\xfe HTTP/1.1\r\n${token}\r\n`, [200, 400]],
  ['invalid UTF-8 in the query', `GET /api/v3/users?search=%ff%fe%c0 HTTP/1.1\r\n${token}\r\n`, [400]],
  ['a fragment', `GET /api/v3/users#fragment HTTP/1.1\r\n${token}\r\n`, [200, 404]],
  ['another scheme', `GET file:///etc/passwd HTTP/1.1\r\n${token}\r\n`, [404]],
  ['bytes in a token', `GET /api/v3/user HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: \xff\xfe\r\n\r\n`, [401]],
  [
    'bytes in a host',
    `GET /api/v3/projects HTTP/1.1\r\nHost: \xff"><script>\r\nPRIVATE-TOKEN: ${rootToken}\r\n\r\n`,
    [200, 400],
  ],
  [
    'many headers',
    `GET /api/v3/user HTTP/1.1\r\n${token}${Array.from({ length: 500 }, (_, index) => `A${index}: 1\r\n`).join('')}\r\n`,
    [200, 431],
  ],
  ['JSON of bytes', post('/api/v3/projects', json, '{"name":"\xff\xfe\xc0"}'), [400]],
  [
    'JSON of another charset',
    post('/api/v3/projects', `${json}; charset=utf-16`, '{"name":"a"}'),
    [201, 400],
  ],
  [
    'JSON of an unknown charset',
    post('/api/v3/projects', `${json}; charset=nonsense`, '{"name":"a"}'),
    [400],
  ],
  [
    'a form of bytes',
    post('/api/v3/session', 'application/x-www-form-urlencoded', 'login=\xff\xfe&password=%ff'),
    [400],
  ],
  [
    'a form of escaped bytes',
    post('/api/v3/session', 'application/x-www-form-urlencoded', 'login=a&password=%ff'),
    [400],
  ],
  [
    'a multipart form of bytes',
    post('/api/v3/projects', multi, `${field('name', '\xff\xfe')}--b--\r\n`),
    [400],
  ],
  ['a type that is none', post('/api/v3/session', '\xff/;;==', 'login=a'), [400, 401]],
  ['a form without an end', post('/api/v3/projects', multi, field('name', 'half')), [400]],
  ['a form without parts', post('/api/v3/projects', multi, '--b--\r\n'), [400]],
  ['a form of nothing', post('/api/v3/projects', multi, ''), [400]],
  [
    'a form without a name',
    post('/api/v3/projects', multi, '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n'),
    [400],
  ],
  [
    'a form of prototypes',
    post('/api/v3/projects', multi, `${field('__proto__', 'x')}${field('constructor', 'x')}--b--\r\n`),
    [400],
  ],
  [
    'a form with a header without end',
    post('/api/v3/projects', multi, `--b\r\nContent-Disposition: form-data; name="${'n'.repeat(200_000)}`),
    [400, 413],
  ],
  [
    'a form of many fields',
    post('/api/v3/projects', multi, `${field('a', '1').repeat(2000)}--b--\r\n`),
    [400, 413],
  ],
  [
    'a border of 1000 letters',
    post('/api/v3/projects', `multipart/form-data; boundary=${'b'.repeat(1000)}`, 'x'),
    [400],
  ],
  [
    'prototypes in JSON',
    post('/api/v3/projects', json, '{"__proto__":{"name":"a"},"constructor":{"prototype":{"name":"b"}}}'),
    [400],
  ],
  [
    'prototypes in a query',
    `POST /api/v3/projects?__proto__[name]=a&constructor[prototype][name]=b HTTP/1.1\r\n${token}Content-Length: 0\r\n\r\n`,
    [400],
  ],
];

test.serial('requests that no client would send are answered, and the server goes on', async (t) => {
  const target = await startTarget(t);
  const before = await stored();
  for (const [name, bytes, expected] of requests) {
    const [answer] = await exchange(target.server.url, Buffer.from(bytes, 'latin1'));
    t.true(
      expected.includes(answer?.status ?? 0),
      `${name}: ${answer?.status} ${answer?.body.slice(0, 100)}`,
    );
    if ((answer?.status ?? 0) >= 400 && answer?.status !== 431) {
      const isGit = name === 'parents of a repository';
      if (!isGit) t.deepEqual(Object.keys(JSON.parse(answer?.body ?? '')), ['message'], name);
    }
  }
  await isHealthy(t, target);
  await holder.app.rows(`delete from projects where name not like 'project%'`);
  t.deepEqual(await stored(), before);
});

test.serial('artifacts of the strangest kinds are refused or stored under a harmless name', async (t) => {
  const target = await startTarget(t);
  const url = `${target.server.url}/ci/api/v1/builds/${target.build.id}/artifacts`;
  const send = (head: string, content = 'zip') =>
    rawHttp<{ artifacts_file: { filename: string; size: number } }>(url, 'POST', {
      headers: { 'Build-Token': target.build.token, 'Content-Type': 'multipart/form-data; boundary=b' },
      body: `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n--b--\r\n`,
    });
  const empty = await send('name="file"; filename="a.zip"', '');
  t.true(empty.status === 201 || empty.status === 400, `${empty.status}`);
  const names = [
    '../../../../etc/passwd',
    '..\\\\..\\\\windows\\\\system32',
    '/etc/passwd',
    '.',
    '..',
    '.htaccess',
    'a\u0000b.zip',
    'a\u0007\u001b[31m.zip',
    "x; filename*=UTF-8''evil",
    '"; rm -rf /',
    'ü\u202Egpj.zip',
    'a'.repeat(5000),
    '%2e%2e%2f',
    ' ',
    '',
  ];
  for (const name of names) {
    const answer = await send(`name="file"; filename="${name.replaceAll('"', '\\"')}"`);
    t.true(answer.status === 201 || answer.status === 400, `${answer.status} ${JSON.stringify(name)}`);
    if (answer.status !== 201) continue;
    const { filename } = answer.json.artifacts_file;
    t.regex(filename, /^[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,254}$/, JSON.stringify(name));
    const back = await rawHttp(url, 'GET', { headers: { 'Build-Token': target.build.token } });
    t.is(back.status, 200);
    t.is(back.headers['content-disposition']?.replaceAll('"', ''), `attachment; filename=${filename}`);
    t.is(back.text, 'zip');
  }
  for (const head of [
    'name="file"',
    'name="other"; filename="a.zip"',
    'filename="a.zip"',
    'name="file',
    '',
  ]) {
    t.is((await send(head)).status, 400, head);
  }
  await isHealthy(t, target);
});
