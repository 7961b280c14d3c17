import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { tryGit } from '../support/git.ts';
import { type Pushed, withPushes } from '../support/pushes.ts';
import { rawHttp } from '../support/raw-http.ts';

const { holder, trees, filled, pipelines, outstanding } = withPushes();

const zeros = '0'.repeat(40);

function line(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** Head of a pack entry: its type and the size that it says it has. */
function entryHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size % 16)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}

function pack(count: number, entries: Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const body = Buffer.concat([head, ...entries]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

interface Answer {
  status: number;
  text: string;
}

/** Pushes bytes past every client. */
async function pushRaw(
  { project }: Pushed,
  commands: string[],
  bytes: Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const lines = commands.map((command, index) => line(index === 0 ? `${command}\0report-status` : command));
  const body = Buffer.concat([...lines, Buffer.from('0000'), bytes]);
  return postGit(project, 'git-receive-pack', body, headers);
}

async function postGit(
  project: Pushed['project'],
  service: string,
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const authorization = `Basic ${Buffer.from(`x:${project.owner.token}`).toString('base64')}`;
  return rawHttp(`${holder.app.url}/${project.fullPath}.git/${service}`, 'POST', {
    headers: { Authorization: authorization, 'Content-Type': `application/x-${service}-request`, ...headers },
    body,
  });
}

/** Nothing of a refused push stays: no ref, no lock, no pack on its way, nothing to be settled. */
async function isClean(t: ExecutionContext, pushed: Pushed, refs: string): Promise<void> {
  t.is(
    (
      await tryGit(pushed.dir, [
        'for-each-ref',
        '--format=%(refname) %(objectname)',
        'refs/heads',
        'refs/tags',
      ])
    ).stdout,
    refs,
  );
  const files = await readdir(pushed.dir, { recursive: true });
  t.deepEqual(
    files.filter((name) => /\.lock$|tmp_|incoming-/.test(name)),
    [],
  );
  t.is(await outstanding(pushed.project), 0);
  t.is((await tryGit(pushed.dir, ['fsck', '--strict', '--no-dangling'])).code, 0);
}

test.serial('packs that are broken in any way are refused, and leave nothing', async (t) => {
  const pushed = await filled();
  const refs = `refs/heads/master ${pushed.sha}`;
  const create = [`${zeros} ${'1'.repeat(40)} refs/heads/evil`];
  const blob = Buffer.concat([entryHead(3, 5), deflateSync('hello')]);
  const whole = pack(1, [blob]);
  const base = createHash('sha1').update('no such object').digest();
  const delta = Buffer.from([5, 5, 0x90, 5]);
  const gibibyte = 1024 ** 3;
  const packs: [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['no pack', Buffer.from('this is no pack at all')],
    ['a head alone', whole.subarray(0, 12)],
    ['half a pack', whole.subarray(0, -15)],
    ['a wrong checksum', Buffer.concat([whole.subarray(0, -1), Buffer.from([whole.at(-1) === 0 ? 1 : 0])])],
    ['another version', Buffer.concat([Buffer.from('PACK\0\0\0\x09'), whole.subarray(8)])],
    ['fewer objects than it says', pack(1000, [blob])],
    ['four billion objects', pack(0xffffffff, [blob])],
    ['an object of another size', pack(1, [Buffer.concat([entryHead(3, 50), deflateSync('hello')])])],
    [
      'an object that says it is immense',
      pack(1, [Buffer.concat([entryHead(3, 900 * gibibyte), deflateSync('hello')])]),
    ],
    ['an object of an unknown type', pack(1, [Buffer.concat([entryHead(5, 5), deflateSync('hello')])])],
    ['no zlib', pack(1, [Buffer.concat([entryHead(3, 5), Buffer.from('hello')])])],
    ['a delta on nothing', pack(1, [Buffer.concat([entryHead(7, delta.length), base, deflateSync(delta)])])],
    [
      'a delta on itself',
      pack(1, [Buffer.concat([entryHead(6, delta.length), Buffer.from([1]), deflateSync(delta)])]),
    ],
    ['a commit of nonsense', pack(1, [Buffer.concat([entryHead(1, 5), deflateSync('hello')])])],
    [
      'a tree that leads out',
      pack(1, [
        Buffer.concat([
          entryHead(2, 30),
          deflateSync(Buffer.concat([Buffer.from('100644 ../a\0'.slice(0, 10)), base])),
        ]),
      ]),
    ],
    ['not what was promised', whole],
  ];
  for (const [name, bytes] of packs) {
    const answer = await pushRaw(pushed, create, bytes);
    t.is(answer.status, 200, `${name}: ${answer.text}`);
    t.regex(answer.text, /ng refs\/heads\/evil|unpack (?!ok)/, name);
    await isClean(t, pushed, refs);
  }
  t.is((await pipelines(pushed.project)).length, 1);
});

test.serial('a push that is no push at all is a 400 with its reason', async (t) => {
  const pushed = await filled();
  const bodies: [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['no lines', Buffer.from('hello world')],
    ['a line that is not over', Buffer.from('00ff0000')],
    ['a line of a negative length', Buffer.from('-001abc')],
    ['a line of length 1', Buffer.from('0001')],
    ['a line of length 3', Buffer.from('0003')],
    ['a command of nonsense', Buffer.concat([line('make me admin'), Buffer.from('0000')])],
    [
      'a command with a short id',
      Buffer.concat([line(`${zeros} 123 refs/heads/a\0report-status`), Buffer.from('0000')]),
    ],
    ['commands without end', Buffer.alloc(5 * 1024 * 1024, line(`${zeros} ${'1'.repeat(40)} refs/heads/a`))],
  ];
  for (const [name, body] of bodies) {
    const answer = await postGit(pushed.project, 'git-receive-pack', body);
    t.is(answer.status, 400, `${name}: ${answer.text}`);
    t.true(answer.text.length > 5, name);
    await isClean(t, pushed, `refs/heads/master ${pushed.sha}`);
  }
});

test.serial('a fetch that is none is a 400 with its reason, in both versions of the protocol', async (t) => {
  const { project } = await filled();
  const bodies = [
    '',
    'hello world',
    '00ff0000',
    '0001',
    '-001abc',
    '0014command=ls-refs\n0000',
    '0009want\n0000',
  ];
  for (const protocol of ['version=1', 'version=2', 'version=9', 'nonsense\tversion=2']) {
    for (const body of bodies) {
      const headers = { 'Git-Protocol': protocol };
      const answer = await postGit(project, 'git-upload-pack', Buffer.from(body), headers);
      t.true(answer.status === 200 || answer.status === 400, `${protocol} ${body}: ${answer.status}`);
      if (answer.status === 400) t.regex(answer.text, /^a request that git cannot make sense of\n$/);
    }
  }
});

test.serial('bodies that are not gzip, or far larger than they look, are refused', async (t) => {
  const pushed = await filled();
  const gzip = { 'Content-Encoding': 'gzip' };
  const bomb = gzipSync(
    Buffer.alloc(300 * 1024 * 1024, '0032want 0000000000000000000000000000000000000000\n'),
  );
  for (const body of [bomb, Buffer.from('no gzip'), bomb.subarray(0, 1000), Buffer.alloc(0)]) {
    for (const service of ['git-upload-pack', 'git-receive-pack']) {
      const answer = await postGit(pushed.project, service, body, gzip);
      const isBomb = body.length > 100 && service === 'git-upload-pack';
      t.is(answer.status, isBomb ? 200 : 400, `${service} ${body.length}`);
      t.true(answer.text.length > 5);
    }
  }
  await isClean(t, pushed, `refs/heads/master ${pushed.sha}`);
  t.is((await pushed.tree.try('fetch', pushed.url)).code, 0, 'the next fetch is served');
});

/** Names that git takes, however odd, and those that are refused by git or by us. */
const oddNames: [string, boolean][] = [
  ['$(touch-pwned)', true],
  ['`id`', true],
  ["';drop-table-builds;--", true],
  ['a|b&c;d>e<f', true],
  ['"quoted"', true],
  ['%s%n%x', true],
  ['日本語-🚀', true],
  ['a\u202Eb', true],
  ['__proto__', true],
  ['constructor/prototype', true],
  ['feature/deep/er/still', true],
  ['null', true],
  ['-x', false],
  ['HEAD', false],
  ['a..b', false],
  ['../../evil', false],
  ['a.lock', false],
  ['a/.b', false],
  ['a//b', false],
  ['/a', false],
  ['a/', false],
  ['a.', false],
  ['@{0}', false],
  ['a b', false],
  ['a~1', false],
  ['a^', false],
  ['a:b', false],
  ['a?b', false],
  ['a*', false],
  ['a[b', false],
  ['a\\b', false],
  ['a\u0001b', false],
  ['a\tb', false],
  ['a\u007fb', false],
  ['', false],
  ['x'.repeat(300), false],
  [`${'y'.repeat(200)}/${'z'.repeat(3000)}`, false],
];

test.serial(
  'names of refs: harmless ones get their pipeline, the others are refused and leave nothing',
  async (t) => {
    const pushed = await filled();
    const { project, sha } = pushed;
    const empties = pack(0, []);
    const kept = [`refs/heads/master ${sha}`];
    for (const prefix of ['refs/heads/', 'refs/tags/']) {
      for (const [name, isTaken] of oddNames) {
        const ref = `${prefix}${name}`;
        const answer = await pushRaw(pushed, [`${zeros} ${sha} ${ref}`], empties);
        t.true(answer.status === 200 || (!isTaken && answer.status === 400), `${ref}: ${answer.status}`);
        t.is(answer.text.includes(`ok ${ref}\n`), isTaken, `${ref}: ${answer.text}`);
        if (isTaken) kept.push(`${ref} ${sha}`);
      }
    }
    kept.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const found = (
      await tryGit(pushed.dir, [
        'for-each-ref',
        '--format=%(refname) %(objectname)',
        'refs/heads',
        'refs/tags',
      ])
    ).stdout;
    t.deepEqual(
      found.split('\n').sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
      kept,
    );
    const refs = (await pipelines(project)).map(({ ref, tag }) => `refs/${tag ? 'tags' : 'heads'}/${ref}`);
    t.deepEqual(refs.sort(), kept.map((text) => text.slice(0, -41)).sort());
    await isClean(t, pushed, found);
  },
);

test.serial(
  'refs outside of branches and tags that the server keeps for itself cannot be pushed to',
  async (t) => {
    const pushed = await filled();
    const { sha } = pushed;
    for (const ref of [
      'refs/keep-around/x',
      `refs/keep-around/${sha}`,
      'HEAD',
      'refs/heads',
      'config',
      '../config',
      'refs/../config',
      'objects/info/alternates',
    ]) {
      const answer = await pushRaw(pushed, [`${zeros} ${sha} ${ref}`], pack(0, []));
      t.true(answer.status < 500);
      t.false(answer.text.includes(`ok ${ref}\n`), answer.text);
      await isClean(t, pushed, `refs/heads/master ${sha}`);
    }
    t.false((await readFile(join(pushed.dir, 'config'), 'utf8')).includes(sha));
  },
);

test.serial('making, moving and removing in one push: what git did is what counts', async (t) => {
  const pushed = await filled();
  const { sha, tree, project } = pushed;
  await tree.git('push', '--quiet', pushed.url, 'master:old', 'master:again');
  const next = await tree.commit({ 'a.txt': 'a' });
  await tree.git('push', '--quiet', pushed.url, 'master', ':old', 'master:new', ':again', '+master:third');
  await isClean(t, pushed, `refs/heads/master ${next}\nrefs/heads/new ${next}\nrefs/heads/third ${next}`);
  const twice = await pushRaw(
    pushed,
    [`${next} ${zeros} refs/heads/new`, `${zeros} ${sha} refs/heads/new`],
    pack(0, []),
  );
  t.is(twice.status, 200);
  await tree.git('fetch', '--quiet', pushed.url);
  t.is(await outstanding(project), 0);
  t.is((await tryGit(pushed.dir, ['fsck', '--no-dangling'])).code, 0);
});

test.serial(
  'a hostile push on the way out: names in the list of builds and in events are as they were pushed',
  async (t) => {
    const tree = await trees.fresh();
    const pushed = await filled();
    await tree.git('fetch', '--quiet', pushed.url, 'master');
    const name = '$(id)"\'<script>alert(1)<_script>';
    await tree.git('push', '--quiet', pushed.url, `FETCH_HEAD:refs/heads/${name}`);
    const answer = await holder.app.call<{ ref: string }[]>(
      'GET',
      `/api/v3/projects/${pushed.project.id}/builds`,
      {
        as: pushed.project.owner.token,
      },
    );
    t.true(answer.body.some(({ ref }) => ref === name));
  },
);
