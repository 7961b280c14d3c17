import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { openDataDir, readOrCreateSecret } from '../../server/data-dir.ts';
import { StartError } from '../../server/start-error.ts';
import { killHard, startProgram } from '../support/child-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HOLDER = `
  import { openDataDir } from './server/data-dir.ts';
  await openDataDir(process.argv[1]).then(() => console.log('open'), (error) => console.log(error.message));
  setInterval(() => {}, 60_000);
`;

test('a missing data directory is made, private to its user', async (t) => {
  const path = join(await temporaryFolder(t), 'deep', 'data');
  const dataDir = await openDataDir(path);
  t.is(dataDir.path, path);
  t.is((await stat(path)).mode & 0o777, 0o700);
});

test('a second process is refused with the number of the first', async (t) => {
  const path = await temporaryFolder(t);
  const holder = startProgram(t, { text: HOLDER, args: [path] });
  t.is(await holder.nextLine(), 'open');
  const error = await t.throwsAsync(openDataDir(path), { instanceOf: StartError });
  t.true(error?.message.includes(`process ${holder.child.pid}`));
  t.true(error?.message.includes(path));
});

test('the lock of a killed process is taken over', async (t) => {
  const path = await temporaryFolder(t);
  const holder = startProgram(t, { text: HOLDER, args: [path] });
  t.is(await holder.nextLine(), 'open');
  await killHard(holder);
  await t.notThrowsAsync(openDataDir(path));
});

test('of many processes that find a dead lock at once, one gets it', async (t) => {
  const path = await temporaryFolder(t);
  await writeFile(join(path, 'lock'), `${process.pid} a-start-of-long-ago\n`);
  const programs = Array.from({ length: 5 }, () => startProgram(t, { text: HOLDER, args: [path] }));
  const lines = await Promise.all(programs.map((program) => program.nextLine()));
  const winner = programs[lines.indexOf('open')];
  t.is(lines.filter((line) => line === 'open').length, 1);
  for (const line of lines)
    if (line !== 'open') t.regex(line ?? '', RegExp(`process ${winner?.child.pid}\\b`));
});

test('a lock whose process number was given to another process counts as dead', async (t) => {
  const path = await temporaryFolder(t);
  await writeFile(join(path, 'lock'), `${process.ppid} another-start\n`);
  await t.notThrowsAsync(openDataDir(path));
});

test('a takeover that was cut short does not block the next one', async (t) => {
  const path = await temporaryFolder(t);
  await writeFile(join(path, 'lock'), '999999999 dead\n');
  await writeFile(join(path, 'lock.takeover'), '999999998 dead\n');
  await t.notThrowsAsync(openDataDir(path));
});

test('a released directory can be opened again and holds nothing of the lock', async (t) => {
  const path = await temporaryFolder(t);
  const first = await openDataDir(path);
  await t.throwsAsync(openDataDir(path), { instanceOf: StartError });
  await first.release();
  t.deepEqual(await readdir(path), []);
  const second = await openDataDir(path);
  await first.release();
  await t.throwsAsync(
    openDataDir(path),
    { instanceOf: StartError },
    'releasing twice frees nothing of others',
  );
  await second.release();
});

test('a path that cannot be a directory is refused with advice', async (t) => {
  const file = join(await temporaryFolder(t), 'file');
  await writeFile(file, '');
  const error = await t.throwsAsync(openDataDir(join(file, 'data')), { instanceOf: StartError });
  t.regex(error?.advice ?? '', /HEARTH_DATA_DIR/);
});

test('a directory without the right to write is refused', async (t) => {
  const path = join(await temporaryFolder(t), 'data');
  await mkdir(path, { mode: 0o500 });
  const becomeNobody = 'if (process.getuid() === 0) process.setuid(65534);';
  const program = startProgram(t, { text: HOLDER.replace('await', `${becomeNobody} await`), args: [path] });
  t.regex((await program.nextLine()) ?? '', /cannot be used: EACCES/);
});

test('a secret is made once, for this user only, and stays', async (t) => {
  const dir = await temporaryFolder(t);
  const many = Array.from({ length: 8 }, () => readOrCreateSecret({ dir, name: 'key', bytes: 32 }));
  const values = new Set(await Promise.all(many));
  const [value] = values;
  t.is(values.size, 1);
  t.regex(value ?? '', /^[0-9a-f]{64}$/);
  t.is((await stat(join(dir, 'key'))).mode & 0o777, 0o600);
  t.is((await readFile(join(dir, 'key'), 'utf8')).trim(), value ?? '');
  t.deepEqual(await readdir(dir), ['key']);
});

test('an emptied secret is not silently replaced', async (t) => {
  const dir = await temporaryFolder(t);
  await writeFile(join(dir, 'key'), '\n');
  await t.throwsAsync(readOrCreateSecret({ dir, name: 'key', bytes: 32 }), { instanceOf: StartError });
});
