import { generateKeyPairSync } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { readSshKey } from '../../server/actions/read-ssh-key.ts';
import { opensshKeys } from '../support/openssh-keys.ts';

const cannot = { fingerprint: ['cannot be generated'] };

/** Of a made-up point. */
const line =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f ada@example.com';

function field(data: Buffer | string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(data));
  return Buffer.concat([length, Buffer.from(data)]);
}

function keyLine(type: string, ...fields: (Buffer | string)[]): string {
  return `${type} ${Buffer.concat([type, ...fields].map(field)).toString('base64')} c`;
}

function mpint(value: Buffer): Buffer {
  return (value[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), value]) : value;
}

function faultsOf(t: ExecutionContext, text: string): object {
  const read = readSshKey(text);
  t.true('faults' in read, text.slice(0, 60));
  return 'faults' in read ? read.faults : {};
}

function point(curve: 'P-256' | 'P-384' | 'P-521'): Buffer {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({
    format: 'jwk',
  });
  return Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
}

function rsa(bits: number): { e: Buffer; n: Buffer } {
  const { e = '', n = '' } = generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({
    format: 'jwk',
  });
  return { e: mpint(Buffer.from(e, 'base64url')), n: mpint(Buffer.from(n, 'base64url')) };
}

for (const [name, { line, md5, sha256 }] of Object.entries(opensshKeys)) {
  test(`${name}: what OpenSSH makes is read, with the fingerprints that it prints`, (t) => {
    t.deepEqual(readSshKey(`${line}\n`), {
      key: { text: line.replace('a b  c', 'a b c'), fingerprint: md5, fingerprintSha256: sha256 },
    });
  });
}

