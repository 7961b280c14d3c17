import test from 'ava';
import fc from 'fast-check';
import { Masker } from '../../../runner/job/mask.ts';
import { tokenForms, valueForms } from '../../../shared/secret-forms.ts';

function maskWhole(secrets: string[], text: string): string {
  const masker = new Masker(secrets);
  return Buffer.concat([masker.push(Buffer.from(text)), masker.flush()]).toString();
}

test('text around a secret stays', (t) => {
  t.is(maskWhole(['hunter2hunter2'], 'pw=hunter2hunter2; next'), 'pw=[MASKED]; next');
});

test('secrets that overlap leave no rest of either', (t) => {
  t.is(maskWhole(['abcdef', 'defghi'], '<abcdefghi>'), '<[MASKED]>');
});

test('of two secrets with the same start the longer one is replaced whole', (t) => {
  t.is(maskWhole(['abcd', 'abcdefgh'], 'abcdefgh abcdefg'), '[MASKED] [MASKED]efg');
});

test('text that is no start of a secret is not held back', (t) => {
  const masker = new Masker(['secret']);
  t.is(masker.push(Buffer.from('Password: ')).toString(), 'Password: ');
  t.is(masker.push(Buffer.from('the se')).toString(), 'the ');
  t.is(masker.push(Buffer.from('lf')).toString(), 'self');
});

test('wherever the chunks are cut, the outcome is that of the whole', (t) => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 60 });
  const secret = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  const cuts = fc.array(fc.nat(60), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(secret, { minLength: 1, maxLength: 4 }), letters, cuts, (secrets, text, places) => {
      const masker = new Masker(secrets);
      const bytes = Buffer.from(text);
      const borders = [0, ...places.map((place) => Math.min(place, bytes.length)), bytes.length].sort(
        (a, b) => a - b,
      );
      const parts = borders.slice(1).map((end, index) => masker.push(bytes.subarray(borders[index], end)));
      t.is(Buffer.concat([...parts, masker.flush()]).toString(), maskWhole(secrets, text));
    }),
    { numRuns: 2000 },
  );
});

test('no secret is left in the output, and without one nothing changes', (t) => {
  const letters = fc.string({ unit: fc.constantFrom('x', 'y', 'z'), maxLength: 40 });
  const secret = fc.string({ unit: fc.constantFrom('x', 'y', 'z'), minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(secret, letters, (value, text) => {
      const masked = maskWhole([value], text);
      t.false(masked.includes(value));
      if (!text.includes(value)) t.is(masked, text);
    }),
  );
});

test('base64 and URL forms of a value are found, also inside a longer text', (t) => {
  const secrets = valueForms('s3cret/value+1 & more');
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const encoded = Buffer.from(`${before}s3cret/value+1 & more${after}`).toString('base64');
      t.true(maskWhole(secrets, encoded).includes('[MASKED]'));
    }),
  );
  const inUrl = encodeURIComponent('s3cret/value+1 & more');
  t.is(maskWhole(secrets, `?p=${inUrl}&q`), '?p=[MASKED]&q');
});

/** Cuts the bytes at the places, which may be anywhere, and pushes the parts one by one. */
function maskInParts(secrets: string[], bytes: Buffer, places: number[]): string {
  const masker = new Masker(secrets);
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length];
  borders.sort((a, b) => a - b);
  const parts = borders.slice(1).map((end, index) => masker.push(bytes.subarray(borders[index], end)));
  return Buffer.concat([...parts, masker.flush()]).toString();
}

test('no form of a value leaves, wherever it stands and however the output is cut', (t) => {
  const secret = fc.string({ unit: fc.constantFrom(...'aZ9+/&? =~é\n'), minLength: 12, maxLength: 40 });
  // An escape that is half there would take the first letters along.
  const around = fc.string({ maxLength: 8 }).filter((text) => !/%[0-9a-f]?$/i.test(text));
  const places = fc.array(fc.nat(400), { maxLength: 8 });
  const encode: ((text: string) => string)[] = [
    (text) => text,
    encodeURIComponent,
    (text) => new URLSearchParams({ text }).toString().slice('text='.length),
  ];
  fc.assert(
    fc.property(secret, around, around, places, (value, before, after, cuts) => {
      const secrets = valueForms(value);
      for (const form of encode) {
        const written = form(value);
        const masked = maskInParts(secrets, Buffer.from(`${before}${written}${after}`), cuts);
        t.false(masked.includes(written));
        t.is(masked, maskWhole(secrets, `${before}${written}${after}`));
      }
    }),
    { numRuns: 300 },
  );
});

