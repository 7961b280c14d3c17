import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { createDatabase } from '../support/database.ts';
import { Forge } from '../support/forge.ts';
import { withWorkTrees } from '../support/git.ts';
import { poll } from '../support/program.ts';
import { withHearth } from '../support/with-hearth.ts';

const trees = withWorkTrees();
const hearths = withHearth();

const rootPassword = 'correct horse battery';
const values = {
  PASSWORD: 'p@ss/word+1 & more?',
  PRIVATE_KEY: `-----BEGIN KEY-----\n${'MIIEpAIBAAKCAQEA7y+/7wq0Xk3f\n'.repeat(6)}-----END KEY-----`,
  FROM_TRIGGER: 'trigger~value*(1)',
};

/** Writes what it knows in every way, first at once and then letter by letter. */
const leak = `
const names = ['PASSWORD', 'PRIVATE_KEY', 'FROM_TRIGGER', 'CI_BUILD_TOKEN', 'CI_BUILD_REPO'];
const percent = (text, keep) =>
  [...Buffer.from(text)].map((byte) => {
    const char = String.fromCharCode(byte);
    return keep.test(char) ? char : '%' + byte.toString(16).padStart(2, '0');
  }).join('');
const lines = names.flatMap((name) => {
  const value = process.env[name];
  if (!value) throw new Error(name + ' is not there');
  const base64 = ['', 'u', 'us', 'user:'].flatMap((before) => [
    Buffer.from(before + value).toString('base64'),
    Buffer.from(before + value + '\\n').toString('base64url'),
    Buffer.from(before + value).toString('base64').replace(/.{76}/g, '$&\\n'),
  ]);
  const url = [/[A-Za-z0-9]/, /[\\w.~-]/, /(?!)/].map((keep) => percent(value, keep));
  const upper = url.map((text) => text.replace(/%../g, (code) => code.toUpperCase()));
  return [value, ...base64, ...url, ...upper, encodeURIComponent(value)].map((text) => name + ' <' + text + '>');
});
const text = lines.join('\\n') + '\\n';
process.stdout.write(text);
for (const letter of text) {
  process.stdout.write(letter);
  if (letter === '<') await new Promise((resolve) => setTimeout(resolve, 5));
}
process.stdout.write('everything was told\\n');
`;

/** The ways in which a text of the job would show the secret. Edges of base64 are shared with what is around it. */
function shapes(secret: string): string[] {
  const base64 = [0, 1, 2, 5].map((shift) => {
    const encoded = Buffer.from('user:'.slice(0, shift) + secret).toString('base64');
    return encoded.slice(8, -4).slice(0, 48);
  });
  const hex = [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const plain = secret.split('\n').filter((line) => line.length >= 8);
  return [...plain, ...base64, hex, hex.toUpperCase(), encodeURIComponent(secret)];
}

test('what a job of our runner tells of its secrets is neither stored nor shown', async (t) => {
  const database = await createDatabase();
  hearths.later(() => database.drop());
  const hearth = await hearths.start({
    settings: {
      DATABASE_URL: database.url,
      HEARTH_SECRET_KEY: randomBytes(32).toString('hex'),
      HEARTH_ROOT_PASSWORD: rootPassword,
    },
  });
  const forge = await Forge.signIn(hearth.url, { login: 'root', password: rootPassword });
  const project = await forge.createProject('secrets');
  const { FROM_TRIGGER, ...variables } = values;
  for (const [key, value] of Object.entries(variables)) {
    await forge.post(`/projects/${project.id}/variables`, { key, value });
  }
  const trigger = await forge.post<{ token: string }>(`/projects/${project.id}/triggers`);
  await hearth.addRunner({ name: 'box', token: project.runners_token, options: ['--executor', 'shell'] });
  const tree = await trees.fresh();
  await tree.commit({
    '.gitlab-ci.yml': 'leak: {only: [triggers], script: [node leak.mjs]}\n',
    'leak.mjs': leak,
  });
  await tree.git('push', '--quiet', forge.cloneUrl(project), 'master');
  await forge.post(`/projects/${project.id}/trigger/builds`, {
    token: trigger.token,
    ref: 'master',
    'variables[FROM_TRIGGER]': FROM_TRIGGER,
  });
  const [build] = await forge.ended(project, 1);
  t.is(build?.status, 'success');
  if (!build) return;

  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ bytes: Buffer }>('select bytes from trace_parts order by start');
  const live = Buffer.concat(rows.map(({ bytes }) => bytes)).toString();
  const seen = new Map([
    ['the rows', live],
    ['the shown trace', await forge.trace(project, build)],
  ]);
  await client.query('update graphile_worker._private_jobs set run_at = now() where run_at > now()');
  const key = await poll('trace in the blob store', 60_000, async () => {
    const found = await client.query<{ blob_key: string | null }>('select blob_key from traces');
    return found.rows[0]?.blob_key ?? null;
  });
  await client.end();
  seen.set('the blob', await readFile(join(hearth.dataDir, 'blobs', key), 'utf8'));
  seen.set('the shown trace of the blob', await forge.trace(project, build));

  const token = /gitlab-ci-token:([^@\s]+)@/;
  for (const [place, text] of seen) {
    t.true(text.includes('everything was told'), place);
    t.true((text.match(/PASSWORD </g) ?? []).length > 20, `${place}: the rest is there`);
    t.false(token.test(text) && !/gitlab-ci-token:(?:\[MASKED\]|x+)@/.test(text), place);
    for (const secret of Object.values(values)) {
      for (const shape of shapes(secret)) t.false(text.includes(shape), `${place}: ${shape}`);
    }
    // The token of a build is its id, a dash and 24 letters.
    t.notRegex(text, new RegExp(`${build.id}-[A-Za-z0-9_-]{24}`), place);
    t.notRegex(
      text,
      new RegExp(Buffer.from(`${build.id}-`).toString('base64').slice(0, 2).concat('[A-Za-z0-9_-]{30,}')),
      place,
    );
  }
  for (const line of hearth.log().split('\n')) {
    for (const secret of [...Object.values(values), trigger.token, project.runners_token]) {
      t.false(line.includes(secret.split('\n')[1] ?? secret), 'the logs know nothing of them');
    }
  }
});
