import fc from 'fast-check';
import { z } from 'zod';
import type { ServedEndpoint } from './every-endpoint.ts';
import type { RandomWorld } from './random-world.ts';

/** One request, as it goes over the wire. */
export interface RandomRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | string | null;
  caller: string;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'];
const oddTexts = [
  '',
  ' ',
  '0',
  '-1',
  '1.5',
  '2147483648',
  '99999999999999999999',
  'null',
  'true',
  '\0',
  '\ud800',
  '__proto__',
  'constructor',
  "' or 1=1 --",
  '%_\\',
  '../../etc/passwd',
  'ü'.repeat(300),
  '\r\nX-Evil: 1',
  '<script>alert(1)</script>',
  '2016-02-31T25:61:61Z',
  '2016-01-01T00:00:00Z',
  // Nobody answers there, and nothing may ask there.
  'http://127.0.0.1:1/x',
  'somebody@example.com',
  'x'.repeat(70_000),
];
const word = fc.constantFrom(
  'master',
  'a',
  'name',
  'desc',
  'id',
  'created_at',
  '1,2',
  'K1',
  '10',
  '20',
  '30',
);

/** Any JSON value, mostly a small one. */
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 2, arbitrary: fc.string({ maxLength: 30, unit: 'binary' }) },
  { weight: 2, arbitrary: fc.integer() },
  { weight: 1, arbitrary: fc.double() },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.array(fc.oneof(word, fc.integer({ min: -5, max: 50 })), { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('0', '1', 'a', '__proto__'), fc.jsonValue()) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** A value that the declaration of a parameter would take. */
function fittingValue(schema: z.ZodType, world: RandomWorld): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodBoolean) return fc.constantFrom(true, false, 'true', '0', 'on');
  const ids = Object.values(world.named)
    .flat()
    .filter((value) => typeof value === 'number');
  if (schema instanceof z.ZodNumber) {
    return fc.oneof(
      fc.constantFrom(...ids),
      fc.integer({ min: 0, max: 60 }),
      fc.constantFrom(10, 20, 30, 40, 50),
    );
  }
  return fc.oneof(word, fc.string({ maxLength: 12, unit: 'grapheme-ascii' }), fc.constantFrom(...ids));
}

function parameters(served: ServedEndpoint, world: RandomWorld): fc.Arbitrary<Record<string, unknown>> {
  const declared = Object.entries(served.endpoint.params ?? {});
  const known: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, { schema }] of declared) {
    known[name] = fc.oneof(
      { weight: 3, arbitrary: fittingValue(schema, world) },
      { weight: 1, arbitrary: oddValue },
    );
  }
  const more = fc.dictionary(
    fc.constantFrom('page', 'per_page', 'sudo', 'undeclared', 'id', 'user_id', '__proto__', 'a[b]', 'a[]'),
    oddValue,
    { maxKeys: 2 },
  );
  return fc.tuple(fc.record(known, { requiredKeys: [] }), more).map(([a, b]) => ({ ...b, ...a }));
}

function path(served: ServedEndpoint, world: RandomWorld): fc.Arbitrary<string> {
  const parts = served.endpoint.path.split('/').slice(1);
  const filled = parts.map((part, index): fc.Arbitrary<string> => {
    if (!/^[:*]/.test(part)) return fc.constant(part);
    const known = world.named[parts[index - 1] ?? ''] ?? ['x'];
    return fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...known.map(String)) },
      { weight: 2, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) },
      { weight: 1, arbitrary: fc.constantFrom(...oddTexts).map((text) => encode(text.slice(0, 3000))) },
      { weight: 1, arbitrary: fc.constantFrom('%', '%ff', '%00', 'a%2Fb', '..', '1.json', 'mit', 'all') },
    );
  });
  const end = fc.oneof(
    { weight: 12, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('/', '//', '.json', '/.json', '/nothing', ';a=b') },
  );
  return fc
    .tuple(fc.tuple(...filled), end)
    .map(([texts, last]) => `${served.prefix}/${texts.join('/')}${last}`);
}

