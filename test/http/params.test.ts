import test from 'ava';
import fc from 'fast-check';
import { z } from 'zod';
import { AppError } from '../../server/errors.ts';
import {
  choice,
  flag,
  integer,
  looseChoice,
  maxId,
  object,
  optional,
  type Param,
  type Params,
  readId,
  readPage,
  readParams,
  text,
  timestamp,
  words,
} from '../../server/http/params.ts';
import { parseLooseQueryString, parseQueryString } from '../../server/http/query-string.ts';

/** What a parameter called `x` becomes, or the error body that it is refused with. */
function read(param: Param<unknown>, raw: unknown): unknown {
  try {
    return readParams({ x: param }, { x: raw }).x;
  } catch (error) {
    if (error instanceof AppError) return error.body;
    throw error;
  }
}

test('absent, null and blank are all absent; the first missing one is named', (t) => {
  const params: Params = { b: text(), a: text(), c: optional(text()) };
  for (const raw of [{}, { b: null }, { b: '' }, { b: ' \t' }, { b: undefined, a: 'x' }]) {
    const error = t.throws(() => readParams(params, raw), { instanceOf: AppError });
    t.is(error?.body, '400 (Bad request) "b" not given');
  }
  const second = t.throws(() => readParams(params, { b: '1' }), { instanceOf: AppError });
  t.is(second?.body, '400 (Bad request) "a" not given');
  t.deepEqual(readParams(params, { b: '1', a: '2', c: ' ', d: 'unknown' }), { b: '1', a: '2' });
});

test('false and 0 are given', (t) => {
  t.deepEqual(readParams({ a: flag(), b: integer() }, { a: false, b: 0 }), { a: false, b: 0 });
});

test('a parameter that keeps blanks gets them', (t) => {
  t.deepEqual(readParams({ a: { ...words(), keepBlank: true } }, { a: '' }), { a: [] });
});

test('words for yes', (t) => {
  for (const yes of [true, 1, '1', 't', 'T', 'true', 'TRUE', 'on', 'ON', ' true ']) t.true(read(flag(), yes));
  for (const no of [false, 0, '0', 'f', 'false', 'off', 'no', 'null', '2']) t.false(read(flag(), no));
});

test('numbers as numbers and as texts, within their bounds', (t) => {
  const number = integer({ min: -5, max: 50 });
  t.is(read(number, '40'), 40);
  t.is(read(number, ' -5 '), -5);
  t.is(read(number, 7), 7);
  t.deepEqual(read(number, '51'), { x: ['must be less than or equal to 50'] });
  t.deepEqual(read(number, -6), { x: ['must be greater than or equal to -5'] });
  for (const bad of ['4.5', '1e3', '0x10', 'ten', '--1', 1e21, [], {}, ['1']]) {
    const body = read(number, bad) as { x: string[] };
    t.regex(String(body.x?.[0]), /^is (not a number|invalid)$/, String(bad));
  }
});

test('lists of words in every form', (t) => {
  for (const raw of ['a, b', 'a,b,,', ['a', ' b '], { 0: 'a', 1: 'b' }]) {
    t.deepEqual(read(words(), raw), ['a', 'b']);
  }
  t.deepEqual(read(words(), [1, true]), ['1', 'true']);
  for (const raw of [{ a: 'x' }, [['a']], [{}], [null]])
    t.deepEqual(read(words(), raw), { x: ['is invalid'] });
});

test('choices refuse what they do not know, loose ones pass over it', (t) => {
  t.is(read(choice(['asc', 'desc']), 'asc'), 'asc');
  t.deepEqual(read(choice(['asc', 'desc']), 'up'), { x: ['is not included in the list'] });
  for (const odd of ['up', 'constructor', ['asc'], {}, 1])
    t.is(read(looseChoice(['asc', 'desc']), odd), undefined);
});

test('a moment is ISO 8601 or refused with one text', (t) => {
  t.deepEqual(read(timestamp(), '2016-01-07T12:44:33+01:00'), new Date('2016-01-07T11:44:33Z'));
  t.deepEqual(read(timestamp(), '2016-01-07'), new Date('2016-01-07T00:00:00Z'));
  for (const bad of ['yesterday', '1452170673', '2016-13-01T00:00:00Z']) {
    t.is(read(timestamp(), bad), '"x" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ');
  }
});

test('a moment is of a day that exists, in a year with four digits', (t) => {
  for (const bad of [
    ...[
      '2016-02-30T00:00:00Z',
      '2015-02-29',
      '1900-02-29',
      '2016-04-31T12:00:00+02:00',
      '2016-00-10',
      '2016-01-00',
    ],
    ...['0000-01-01T00:00:00Z', '0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01'],
    ...['9999-12-31T23:59:59-14:00', '10000-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '+010000-01-01'],
  ]) {
    t.is(read(timestamp(), bad), '"x" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ', bad);
  }
  const moments = {
    '2016-02-29': '2016-02-29T00:00:00.000Z',
    '2000-02-29T23:30:00-01:00': '2000-03-01T00:30:00.000Z',
    '0001-01-01T00:00:00Z': '0001-01-01T00:00:00.000Z',
    '0000-12-31T23:30:00-01:00': '0001-01-01T00:30:00.000Z',
    '0004-02-29': '0004-02-29T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z': '9999-12-31T23:59:59.999Z',
  };
  for (const [good, moment] of Object.entries(moments)) {
    t.is((read(timestamp(), good) as Date).toISOString(), moment);
  }
});

test('objects are checked by their schema', (t) => {
  const shape = object(z.object({ name: z.string() }));
  t.deepEqual(read(shape, { name: 'a', other: 1 }), { name: 'a' });
  t.deepEqual(read(shape, 'text'), { x: ['is invalid'] });
});

test('property: whatever is sent, a parameter is read or refused with a body for its name', (t) => {
  const all: Param<unknown>[] = [
    text({ max: 10 }),
    integer(),
    flag(),
    choice(['a']),
    looseChoice(['a']),
    words(),
    timestamp(),
    object(z.object({ a: z.string() })),
  ];
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true }), (raw) => {
      const sent: unknown = JSON.parse(JSON.stringify(raw) ?? 'null', (key, value) =>
        key === 'toJSON' ? 0 : value,
      );
      for (const param of all) read(optional(param), sent);
    }),
  );
  t.pass();
});

