import test, { type ExecutionContext } from 'ava';
import { rootToken, withApp } from '../support/app.ts';
import { rawHttp } from '../support/raw-http.ts';
import { callsOf, type RunningBuild } from '../support/running-build.ts';

const holder = withApp({ poolSize: 3 });

const projectValues = {
  PASSWORD: 'p@ss/word+1 & ünique?',
  PRIVATE_KEY: `-----BEGIN KEY-----\n${'MIIEpAIBAAKCAQEA7y+/7wq0Xk3f\n'.repeat(8)}-----END KEY-----\n`,
  EXACTLY_EIGHT: 'eight-88',
};
const triggerValues = { FROM_TRIGGER: 'trigger~value*(1)' };

/** A build with every kind of secret, claimed by a runner that masks nothing. */
async function buildWithSecrets(): Promise<RunningBuild & { secrets: string[] }> {
  const { make, work } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  for (const [key, value] of Object.entries({ ...projectValues, SHORT: 'short' })) {
    await setVariable(project.id, 'POST', '', { key, value });
  }
  const build = await make.build(project);
  await holder.app.rows('update pipelines set trigger_variables_sealed = $2 where id = $1', [
    build.pipelineId,
    work.secrets.seal(JSON.stringify(triggerValues)),
  ]);
  const claimed = await rawHttp<{ id: number; token: string; variables: { key: string; value: string }[] }>(
    `${holder.app.url}/ci/api/v1/builds/register`,
    'POST',
    { json: { token: runner.token } },
  );
  if (claimed.json.id !== build.id) throw new Error('another build was claimed');
  const values = Object.values({ ...projectValues, ...triggerValues });
  const secrets = [claimed.json.token, project.runnersToken, runner.token, ...values];
  return { ...callsOf(holder.app, { project, runner, build }), secrets };
}

async function setVariable(projectId: number, method: string, path: string, form: Record<string, string>) {
  const answer = await holder.app.call(method, `/api/v3/projects/${projectId}/variables${path}`, {
    as: rootToken,
    form,
  });
  if (answer.status >= 300) throw new Error(`${answer.status}`);
}

function percent(text: string, keep: RegExp, isUpper: boolean): string {
  const letters = [...Buffer.from(text)].map((byte) => {
    const char = String.fromCharCode(byte);
    if (byte < 128 && keep.test(char)) return char;
    const hex = byte.toString(16).padStart(2, '0');
    return `%${isUpper ? hex.toUpperCase() : hex}`;
  });
  return letters.join('');
}

/** Every way in which a script may write a secret. */
function writings(secret: string): string[] {
  const base64 = ['', 'u', 'us', 'user:', 'gitlab-ci-token:'].flatMap((before) => {
    const encoded = Buffer.from(`${before}${secret}`).toString('base64');
    const urlSafe = Buffer.from(`${before}${secret}`).toString('base64url');
    return [
      encoded,
      urlSafe,
      encoded.replace(/.{76}/g, '$&\n'),
      Buffer.from(`${before}${secret}\n`).toString('base64'),
    ];
  });
  const url = [/(?!)/, /[A-Za-z0-9]/, /[\w.~-]/, /[\w.~/-]/, /[^%\x80-\xff \n]/].flatMap((keep) => [
    percent(secret, keep, true),
    percent(secret, keep, false),
  ]);
  return [secret, ...base64, ...url, url[2]?.replaceAll('%20', '+') ?? '', secret.replaceAll('\n', '\r\n')];
}

/** Letters that the text before a secret shares with it in base64, or that a part of too few of them leaves over. */
function isShown(text: string, writing: string): boolean {
  const plain = writing.replace(/[\r\n]/g, '');
  // The first few letters of base64 may be those of what comes before the secret.
  const middle = plain.slice(24, -4);
  const looked = text.replace(/[\r\n]/g, '');
  return looked.includes(plain) || (middle.length >= 12 && looked.includes(middle));
}

function noneShown(t: ExecutionContext, text: string, secrets: string[], label: string): void {
  for (const secret of secrets) {
    for (const writing of writings(secret))
      t.false(isShown(text, writing), `${label}: ${JSON.stringify(writing)}`);
  }
}

