import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readConfig, settingsTable } from '../../server/config.ts';

function faultsOf(env: NodeJS.ProcessEnv): string[] {
  const result = readConfig(env);
  return 'faults' in result ? result.faults : [];
}

function configOf(env: NodeJS.ProcessEnv) {
  const result = readConfig(env);
  if ('faults' in result) throw new Error(result.faults.join('\n'));
  return result.config;
}

test('every setting has a default', (t) => {
  t.deepEqual(configOf({ PATH: '/bin' }), {
    dataDir: './data',
    listen: { host: '127.0.0.1', port: 3000 },
    sshListen: { host: '127.0.0.1', port: 2222 },
    baseUrl: null,
    databaseUrl: null,
    rootPassword: null,
    rootToken: null,
    runnersRegistrationToken: null,
    demo: null,
    bundledRunner: null,
    createStatus: 'documented',
    signInsPerMinute: 10,
    blobs: { kind: 'file' },
    smtp: null,
    mailFrom: null,
    secretKey: null,
    logLevel: null,
  });
});

test('settings are read into plain values', (t) => {
  const config = configOf({
    HEARTH_LISTEN: '[::1]:0',
    HEARTH_BASE_URL: 'https://hearth.example.com/',
    HEARTH_DEMO: '0',
    HEARTH_BUNDLED_RUNNER: '1',
    HEARTH_CREATE_STATUS: '201',
    HEARTH_SIGN_INS_PER_MINUTE: '0',
    DATABASE_URL: 'postgres://u:p@%2Frun%2Fpostgresql/hearth',
    HEARTH_ROOT_TOKEN: 'abcdefghij0123456789',
  });
  t.deepEqual(config.listen, { host: '::1', port: 0 });
  t.is(config.baseUrl, 'https://hearth.example.com');
  t.is(config.demo, false);
  t.is(config.bundledRunner, true);
  t.is(config.createStatus, '201');
  t.is(config.signInsPerMinute, 0);
  t.is(config.databaseUrl, 'postgres://u:p@%2Frun%2Fpostgresql/hearth');
  t.is(config.rootToken, 'abcdefghij0123456789');
});

test('an S3 store is read with credentials, prefix and endpoint', (t) => {
  const { blobs } = configOf({ HEARTH_BLOBS: 's3://key:se%2Fcret@bucket/some/dir?endpoint=http://s3:9000' });
  t.deepEqual(blobs, {
    kind: 's3',
    bucket: 'bucket',
    prefix: 'some/dir/',
    endpoint: 'http://s3:9000',
    region: 'us-east-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'se/cret' },
  });
});

test('a mail server and a sender are read into their parts', (t) => {
  const plain = configOf({ HEARTH_SMTP_URL: 'smtp://mail.example.com', HEARTH_MAIL_FROM: 'ci@example.com' });
  t.deepEqual(plain.smtp, { host: 'mail.example.com', port: 587, secure: false, login: null });
  t.deepEqual(plain.mailFrom, { name: 'Hearth', address: 'ci@example.com' });
  const full = configOf({
    HEARTH_SMTP_URL: 'smtps://me%40x:p%3Aw@[::1]:2525/',
    HEARTH_MAIL_FROM: '"The Forge" <ci@example.com>',
  });
  t.deepEqual(full.smtp, { host: '::1', port: 2525, secure: true, login: { user: 'me@x', password: 'p:w' } });
  t.deepEqual(full.mailFrom, { name: 'The Forge', address: 'ci@example.com' });
  t.is(configOf({ HEARTH_SMTP_URL: 'smtps://mail' }).smtp?.port, 465);
});

test('an empty variable counts as unset, except that an empty SSH address turns SSH off', (t) => {
  const config = configOf({ HEARTH_LISTEN: '', HEARTH_DEMO: '', HEARTH_SSH_LISTEN: '' });
  t.is(config.listen.port, 3000);
  t.is(config.demo, null);
  t.is(config.sshListen, null);
});