test('in base64 no more of a value is seen than what it shares with its neighbours', (t) => {
  const secret = fc.string({ unit: fc.constantFrom(...'aZ9+/&? =~é'), minLength: 12, maxLength: 40 });
  const around = fc.string({ maxLength: 8 });
  const places = fc.array(fc.nat(400), { maxLength: 8 });
  fc.assert(
    fc.property(secret, around, around, places, (value, before, after, cuts) => {
      for (const coding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(`${before}${value}${after}`);
        const masked = maskInParts(valueForms(value), Buffer.from(text.toString(coding)), cuts);
        const [start = '', end = ''] = masked.split('[MASKED]');
        const shared = (bytes: string) => Math.ceil((Buffer.byteLength(bytes) * 8) / 6) + 4;
        t.true(masked.includes('[MASKED]'));
        t.true(start.length <= shared(before) && end.length <= shared(after), `${masked} of ${text}`);
      }
    }),
    { numRuns: 300 },
  );
});

test('a value of several lines is masked whatever the ends of its lines', (t) => {
  t.is(maskWhole(valueForms(key), `<${key.trim().replaceAll('\n', '\r\n')}>`), '<[MASKED]>');
});

const key = `-----BEGIN KEY-----\n${'Zm9vYmFyYmF6cXV4Zm9vYmFy0123\n'.repeat(6)}abc\n-----END KEY-----\n`;

test('each line of a value is masked by itself, but for those too short to tell anything', (t) => {
  const secrets = valueForms(key);
  t.is(maskWhole(secrets, 'a Zm9vYmFyYmF6cXV4Zm9vYmFy0123\r\nabc\n'), 'a [MASKED]\r\nabc\n');
  t.is(maskWhole(secrets, key.split('\n').reverse().join('\r\n')).replaceAll(/\[MASKED\]|\r\n/g, ''), 'abc');
});

for (const columns of [64, 76]) {
  test(`base64 of a long value is masked when it is broken after ${columns} columns`, (t) => {
    const lines = Buffer.from(key)
      .toString('base64')
      .replace(new RegExp(`.{${columns}}`, 'g'), '$&\n');
    const left = maskWhole(valueForms(key), lines).replaceAll(/\[MASKED\]|\n/g, '');
    t.true(left.length < 8, left);
  });

  test(`also behind something else: ${columns} columns`, (t) => {
    for (const before of ['u', 'us', 'user:', 'a longer name than that:', 'x'.repeat(columns)]) {
      const lines = Buffer.from(`${before}${key}`)
        .toString('base64')
        .replace(new RegExp(`.{${columns}}`, 'g'), '$&\r\n');
      const left = maskWhole(valueForms(key), lines).replaceAll(/\[MASKED\]|\r\n/g, '');
      t.true(left.length <= Math.ceil((before.length * 8) / 6) + 6, left);
    }
  });
}

test('what a limit cuts in two is not shown, but for letters that tell nothing', (t) => {
  const masker = new Masker(['secret-value']);
  t.is(masker.push(Buffer.from('the secret-va')).toString(), 'the ');
  t.is(masker.cut().toString(), '');
  t.is(masker.push(Buffer.from('lue')).toString(), 'lue');
  t.is(masker.flush().toString(), '');
});

test('the end of a line waits for the next one only where it may be a secret', (t) => {
  const masker = new Masker(['secret-value']);
  t.is(masker.push(Buffer.from('this is\n')).toString(), 'this is\n');
  t.is(masker.push(Buffer.from('no sec\n')).toString(), 'no sec\n');
  t.is(masker.push(Buffer.from('no secr\n')).toString(), 'no ');
  t.is(masker.push(Buffer.from('et-value')).toString(), '[MASKED]');
});

test('short values of variables are not masked, short tokens are', (t) => {
  t.deepEqual(valueForms('debug'), []);
  t.true(tokenForms('tok1').includes('tok1'));
});

test('bytes that are no text pass unchanged', (t) => {
  const masker = new Masker(['secret12']);
  const bytes = Buffer.from([0xff, 0x00, 0xc3, 0x28, 0x80]);
  t.deepEqual(Buffer.concat([masker.push(bytes), masker.flush()]), bytes);
});