test.serial(
  'secrets in every writing are never shown, live or archived, from wherever it is read',
  async (t) => {
    const setting = await buildWithSecrets();
    const { secrets } = setting;
    const sent = secrets
      .flatMap(writings)
      .map((writing, index) => `${index} short: <${writing}>\n`)
      .join('');
    t.true(
      secrets.flatMap(writings).every((writing) => isShown(sent, writing)),
      'it would be noticed',
    );
    const bytes = Buffer.from(sent);
    for (let at = 0; at < bytes.length; at += 1013) {
      t.is((await setting.patch(at, bytes.subarray(at, at + 1013))).status, 202);
    }
    const check = async (state: string) => {
      const whole = (await setting.read()).bytes;
      t.is(whole.length, bytes.length, 'every byte has its place');
      const text = whole.toString();
      noneShown(t, text, secrets, state);
      t.is(text.match(/ short: </g)?.length, secrets.flatMap(writings).length, 'the rest is there');
      for (let start = 1; start < bytes.length; start += 397) {
        const window = await setting.read(`bytes=${start}-`);
        t.true(window.bytes.equals(whole.subarray(start)), `${state}, from ${start}`);
      }
    };
    await check('at work');
    await setting.put({ state: 'success' });
    await check('at its end');
    await holder.app.runAllTasks();
    await check('in the blob store');
  },
);

test.serial('secrets in parts of a few bytes are not shown to those who follow', async (t) => {
  const setting = await buildWithSecrets();
  const { secrets } = setting;
  const sent = [0, 2, 3].flatMap((index) => writings(secrets[index] ?? '').slice(0, 25)).join(' ');
  const bytes = Buffer.from(sent);
  let seen = Buffer.alloc(0);
  const follow = async () => {
    const answer = await setting.read(seen.length === 0 ? undefined : `bytes=${seen.length}-`);
    if (answer.status !== 416) seen = Buffer.concat([seen, answer.bytes]);
  };
  for (let at = 0; at < bytes.length; ) {
    const size = 5 + (at % 23);
    await setting.patch(at, bytes.subarray(at, at + size));
    at += size;
    await follow();
  }
  await setting.put({ state: 'success' });
  await follow();
  t.is(seen.length, bytes.length);
  noneShown(
    t,
    seen.toString(),
    [0, 2, 3].map((index) => secrets[index] ?? ''),
    'followed',
  );
});

test.serial('a whole trace in the report is shown without secrets, like one in parts', async (t) => {
  const setting = await buildWithSecrets();
  const { secrets } = setting;
  const trace = secrets.flatMap(writings).join('\n');
  await setting.put({ trace });
  noneShown(t, (await setting.read()).text, secrets, 'replaced');
  await setting.put({ state: 'failed', trace: `${trace}\nend\n` });
  const { text } = await setting.read();
  noneShown(t, text, secrets, 'replaced at its end');
  t.true(text.endsWith('\nend\n'));
});

test.serial('a value that was changed or removed stays hidden where a build had it', async (t) => {
  const setting = await buildWithSecrets();
  const { project, secrets } = setting;
  await setVariable(project.id, 'PUT', '/PASSWORD', { value: 'the second password' });
  await setVariable(project.id, 'DELETE', '/EXACTLY_EIGHT', {});
  await setVariable(project.id, 'PUT', '/PASSWORD', { value: 'the third password' });
  await setting.put({ state: 'success', trace: `${secrets.join('\n')}\nthe third password\n` });
  for (const step of ['at its end', 'in the blob store']) {
    const { text } = await setting.read();
    for (const secret of [...secrets, 'the third password'])
      t.false(text.includes(secret.trim()), `${step}: ${secret}`);
    await holder.app.runAllTasks();
  }
  const [row] = await holder.app.rows<{ count: number }>(
    `select count(*)::int from former_values where position($1 in encode(value_sealed, 'escape')) > 0`,
    ['password'],
  );
  t.is(row?.count, 0, 'what is kept of them is encrypted');
});

test.serial('values that ended long before a build say nothing of its trace', async (t) => {
  const setting = await buildWithSecrets();
  await setVariable(setting.project.id, 'DELETE', '/EXACTLY_EIGHT', {});
  await holder.app.rows(
    `update former_values set began_at = now() - interval '2 days', ended_at = now() - interval '1 day'
     where project_id = $1`,
    [setting.project.id],
  );
  await setting.put({ state: 'success', trace: `only ${projectValues.EXACTLY_EIGHT}\n` });
  t.is((await setting.read()).text, `only ${projectValues.EXACTLY_EIGHT}\n`);
});

test.serial('secrets of another project, and values that are short, are ordinary text', async (t) => {
  const other = await buildWithSecrets();
  const { make } = holder.app;
  const project = await make.project();
  const runner = await make.runner({ projects: [project] });
  const plain = callsOf(holder.app, {
    project,
    runner,
    build: await make.build(project, { status: 'running', runner }),
  });
  const text = `${other.secrets.slice(2).join('\n')} short\n`;
  await plain.put({ trace: text });
  t.is((await plain.read()).text, text);
});
