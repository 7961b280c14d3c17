import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import ssh2 from 'ssh2';
import { makeHostKey, readHostKeys } from '../../server/ssh/host-keys.ts';
import { tryProgram } from '../support/ssh.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('the keys of a server are made once, for its eyes only, in the format of OpenSSH', async (t) => {
  const folder = await temporaryFolder(t);
  const keys = await readHostKeys(folder);
  t.deepEqual((await readdir(folder)).sort(), ['ssh_host_ed25519_key', 'ssh_host_rsa_key']);
  for (const [name, shown] of [
    ['ssh_host_ed25519_key', /^256 SHA256:\S+ .*\(ED25519\)$/],
    ['ssh_host_rsa_key', /^3072 SHA256:\S+ .*\(RSA\)$/],
  ] as const) {
    const path = join(folder, name);
    t.is((await stat(path)).mode & 0o777, 0o600);
    t.true(keys.includes(await readFile(path, 'utf8')));
    t.regex((await tryProgram('ssh-keygen', ['-l', '-f', path])).stdout.trim(), shown);
  }
  t.deepEqual(await readHostKeys(folder), keys);
});

test('two servers that start at once on one folder have the same keys', async (t) => {
  const folder = await temporaryFolder(t);
  const [one, other] = await Promise.all([readHostKeys(folder), readHostKeys(folder)]);
  t.deepEqual(one, other);
  t.is((await readdir(folder)).length, 2);
});

test('a file that holds no key stops the start with what can be done', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'ssh_host_rsa_key'), 'nonsense\n');
  await t.throwsAsync(readHostKeys(folder), {
    name: 'StartError',
    message: /ssh_host_rsa_key .* is no private key/,
  });
});

test('every key that is made can be read again', async (t) => {
  const keys = await Promise.all(
    Array.from({ length: 2000 }, () => makeHostKey({ type: 'ed25519', options: {} })),
  );
  t.deepEqual(
    keys.filter((key) => ssh2.utils.parseKey(key) instanceof Error),
    [],
  );
});