test('property: no text with a NUL or above its length gets through', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (raw) => {
      const value = read(text({ max: 5 }), raw);
      const fits = raw.trim() !== '' && !raw.includes('\0') && raw.length <= 5;
      t.is(typeof value === 'string' && value === raw, fits);
    }),
  );
});

test('property: an id is read from its digits alone, within what a column holds', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.nat().map(String), fc.bigInt().map(String), fc.string()), (raw) => {
      const id = readId(raw);
      if (id !== null) t.true(Number.isInteger(id) && id >= 0 && id <= maxId && BigInt(raw) === BigInt(id));
      else t.false(/^\d+$/.test(raw) && raw.length < 10);
    }),
  );
  t.is(readId('2147483647'), maxId);
  t.is(readId('2147483648'), null);
});

test('pages: nonsense gives the defaults, sizes are capped', (t) => {
  const page = (raw: Record<string, unknown>) => Object.values(readPage(raw));
  t.deepEqual(page({}), [1, 20]);
  for (const bad of ['0', '-1', 'x', '', null, [], {}, Object.create(null), { valueOf: 3 }, Number.NaN]) {
    t.deepEqual(page({ page: bad, per_page: bad }), [1, 20]);
  }
  t.deepEqual(page({ page: '3', per_page: '101' }), [3, 100]);
  t.deepEqual(page({ page: 2, per_page: 100 }), [2, 100]);
});

test('property: page and size stay in what PostgreSQL can count with', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double(), fc.maxSafeInteger(), fc.constant('1e400')), (raw) => {
      const { page, perPage } = readPage({ page: raw, per_page: raw });
      t.true(Number.isSafeInteger(page * perPage) && page >= 1 && perPage >= 1 && perPage <= 100);
    }),
  );
});

test('query strings: brackets, the last of two, empty pairs and broken escapes', (t) => {
  const plain = (query: string) => ({ ...parseQueryString(query) });
  t.deepEqual(plain('a=1&&b=2&'), { a: '1', b: '2' });
  t.deepEqual(plain('a=1&a=2'), { a: '2' });
  t.deepEqual(plain('a[]=1&a[]=2&a[0]=3'), { a: ['1', '2', '3'] });
  t.deepEqual(plain('a%5B%5D=1&a%5B7%5D=2'), { a: ['1', '2'] });
  t.deepEqual(JSON.parse(JSON.stringify(plain('a[k]=1&a[l]=2'))), { a: { k: '1', l: '2' } });
  t.deepEqual(plain('a=b+c%20d'), { a: 'b c d' });
  t.deepEqual(plain('a=%zz&=1&a[b][c]=2'), { a: '%zz', 'a[b][c]': '2' });
});

test('query strings: lists of maps, where a key that comes again or another number begins the next', (t) => {
  const read = (query: string) => JSON.parse(JSON.stringify(parseQueryString(query)));
  t.deepEqual(read('a[][k]=1&a[][l]=2&a[][k]=3'), { a: [{ k: '1', l: '2' }, { k: '3' }] });
  t.deepEqual(read('a[0][l]=1&a[1][k]=2&a[0][k]=3&b=4'), { a: [{ l: '1', k: '3' }, { k: '2' }], b: '4' });
  t.deepEqual(read('a[][k]=1&b[][k]=2&a[][__proto__]=3').b, [{ k: '2' }]);
  t.deepEqual(read('a[][]=1&a[x][y]=2'), { 'a[][]': '1', 'a[x][y]': '2' });
});

test('query strings: names of lists that come several times', (t) => {
  const lists = new Set(['a']);
  const plain = (query: string) => ({ ...parseQueryString(query, lists) });
  t.deepEqual(plain('a=1&b=1&a=2&b=2&a=3'), { a: ['1', '2', '3'], b: '2' });
  t.deepEqual(plain('a=1,2'), { a: '1,2' });
  t.deepEqual(plain('a[]=1&a=2'), { a: ['1', '2'] });
});

test('property: what URLSearchParams writes is read back', (t) => {
  const name = fc.string({ minLength: 1 }).filter((text) => !/[[\]]/.test(text));
  fc.assert(
    fc.property(fc.dictionary(name, fc.string({ unit: 'grapheme' }), { noNullPrototype: true }), (values) => {
      t.deepEqual({ ...parseQueryString(new URLSearchParams(values).toString()) }, { ...values });
    }),
  );
});

test('property: no query string throws or reaches a prototype', (t) => {
  const piece = fc.constantFrom(
    'a',
    '__proto__',
    'constructor',
    '[',
    ']',
    '[]',
    '=',
    '&',
    '%',
    '%00',
    '%ff',
    '0',
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const query = pieces.join('');
      // The pieces make no whole letter of several bytes.
      if (/%[a-f][0-9a-f]/.test(query)) t.throws(() => parseQueryString(query), { instanceOf: AppError });
      else parseQueryString(query);
      parseLooseQueryString(query);
      t.is(({} as { a?: string }).a, undefined);
    }),
  );
});