/** Requests to one endpoint: mostly ones that it might take, in each form that clients send them. */
export function requestsTo(served: ServedEndpoint, world: RandomWorld): fc.Arbitrary<RandomRequest> {
  const { method } = served.endpoint;
  return fc
    .record({
      method: fc.oneof(
        { weight: 12, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom(...methods) },
      ),
      path: path(served, world),
      params: parameters(served, world),
      form: fc.constantFrom('query', 'json', 'form', 'multipart', 'broken'),
      caller: fc.constantFrom(...world.callers),
      place: fc.constantFrom('header', 'header', 'header', 'query', 'bearer', 'wrong'),
      token: fc.constantFrom(undefined, ...world.ownTokens),
      noise: fc.string({ maxLength: 40, unit: 'binary' }),
    })
    .map((given) => assemble(served, given));
}

interface Given {
  method: string;
  path: string;
  params: Record<string, unknown>;
  form: string;
  caller: { name: string; token: string | undefined };
  place: string;
  token: string | undefined;
  noise: string;
}

function assemble({ prefix }: ServedEndpoint, given: Given): RandomRequest {
  const query: [string, string][] = [];
  const headers: Record<string, string> = {};
  if (prefix.startsWith('/ci/')) {
    if (given.token) query.push(['token', given.token]);
  } else if (given.caller.token) {
    if (given.place === 'header') headers['PRIVATE-TOKEN'] = given.caller.token;
    if (given.place === 'query') query.push(['private_token', given.caller.token]);
    if (given.place === 'bearer') headers.Authorization = `Bearer ${given.caller.token}`;
    if (given.place === 'wrong') headers['PRIVATE-TOKEN'] = 'x'.repeat(20);
  }
  const hasNoBody = given.method === 'GET' || given.method === 'HEAD';
  const form = hasNoBody ? 'query' : given.form;
  const pairs = pairsOf(given.params);
  if (form === 'query') query.push(...pairs);
  const body = bodyOf(form, { ...given, pairs });
  if (body) headers['Content-Type'] = body.type;
  const search = query.length > 0 ? `?${new URLSearchParams(query)}` : '';
  // Lists repeat the query in four links, and Node's client reads no more than 16 KiB of headers.
  const target = `${given.path}${search}`.slice(0, 3000);
  return { method: given.method, path: target, headers, body: body?.text ?? null, caller: given.caller.name };
}

function bodyOf(
  form: string,
  { params, pairs, noise }: { params: unknown; pairs: [string, string][]; noise: string },
): { type: string; text: string } | null {
  if (form === 'json') return { type: 'application/json', text: JSON.stringify(params) };
  if (form === 'form') {
    return { type: 'application/x-www-form-urlencoded', text: String(new URLSearchParams(pairs)) };
  }
  if (form === 'multipart') {
    const parts = pairs.map(([name, value]) => `--b\r\n${disposition(name)}\r\n\r\n${value}\r\n`);
    return { type: 'multipart/form-data; boundary=b', text: `${parts.join('')}--b--\r\n` };
  }
  if (form !== 'broken') return null;
  const type = ['application/json', 'multipart/form-data; boundary=b', 'text/plain', 'nonsense'];
  return { type: type[noise.length % type.length] ?? '', text: noise };
}

function disposition(name: string): string {
  const safe = name.replace(/["\r\n]/g, '_');
  return `Content-Disposition: form-data; name="${safe}"${safe === 'file' ? '; filename="a.png"' : ''}`;
}

/** `a[]=1&a[]=2` and `a[b]=1` for what is not flat. */
function pairsOf(params: Record<string, unknown>): [string, string][] {
  return Object.entries(params).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value)) return value.map((item) => [`${name}[]`, shown(item)]);
    if (typeof value !== 'object' || value === null) return [[name, shown(value)]];
    return Object.entries(value).map(([key, item]) => [`${name}[${key}]`, shown(item)]);
  });
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ''));
}
