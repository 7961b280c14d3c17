import { randomInt } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { Blackout, unfinishedSecret } from '../../shared/blackout.ts';
import { send } from '../http/send.ts';
import { withApp } from '../support/app.ts';
import type { MadeBuild, MadeProject, MadeRunner } from '../support/make.ts';

const holder = withApp();

interface Live extends MadeBuild {
  project: MadeProject;
  runner: MadeRunner;
  length: number;
}

async function live(): Promise<Live> {
  const { make } = holder.app;
  const [project, runner] = [await make.project(), await make.runner()];
  return { ...(await make.build(project, { status: 'running', runner })), project, runner, length: 0 };
}

async function append(build: Live, text: string): Promise<void> {
  const body = Buffer.from(text);
  const headers = {
    'BUILD-TOKEN': build.token,
    'Content-Range': `${build.length}-${build.length + body.length - 1}`,
  };
  const answer = await holder.app.call('PATCH', `/ci/api/v1/builds/${build.id}/trace.txt`, { headers, body });
  if (answer.status !== 202) throw new Error(`${answer.status}`);
  build.length += body.length;
}

async function finish(build: Live): Promise<void> {
  const json = { token: build.runner.token, state: 'success' };
  await holder.app.call('PUT', `/ci/api/v1/builds/${build.id}`, { json });
}

function read(build: Live, range?: string) {
  return send(holder.app.url, {
    path: `/api/v3/projects/${build.project.id}/builds/${build.id}/trace`,
    headers: { 'PRIVATE-TOKEN': build.project.owner.token, ...(range === undefined ? {} : { Range: range }) },
  });
}

test('no trace is an empty one', async (t) => {
  const answer = await read(await live());
  t.is(answer.status, 200);
  t.is(answer.text, '');
  t.is(answer.headers['content-type'], 'text/plain');
});

test('the parts are one text, before and after it moves to the blob store', async (t) => {
  const build = await live();
  for (const part of ['one\n', 'two ä €\n', '', 'three\n']) await append(build, part);
  const check = async (label: string) => {
    const answer = await read(build);
    t.is(answer.text, 'one\ntwo ä €\nthree\n', label);
    t.is(answer.headers['content-length'], String(build.length));
    t.is(answer.headers['content-disposition'], `infile; filename="${build.id}.log"`);
    t.is(answer.headers['accept-ranges'], 'bytes');
    t.is((await read(build, 'bytes=6-')).text, 'o ä €\nthree\n');
  };
  await check('running');
  await finish(build);
  await check('finished');
  await holder.app.runAllTasks();
  const [row] = await holder.app.rows(
    'select blob_key is not null as moved from traces where build_id = $1',
    [build.id],
  );
  t.deepEqual(row, { moved: true });
  await check('moved');
});

test('a follower reads on from where he was', async (t) => {
  const build = await live();
  let seen = '';
  for (const part of ['first ', 'second ', 'third']) {
    await append(build, part);
    const answer = await read(build, `bytes=${seen.length}-`);
    t.is(answer.status, seen === '' ? 200 : 206);
    if (seen !== '') {
      t.is(answer.headers['content-range'], `bytes ${seen.length}-${build.length - 1}/${build.length}`);
    }
    seen += answer.text;
  }
  t.is(seen, 'first second third');
  for (const start of [build.length, build.length + 1, 999_999_999_999]) {
    const past = await read(build, `bytes=${start}-`);
    t.is(past.status, 416);
    t.is(past.headers['content-range'], `bytes */${build.length}`);
    t.is(past.text, '{"message":"416 Range Not Satisfiable"}');
  }
});

test('ranges that cannot be followed give the whole', async (t) => {
  const build = await live();
  await append(build, 'whole');
  for (const range of ['bytes=0-', 'bytes=-2', 'bytes=1-2', 'bytes=a-', 'lines=1-', 'bytes=1-,2-', '']) {
    const answer = await read(build, range);
    t.is(answer.status, 200, range);
    t.is(answer.text, 'whole');
  }
});

test('the token of the build and the one for runners are never read, whatever the pieces', async (t) => {
  const build = await live();
  const secrets = [build.project.runnersToken, build.token];
  const plain = secrets.map((secret) => `a ${secret} b`).join('\n');
  const shown = secrets.map((secret) => `a ${'x'.repeat(secret.length)} b`).join('\n');
  for (let at = 0; at < plain.length; at += 7) await append(build, plain.slice(at, at + 7));
  const check = async () => {
    t.is((await read(build)).text, shown);
    for (let start = 1; start < plain.length; start += 5) {
      t.is((await read(build, `bytes=${start}-`)).text, shown.slice(start), `from ${start}`);
    }
  };
  await check();
  await finish(build);
  await holder.app.runAllTasks();
  await check();
});

test('the beginning of a token is held back until it is known to be one', async (t) => {
  const build = await live();
  const token = build.project.runnersToken;
  let seen = '';
  for (const piece of ['x ', token.slice(0, 9), token.slice(9), ' y ', token.slice(0, 9), '!']) {
    await append(build, piece);
    const answer = await read(build, `bytes=${seen.length}-`);
    t.true(answer.status === 206 || answer.status === 200 || answer.status === 416);
    if (answer.status !== 416) seen += answer.text;
    t.false(seen.includes(token.slice(0, 9)) && !seen.endsWith('!'));
  }
  t.is(seen, `x ${'x'.repeat(token.length)} y ${token.slice(0, 9)}!`);
});

test('what a build ends with is shown, though it looks like the beginning of a token', async (t) => {
  const build = await live();
  const part = build.project.runnersToken.slice(0, 4);
  await append(build, `end ${part}`);
  t.is((await read(build)).text, 'end ');
  await finish(build);
  t.is((await read(build)).text, `end ${part}`);
});

test('a long trace of many parts, from any offset', async (t) => {
  const build = await live();
  const line = `${'0123456789'.repeat(10)}\n`;
  let whole = '';
  for (let count = 0; count < 70; count += 1) {
    const part = line.repeat(randomInt(1, 20));
    await append(build, part);
    whole += part;
  }
  for (const start of [0, 1, 5000, whole.length - 1]) {
    t.is((await read(build, `bytes=${start}-`)).text, whole.slice(start), `from ${start}`);
  }
});

test('property: whatever the chunks and the secrets, what is shown is as long and has none of them', (t) => {
  const letter = fc.constantFrom('a', 'b', 'c');
  const word = fc.string({ unit: letter, minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: letter })),
      fc.array(word, { minLength: 1, maxLength: 3 }),
      (chunks, secrets) => {
        const blackout = new Blackout(secrets);
        const parts = chunks.map((chunk) => blackout.push(Buffer.from(chunk)));
        const shown = Buffer.concat([...parts, blackout.flush()]).toString();
        const whole = chunks.join('');
        const hidden = [...whole].map((char, index) =>
          secrets.some((secret) => {
            const from = Math.max(0, index - secret.length + 1);
            const at = whole.indexOf(secret, from);
            return at !== -1 && at <= index;
          })
            ? 'x'
            : char,
        );
        t.is(shown, hidden.join(''));
      },
    ),
  );
});

test('property: what may be the beginning of a secret is the longest such ending, of four letters and more', (t) => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(letters, fc.array(letters), (text, secrets) => {
      const lengths = secrets.flatMap((secret) =>
        Array.from({ length: secret.length }, (_, n) => n).filter(
          (n) => n >= 4 && text.endsWith(secret.slice(0, n)),
        ),
      );
      t.is(unfinishedSecret(secrets, Buffer.from(text)), Math.max(0, ...lengths));
    }),
  );
});
