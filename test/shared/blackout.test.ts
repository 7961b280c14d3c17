import test from 'ava';
import fc from 'fast-check';
import { Blackout, unfinishedSecret } from '../../shared/blackout.ts';
import { tokenForms, valueForms } from '../../shared/secret-forms.ts';
import { SecretSearch } from '../../shared/secret-search.ts';

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

const value = 'p/ss w+rd~é(1)%41&=?';

test('a secret is covered however a URL encodes it, and in the middle of an encoded one', (t) => {
  const full = [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const written = [
    ...valueForms(value),
    encodeURIComponent(value),
    encodeURI(value),
    new URLSearchParams({ value }).toString().slice('value='.length),
    new URL(`http://x:${encodeURIComponent(value)}@host/`).password,
    full,
    full.toUpperCase(),
    value.replace('%', '%25'),
    [...value].map((char, at) => (at % 2 === 0 || char === '%' ? encodeURIComponent(char) : char)).join(''),
  ];
  for (const form of new Set(written)) {
    const bytes = Buffer.from(form);
    const text = Buffer.concat([Buffer.from('50% of <'), bytes, Buffer.from('>%3')]);
    const result = shown(valueForms(value), [text]);
    t.is(result.toString(), `50% of <${'x'.repeat(bytes.length)}>%3`, form);
    const letters = [...text].map((byte) => Buffer.from([byte]));
    t.deepEqual(shown(valueForms(value), letters), result, 'byte by byte');
  }
});

test('base64 of a secret is covered wherever it stands in what was encoded, and when it is broken into lines', (t) => {
  const key = `-----BEGIN KEY-----\n${'?>~secret line 0123456789\n'.repeat(6)}-----END KEY-----`;
  for (const before of ['', 'u', 'us', 'user:', 'a longer user name with more letters in it:']) {
    for (const after of ['', '\n', ' and more']) {
      const encoded = Buffer.from(`${before}${key}${after}`).toString('base64');
      for (const columns of [encoded.length, 76, 64]) {
        for (const end of ['\n', '\r\n']) {
          const text = encoded.replace(new RegExp(`.{${columns}}`, 'g'), `$&${end}`);
          for (const form of [text, text.replaceAll('+', '-').replaceAll('/', '_')]) {
            const result = shown(valueForms(key), [Buffer.from(form)]).toString();
            t.is(result.length, form.length);
            // What is shared with the letters around it may be seen.
            const seen = result.replace(/[x\r\n]/g, '');
            const allowed = Math.ceil((before.length * 8) / 6) + Math.ceil((after.length * 8) / 6) + 4;
            t.true(seen.length <= allowed, `${seen} of ${before}…${after}`);
          }
        }
      }
    }
  }
});

test('a secret of several lines is covered whatever the ends of its lines', (t) => {
  const text = 'one\r\nline 1\r\nline 2\r\nend';
  t.is(shown(['line 1\nline 2\n'], [Buffer.from(text)]).toString(), `one\r\n${'x'.repeat(14)}\r\nend`);
});

test('whatever is escaped or broken, the cuts between chunks do not matter', (t) => {
  const letters = fc.string({
    unit: fc.constantFrom('a', 'b', '%', '6', '1', '2', '%61', '%62', '\n', '\r\n'),
    maxLength: 60,
  });
  const secret = fc.string({ unit: fc.constantFrom('a', 'b', '6', '%'), minLength: 1, maxLength: 5 });
  const lengths = fc.array(fc.nat(7), { maxLength: 30 });
  fc.assert(
    fc.property(letters, fc.array(secret, { minLength: 1, maxLength: 3 }), lengths, (text, secrets, cuts) => {
      const bytes = Buffer.from(text);
      const result = shown(secrets, cut(bytes, cuts));
      return result.equals(shown(secrets, [bytes])) && result.length === bytes.length;
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('the beginning of an encoded secret is found at the end of a text, an escape that is half there too', (t) => {
  const secrets = ['abcdefgh'];
  for (const [text, length] of [
    ['log %61%62%63%64', 12],
    ['log %61%62%63%64%', 13],
    ['log %61%62%63%64%6', 14],
    ['log %61%62%63%6', 0],
    ['log ab%63%64%6', 10],
    ['log abcd\nef', 7],
    ['50%', 0],
  ] as const) {
    t.is(unfinishedSecret(secrets, Buffer.from(text)), length, text);
  }
});

test('a search finds what is there, and the beginning at the end, in any text', (t) => {
  const letters = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength });
  fc.assert(
    fc.property(letters(20), letters(80), (secret, text) => {
      const found: number[] = [];
      const rest = new SecretSearch(Buffer.from(secret)).in(Buffer.from(text), (at) => found.push(at));
      const all = [...text].map((_, at) => at).filter((at) => text.startsWith(secret, at));
      const ends = [...secret].map((_, n) => n).filter((n) => text.endsWith(secret.slice(0, n)));
      t.deepEqual(found, all);
      t.is(rest, Math.max(...ends));
    }),
    { numRuns: 2000 },
  );
});

test('secrets and texts that are made to take long do not', (t) => {
  const length = 65_536;
  const half = 'a'.repeat(length / 2);
  const secrets = ['a'.repeat(length), `${half}b${half}`, `b${'a'.repeat(length - 1)}`];
  const text = Buffer.alloc(4 * 1024 * 1024, 'a');
  // Compared place by place this would be a quarter of a million times a million steps.
  t.true(shown(secrets, [text]).equals(Buffer.alloc(text.length, 'x')));
  t.is(unfinishedSecret(secrets, text), length - 1);
});

test('the forms of a secret are few', (t) => {
  t.true(tokenForms('12-abcdefghijklmnopqrstuvwx').length < 20);
  t.true(valueForms(value).length < 40);
});
