import test from 'ava';
import fc from 'fast-check';
import { Blackout, unfinishedSecret } from '../../shared/blackout.ts';

/** What a reader sees of these chunks. */
function shown(secrets: string[], chunks: Buffer[]): Buffer {
  const blackout = new Blackout(secrets);
  return Buffer.concat([...chunks.map((chunk) => blackout.push(chunk)), blackout.flush()]);
}

/** The same, byte by byte and without cleverness. */
function expected(secrets: string[], bytes: Buffer): Buffer {
  const result = Buffer.from(bytes);
  for (const secret of secrets.filter((text) => text !== '').map((text) => Buffer.from(text))) {
    for (let at = 0; at + secret.length <= bytes.length; at += 1) {
      if (bytes.subarray(at, at + secret.length).equals(secret)) result.fill('x', at, at + secret.length);
    }
  }
  return result;
}

function cut(bytes: Buffer, lengths: number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let rest = bytes;
  for (const length of lengths) {
    chunks.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return [...chunks, rest];
}

test('a secret is covered at its length, in one chunk or over several', (t) => {
  const text = 'a secret-1 and secret-1secret-1';
  const covered = 'a xxxxxxxx and xxxxxxxxxxxxxxxx';
  t.is(shown(['secret-1'], [Buffer.from(text)]).toString(), covered);
  t.is(
    shown(
      ['secret-1'],
      [...text].map((letter) => Buffer.from(letter)),
    ).toString(),
    covered,
  );
});

test('without secrets, and with empty ones, nothing is held back', (t) => {
  for (const secrets of [[], [''], ['', '']]) {
    t.is(new Blackout(secrets).push(Buffer.from('abc')).toString(), 'abc');
  }
});

test('overlapping secrets, and one inside of the other, are covered as a whole', (t) => {
  t.is(shown(['abab'], [Buffer.from('-ababab-')]).toString(), '-xxxxxx-');
  t.is(shown(['bc', 'abcd'], [Buffer.from('-abcd-bc-')]).toString(), '-xxxx-xx-');
  t.is(shown(['abc', 'cde'], [Buffer.from('ab'), Buffer.from('cd'), Buffer.from('e')]).toString(), 'xxxxx');
});

test('secrets of several bytes per letter are covered byte by byte', (t) => {
  const bytes = Buffer.from('ü geheimnüs ü');
  const result = shown(['geheimnüs'], [bytes]);
  t.is(result.length, bytes.length);
  t.is(result.toString(), `ü ${'x'.repeat(10)} ü`);
});

test('whatever the text, the secrets and the cuts: the same as if it were looked at as a whole', (t) => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'x', 'ü'), maxLength: 60 });
  const secret = fc.string({ unit: fc.constantFrom('a', 'b', 'ü'), maxLength: 6 });
  const lengths = fc.array(fc.nat(7), { maxLength: 30 });
  fc.assert(
    fc.property(letters, fc.array(secret, { maxLength: 4 }), lengths, (text, secrets, cuts) => {
      const bytes = Buffer.from(text);
      return shown(secrets, cut(bytes, cuts)).equals(expected(secrets, bytes));
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('the beginning of a secret at the end of a text is found, a shorter one than tells anything is not', (t) => {
  const secrets = ['abcdefgh', 'defxyz'];
  const lengths = {
    'log abcdefg': 7,
    'log abcd': 4,
    'log abc': 0,
    'log abcdef': 6,
    abcdefgh: 0,
    '': 0,
    log: 0,
  };
  for (const [text, length] of Object.entries(lengths)) {
    t.is(unfinishedSecret(secrets, Buffer.from(text)), length, text);
  }
  t.is(unfinishedSecret(secrets, Buffer.from('abcdefxy')), 5);
});
