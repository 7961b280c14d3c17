import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import test from 'ava';
import { isProven } from '../../server/ssh/signature.ts';
import { withApp } from '../support/app.ts';
import { withSsh } from '../support/ssh.ts';
import { ecdsaToken, edwardsToken, startAgent } from '../support/ssh-agent.ts';
import { wire } from '../support/ssh-key-lines.ts';

const holder = withApp();
const place = withSsh(holder);

const accepted: Record<string, string[]> = {
  'RSA of 2048 bits': ['-t', 'rsa', '-b', '2048'],
  'RSA of 4096 bits': ['-t', 'rsa', '-b', '4096'],
  'ECDSA of 256 bits': ['-t', 'ecdsa', '-b', '256'],
  'ECDSA of 384 bits': ['-t', 'ecdsa', '-b', '384'],
  'ECDSA of 521 bits': ['-t', 'ecdsa', '-b', '521'],
  Ed25519: ['-t', 'ed25519'],
};

for (const [name, args] of Object.entries(accepted)) {
  test(`${name}: a key of a user lets him in by his own name`, async (t) => {
    const user = await holder.app.make.user();
    const key = await place.ssh.keyOf(user, ...args);
    t.deepEqual(await place.ssh.ssh(key, []), {
      code: 0,
      stdout: `Welcome to Hearth, @${user.username}! There is no shell here, but git can fetch and push.\n`,
      stderr: '',
    });
  });
}

for (const [name, make] of Object.entries({ Ed25519: edwardsToken, ECDSA: ecdsaToken })) {
  test(`${name} on a security token: it has to be touched, and only the right one signs`, async (t) => {
    const user = await holder.app.make.user();
    const key = make();
    await place.ssh.add(key.line, user.id);
    const through = async (flags: number, signer = key) => {
      const agent = await startAgent(t, { ...signer, blob: key.blob }, flags);
      const options = ['-o', `IdentityAgent=${agent}`, '-o', 'IdentitiesOnly=no'];
      return (await place.ssh.ssh({ path: '/nonexistent' }, [], [...options])).stdout;
    };
    t.regex(await through(1), new RegExp(`@${user.username}!`));
    t.regex(await through(5), new RegExp(`@${user.username}!`));
    t.is(await through(0), '');
    t.is(await through(1, make()), '');
  });
}

test('RSA signs with both hashes of SHA-2, and with no other', (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { e = '', n = '' } = publicKey.export({ format: 'jwk' });
  const fields = [
    Buffer.from('ssh-rsa'),
    Buffer.from(e, 'base64url'),
    Buffer.concat([Buffer.from([0]), Buffer.from(n, 'base64url')]),
  ];
  const key = Buffer.concat(fields.map(wire));
  const signed = Buffer.from('a text');
  const isTaken = (hash: string, named: string | undefined = hash) =>
    isProven({ key, hash: named, signed, signature: sign(hash, signed, privateKey) });
  t.true(isTaken('sha256'));
  t.true(isTaken('sha512'));
  t.false(isTaken('sha1'));
  t.false(isProven({ key, hash: undefined, signed, signature: sign('sha1', signed, privateKey) }));
  t.false(isTaken('sha512', 'sha256'));
});

test('RSA with SHA-1 is refused, of clients and of the server itself', async (t) => {
  const user = await holder.app.make.user();
  const key = await place.ssh.keyOf(user, ...(accepted['RSA of 2048 bits'] ?? []));
  const signing = await place.ssh.ssh(key, [], ['-o', 'PubkeyAcceptedAlgorithms=ssh-rsa']);
  t.is(signing.code, 255);
  t.is(signing.stdout, '');
  const host = await place.ssh.ssh(key, [], ['-o', 'HostKeyAlgorithms=ssh-rsa']);
  t.is(host.code, 255);
  const modern = await place.ssh.ssh(key, [], ['-o', 'HostKeyAlgorithms=rsa-sha2-512']);
  t.is(modern.code, 0, modern.stderr);
});

test('an unknown key is told how to become known; a password is never asked for', async (t) => {
  const stranger = await place.ssh.newKey();
  for (const key of [stranger, null]) {
    const { code, stdout, stderr } = await place.ssh.ssh(key, [], ['-o', 'LogLevel=INFO']);
    t.is(code, 255);
    t.is(stdout, '');
    t.is(stderr.match(/None of your SSH keys is known to this server/g)?.length, 1, stderr);
    t.regex(stderr, /Permission denied \(publickey\)/);
    t.notRegex(stderr, /password/i);
  }
});

test('any name may be used to sign in', async (t) => {
  const user = await holder.app.make.user();
  const key = await place.ssh.keyOf(user);
  t.is((await place.ssh.ssh(key, [], ['-l', 'somebody'])).code, 0);
});

test('a blocked user is a stranger at once, and so is whose key was removed', async (t) => {
  const user = await holder.app.make.user();
  const key = await place.ssh.keyOf(user);
  t.is((await place.ssh.ssh(key, [])).code, 0);
  await holder.app.rows(`update users set state = 'blocked' where id = $1`, [user.id]);
  t.regex((await place.ssh.ssh(key, [])).stderr, /Permission denied/);
  await holder.app.rows(`update users set state = 'active' where id = $1`, [user.id]);
  t.is((await place.ssh.ssh(key, [])).code, 0);
  await holder.app.rows('delete from keys where user_id = $1', [user.id]);
  t.regex((await place.ssh.ssh(key, [])).stderr, /Permission denied/);
});

test('a key of the right form that signs nothing, or that is none, lets nobody in', async (t) => {
  const line = `ssh-ed25519 ${Buffer.concat([wire(Buffer.from('ssh-ed25519')), wire(randomBytes(32))]).toString('base64')}`;
  const user = await holder.app.make.user();
  await place.ssh.add(line, user.id);
  t.regex((await place.ssh.ssh(await place.ssh.newKey(), [])).stderr, /Permission denied/);
});