test('a key on a security key', (t) => {
  const edwards = Buffer.alloc(32, 7);
  for (const text of [
    keyLine('sk-ssh-ed25519@openssh.com', edwards, 'ssh:'),
    keyLine('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point('P-256'), 'ssh:'),
  ]) {
    const read = readSshKey(text);
    t.true('key' in read && read.key.text === text && read.key.fingerprint.length === 47);
  }
  for (const text of [
    keyLine('sk-ssh-ed25519@openssh.com', edwards),
    keyLine('sk-ssh-ed25519@openssh.com', edwards, 'ssh:', 'more'),
    keyLine('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point('P-256')),
    keyLine('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp384', point('P-384'), 'ssh:'),
  ]) {
    t.deepEqual(faultsOf(t, text), cannot);
  }
});

test('blanks around the parts go; the comment may be missing, or hold anything printable', (t) => {
  const [type, base64] = line.split(' ');
  for (const [given, stored] of [
    [`  ${type}\t ${base64}  ada \n`, `${type} ${base64} ada`],
    [`${type} ${base64}`, `${type} ${base64}`],
    [`${type} ${base64} Käthe's "key" #1`, `${type} ${base64} Käthe's "key" #1`],
  ] as const) {
    const read = readSshKey(given);
    t.is('key' in read ? read.key.text : '', stored);
  }
});

test('what is no key at all is told of both attributes', (t) => {
  for (const text of [
    'fake',
    'AAAA',
    `command="ls" ${line}`,
    `${line}\u0007`,
    '-----BEGIN PRIVATE KEY-----',
  ]) {
    t.deepEqual(faultsOf(t, text), { key: ['is invalid'], ...cannot });
  }
  t.deepEqual(faultsOf(t, `${line}\n${line}`), { key: ['should be a single line'], ...cannot });
  t.deepEqual(faultsOf(t, ' \n '), { key: ["can't be blank"] });
  const long = { key: ['is too long (maximum is 5000 characters)'] };
  t.deepEqual(faultsOf(t, `${line}${'x'.repeat(5000)}`), long);
});

test('a private key has several lines', async (t) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  t.deepEqual(faultsOf(t, pem), { key: ['should be a single line'], ...cannot });
});

test('weak keys are refused, whatever OpenSSH thinks of them', (t) => {
  const { e, n } = rsa(2048);
  const short = Buffer.concat([Buffer.of(0x7f), n.subarray(2)]);
  t.deepEqual(faultsOf(t, keyLine('ssh-rsa', e, short)), {
    key: ['is too short for RSA (minimum is 2048 bits)'],
    ...cannot,
  });
  const small = rsa(1024);
  t.like(faultsOf(t, keyLine('ssh-rsa', small.e, small.n)), cannot);
  const dsa = keyLine('ssh-dss', n, Buffer.alloc(20, 3), e, n);
  t.deepEqual(faultsOf(t, dsa), { key: ['is of the type DSA, which is no longer safe'], ...cannot });
  for (const weak of [Buffer.of(1), Buffer.of(4), Buffer.of(), Buffer.of(0)]) {
    t.deepEqual(faultsOf(t, keyLine('ssh-rsa', weak, n)), cannot);
  }
});

test('what is not exactly a key has no fingerprint', (t) => {
  const [type = '', base64 = ''] = line.split(' ');
  const data = Buffer.from(base64, 'base64');
  const { e, n } = rsa(2048);
  const curve = point('P-256');
  const off = Buffer.from(curve);
  off[40] = (off[40] ?? 0) ^ 1;
  const compressed = Buffer.concat([Buffer.of(2), curve.subarray(1, 33)]);
  for (const [why, text] of Object.entries({
    'no data': type,
    'no base64': `${type} !!!`,
    'base64 that is not padded': `ssh-ed25519 ${data.toString('base64').slice(0, -1)}`,
    'another alphabet': `${type} ${Buffer.alloc(52, 255).toString('base64url')}`,
    truncated: `${type} ${data.subarray(0, -1).toString('base64')}`,
    'trailing bytes': `${type} ${Buffer.concat([data, Buffer.of(0)]).toString('base64')}`,
    'a further field': `${type} ${Buffer.concat([data, field('x')]).toString('base64')}`,
    'another type inside': `ssh-rsa ${base64}`,
    'a short point': keyLine(type, Buffer.alloc(31)),
    'a length beyond the end': `${type} ${Buffer.of(255, 255, 255, 255, 1).toString('base64')}`,
    'an unknown type': keyLine('ssh-xmss@openssh.com', Buffer.alloc(32)),
    'a name that every object has': keyLine('ssh-constructor', Buffer.alloc(32)),
    'a certificate': keyLine('ssh-ed25519-cert-v01@openssh.com', Buffer.alloc(32)),
    'a negative number': keyLine('ssh-rsa', e, n.subarray(1)),
    'a number with a byte too many': keyLine('ssh-rsa', e, Buffer.concat([Buffer.alloc(1), n])),
    'a further number': keyLine('ssh-rsa', e, n, e),
    'a missing number': keyLine('ssh-rsa', e),
    'another curve': keyLine('ecdsa-sha2-nistp256', 'nistp384', point('P-384')),
    'a curve that the type does not name': keyLine('ecdsa-sha2-nistp384', 'nistp256', curve),
    'a point beside the curve': keyLine('ecdsa-sha2-nistp256', 'nistp256', off),
    'a compressed point': keyLine('ecdsa-sha2-nistp256', 'nistp256', compressed),
    infinity: keyLine('ecdsa-sha2-nistp256', 'nistp256', Buffer.of(0)),
  })) {
    t.deepEqual(faultsOf(t, text), cannot, why);
  }
});

test('no cut and no changed byte of a key is taken for another key of the same text', (t) => {
  const [, base64 = ''] = line.split(' ');
  const data = Buffer.from(base64, 'base64');
  for (let at = 0; at < data.length; at += 1) {
    t.deepEqual(faultsOf(t, `ssh-ed25519 ${data.subarray(0, at).toString('base64')}`), cannot);
    if (at >= 19) continue;
    const changed = Buffer.from(data);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.deepEqual(faultsOf(t, `ssh-ed25519 ${changed.toString('base64')}`), cannot, String(at));
  }
});