test('every wrong value is one line that names the variable, the value and what is expected', (t) => {
  const faults = faultsOf({ HEARTH_LISTEN: 'here', HEARTH_SSH_LISTEN: '1.2.3.4:70000', HEARTH_DEMO: 'yes' });
  t.deepEqual(faults, [
    'HEARTH_LISTEN: "here" is not valid, expected HOST:PORT, such as 127.0.0.1:3000 or [::]:3000',
    'HEARTH_SSH_LISTEN: "1.2.3.4:70000" is not valid, expected HOST:PORT, such as 127.0.0.1:3000 or [::]:3000',
    'HEARTH_DEMO: "yes" is not valid, expected 1 or 0',
  ]);
});

for (const [name, value] of Object.entries({
  HEARTH_BASE_URL: 'ftp://x',
  DATABASE_URL: 'mysql://u:pw-in-url@h/d',
  HEARTH_ROOT_PASSWORD: 'seven77',
  HEARTH_ROOT_TOKEN: 'abcdefghij01234567890',
  HEARTH_RUNNERS_REGISTRATION_TOKEN: 'nineteen-characters',
  HEARTH_BUNDLED_RUNNER: 'true',
  HEARTH_CREATE_STATUS: '200',
  HEARTH_BLOBS: 's3://bucket?endpiont=http://x',
  HEARTH_SMTP_URL: 'smtp://user@host',
  HEARTH_MAIL_FROM: 'two@example.com, three@example.com',
  HEARTH_SECRET_KEY: 'ab'.repeat(31),
  HEARTH_LOG_LEVEL: 'loud',
})) {
  test(`${name} refuses a wrong value`, (t) => {
    const faults = faultsOf({ [name]: value });
    t.is(faults.length, 1);
    t.true(faults[0]?.startsWith(`${name}: `));
    t.regex(faults[0] ?? '', /, expected ./);
  });
}

test('a fault does not repeat a secret', (t) => {
  for (const name of [
    'HEARTH_ROOT_PASSWORD',
    'HEARTH_ROOT_TOKEN',
    'HEARTH_SECRET_KEY',
    'DATABASE_URL',
    'HEARTH_SMTP_URL',
  ]) {
    t.notRegex(faultsOf({ [name]: 'hush' })[0] ?? 'hush', /hush/);
  }
});

test('an unknown name is a fault that offers the nearest one', (t) => {
  t.deepEqual(faultsOf({ HEARTH_DATADIR: '/x', HEARTH_ROOT_PASWORD_FILE: '/y' }), [
    'HEARTH_DATADIR: there is no such setting, did you mean HEARTH_DATA_DIR?',
    'HEARTH_ROOT_PASWORD_FILE: there is no such setting, did you mean HEARTH_ROOT_PASSWORD_FILE?',
  ]);
});

test('variables of the tests and of the runner are left alone', (t) => {
  t.deepEqual(
    faultsOf({ HEARTH_TEST_DOCKER: '1', HEARTH_REQUIRE_DOCKER: '1', HEARTH_RUNNER_CONFIG: 'x' }),
    [],
  );
});

test('a value is read from the file that NAME_FILE names', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'hearth-config-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const file = join(dir, 'password');
  await writeFile(file, 'from the file\n');
  t.is(configOf({ HEARTH_ROOT_PASSWORD_FILE: file }).rootPassword, 'from the file');
  t.regex(
    faultsOf({ HEARTH_ROOT_PASSWORD_FILE: file, HEARTH_ROOT_PASSWORD: 'x'.repeat(8) })[0] ?? '',
    /twice/,
  );
  t.regex(
    faultsOf({ HEARTH_LISTEN_FILE: join(dir, 'none') })[0] ?? '',
    /^HEARTH_LISTEN_FILE: ENOENT.*, expected/,
  );
});

test('the table has a row with default and meaning for every setting', (t) => {
  const rows = settingsTable().split('\n').slice(2);
  t.is(rows.length, 17);
  for (const row of rows) t.regex(row, /^\| `\w+` \| \S.* \| \S.* \|$/);
  t.regex(settingsTable(), /\| `HEARTH_DATA_DIR` \| `\.\/data` \| /);
});
