import test from 'ava';
import { apiEndpoints } from '../../server/api/index.ts';
import type { Endpoint } from '../../server/http/endpoint.ts';
import { withApp } from '../support/app.ts';

interface Schema {
  type?: string;
  properties?: Record<string, unknown>;
  required?: string[];
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}
type Content = Record<string, { schema?: Schema }>;
interface Operation {
  operationId?: string;
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description?: string; content?: Content }>;
  security?: Record<string, string[]>[];
}
interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: Record<string, { type: string }> };
}

const holder = withApp();

async function fetchDocument(): Promise<Document> {
  const answer = await holder.app.call<Document>('GET', '/api/v3/openapi.json');
  if (answer.status !== 200) throw new Error(`the document was answered with ${answer.status}`);
  return answer.body;
}

/** Every declared endpoint with its part of the document. */
async function documented(): Promise<{ declared: Endpoint; operation: Operation; name: string }[]> {
  const { paths } = await fetchDocument();
  return apiEndpoints.map((declared) => {
    const name = `${declared.method} ${declared.path}`;
    const operation = paths[template(declared)]?.[declared.method.toLowerCase()];
    if (!operation) throw new Error(`${name} is not in the document`);
    return { declared, operation, name };
  });
}

test('the document says what it is and where the interface is', async (t) => {
  const { openapi, info, servers } = await fetchDocument();
  t.regex(openapi, /^3\.1\.\d+$/);
  t.is(typeof info.title, 'string');
  t.regex(info.version, /^\d+\.\d+\.\d+/);
  t.is(servers[0]?.url, `${holder.app.url}/api/v3`);
});

test('the document has every endpoint and no other', async (t) => {
  const { paths } = await fetchDocument();
  const written = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.deepEqual(
    written.sort(),
    apiEndpoints.map((declared) => `${declared.method} ${template(declared)}`).sort(),
  );
});

test('paths that differ in the names of their parameters only would be one and the same', async (t) => {
  const shapes = Object.keys((await fetchDocument()).paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
  t.is(new Set(shapes).size, shapes.length);
});

test('each operation has a summary, described responses and an identifier of its own if any', async (t) => {
  const all = await documented();
  for (const { declared, operation, name } of all) {
    t.is(operation.summary, declared.summary, name);
    t.deepEqual(Object.keys(operation.responses).sort(), [statusOf(declared), 'default'].sort(), name);
    for (const { description, content } of Object.values(operation.responses)) {
      t.truthy(description, name);
      for (const { schema } of Object.values(content ?? {})) t.is(typeof schema, 'object', name);
    }
  }
  const ids = all.flatMap(({ operation }) => operation.operationId ?? []);
  t.is(new Set(ids).size, ids.length);
});

test('each parameter in a path is declared, required, and there is none without a place', async (t) => {
  for (const { declared, operation, name } of await documented()) {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    t.deepEqual(inPath.map((parameter) => parameter.name).sort(), pathNames(declared).sort(), name);
    t.true(
      inPath.every((parameter) => parameter.required === true && parameter.schema !== undefined),
      name,
    );
  }
});

test('each declared parameter is in the document, where it may be sent', async (t) => {
  for (const { declared, operation, name } of await documented()) {
    const expected = Object.entries(declared.params ?? {}).filter(
      ([key]) => !pathNames(declared).includes(key),
    );
    const { names, required } = sentParameters(declared, operation);
    t.deepEqual(
      names.filter((key) => key !== 'page' && key !== 'per_page').sort(),
      expected.map(([key]) => key).sort(),
      name,
    );
    t.deepEqual(
      required.sort(),
      expected
        .filter(([, param]) => param.required)
        .map(([key]) => key)
        .sort(),
      name,
    );
  }
});

test('lists have pages and answer with arrays', async (t) => {
  for (const { declared, operation, name } of await documented()) {
    const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    const isPaged = ['page', 'per_page'].every((key) => inQuery.some((parameter) => parameter.name === key));
    t.is(isPaged, declared.list === true, name);
    const schema = operation.responses[statusOf(declared)]?.content?.['application/json']?.schema;
    t.is(schema?.type === 'array', declared.list === true, name);
  }
});

test('only what anyone may call goes without a token, and the ways to send one are described', async (t) => {
  const { security, components } = await fetchDocument();
  const used = security.flatMap((way) => Object.keys(way));
  t.deepEqual(used.sort(), Object.keys(components.securitySchemes).sort());
  for (const { declared, operation, name } of await documented()) {
    t.deepEqual(operation.security, declared.access.kind === 'anyone' ? [] : undefined, name);
  }
});

test('every reference leads somewhere', async (t) => {
  const document = await fetchDocument();
  const lost = referencesIn(document).filter((reference) => resolve(document, reference) === undefined);
  t.deepEqual(lost, []);
});

test('references are followed', (t) => {
  const document = { a: { $ref: '#/b/c~1d' }, b: { 'c/d': 1 }, e: [{ $ref: '#/nothing' }] };
  t.deepEqual(referencesIn(document), ['#/b/c~1d', '#/nothing']);
  t.deepEqual(
    referencesIn(document).map((reference) => resolve(document, reference)),
    [1, undefined],
  );
});

function template({ path }: Endpoint): string {
  return path.replace(/[:*](\w+)/g, '{$1}');
}

function pathNames({ path }: Endpoint): string[] {
  return [...path.matchAll(/[:*](\w+)/g)].map((match) => match[1] ?? '');
}

function statusOf(declared: Endpoint): string {
  return String(declared.status ?? (declared.method === 'POST' ? 201 : 200));
}

/** What may be sent in the query of a GET, or in the body of the others. */
function sentParameters({ method }: Endpoint, operation: Operation): { names: string[]; required: string[] } {
  if (method === 'GET') {
    const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
    const required = inQuery.filter((parameter) => parameter.required === true);
    return { names: inQuery.map(({ name }) => name), required: required.map(({ name }) => name) };
  }
  const schema = operation.requestBody?.content['application/json']?.schema;
  return { names: Object.keys(schema?.properties ?? {}), required: schema?.required ?? [] };
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

function resolve(document: unknown, reference: string): unknown {
  let place: unknown = document;
  for (const part of reference.replace(/^#\//, '').split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    place = (place as Record<string, unknown> | undefined)?.[key];
  }
  return place;
}
