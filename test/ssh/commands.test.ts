import test from 'ava';
import fc from 'fast-check';
import { readCommand } from '../../server/ssh/command.ts';
import { withApp } from '../support/app.ts';
import { withSsh } from '../support/ssh.ts';

const holder = withApp();
const place = withSsh(holder);

test('git is asked for in several forms', (t) => {
  const fetch = { service: 'git-upload-pack', path: 'ada/engine' };
  for (const text of [
    "git-upload-pack 'ada/engine.git'",
    "git-upload-pack '/ada/engine.git'",
    "git-upload-pack '/ada/engine'",
    "git upload-pack 'ada/engine.git/'",
    'git-upload-pack ada/engine.git',
    'git-upload-pack "ada/engine.git"',
  ]) {
    t.deepEqual(readCommand(text), fetch, text);
  }
  t.is(readCommand("git-receive-pack 'a/b'")?.service, 'git-receive-pack');
  t.is(readCommand("git-upload-archive 'a/b'")?.service, 'git-upload-archive');
  t.is(readCommand("git-upload-pack 'a/it'\\''s'")?.path, "a/it's");
  t.is(readCommand("git-upload-pack 'a/wow'\\!''")?.path, 'a/wow!');
});

test('what is no command of git is none', (t) => {
  for (const text of [
    '',
    'ls',
    'git-upload-pack',
    'git-upload-packs a/b',
    'git upload-pack --help',
    "git-upload-pack 'a/b' 'c/d'",
    "git-upload-pack 'a/b'; ls",
    'git-upload-pack a/b && ls',
    'git-upload-pack $(ls)',
    'git-upload-pack "$(ls)"',
    'git-upload-pack "`ls`"',
    "git-upload-pack 'a/b",
    "git-upload-pack --upload-pack=x 'a/b'",
    'git-shell',
    "git-lfs-authenticate 'a/b' download",
    "scp -t 'a/b'",
  ]) {
    const read = readCommand(text);
    t.true(read === null || read.path === '', text);
  }
});

test('a path of any other shape names no project, and no text makes the reader fail', (t) => {
  for (const path of [
    '',
    '/',
    'a',
    'a/b/c',
    '../a/b',
    '../../etc/passwd',
    '~/a/b',
    '//a/b',
    'a//b',
    'a/b\0c',
    '.git',
  ]) {
    t.is(readCommand(`git-upload-pack '${path}'`)?.path ?? '', '', path);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const read = readCommand(`git-upload-pack '${text}'`);
      return read === null || read.path === '' || /^[^/\0]+\/[^/\0]+$/.test(read.path);
    }),
  );
});

test('other commands are refused with a word and an exit code, whatever is in them', async (t) => {
  const key = await place.ssh.keyOf(await holder.app.make.user());
  for (const command of ['ls', "git-upload-pack 'a/b'; ls", 'git-shell', 'x'.repeat(10_000)]) {
    const ran = await place.ssh.ssh(key, [command]);
    t.deepEqual(ran, {
      code: 1,
      stdout: '',
      stderr: 'hearth: only git fetches, pushes and archives are served here.\n',
    });
  }
  for (const path of [
    '../../etc',
    '~ada/x',
    "it'\\''s/x",
    'a/b%00',
    '\u0001/\u0002',
    'ä/ö',
    '1',
    "a/b' 'c/d",
  ]) {
    const ran = await place.ssh.ssh(key, [`git-upload-pack '${path}'`]);
    t.is(ran.code, 1, path);
    t.is(ran.stdout, '', path);
    t.regex(ran.stderr, /^hearth: (The project could not be found|only git fetches)/, path);
  }
});

test('there is no shell, no file transfer, no forwarding and no terminal, but a greeting', async (t) => {
  const user = await holder.app.make.user();
  const key = await place.ssh.keyOf(user);
  const greeting = `Welcome to Hearth, @${user.username}! There is no shell here, but git can fetch and push.`;
  t.deepEqual(await place.ssh.ssh(key, [], ['-tt']), { code: 0, stdout: `${greeting}\r\n`, stderr: '' });
  const sftp = await place.ssh.ssh(key, ['sftp'], ['-s']);
  t.not(sftp.code, 0);
  t.is(sftp.stdout, '');
  const forward = ['-o', 'ExitOnForwardFailure=yes', '-N', '-R', '127.0.0.1:0:127.0.0.1:1'];
  t.is((await place.ssh.ssh(key, [], forward)).code, 255);
  t.is((await place.ssh.ssh(key, [], ['-W', `127.0.0.1:${place.ssh.port}`])).code, 255);
});
