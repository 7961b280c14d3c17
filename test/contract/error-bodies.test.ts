import test, { type ExecutionContext } from 'ava';
import { apiPrefix } from '../../server/app.ts';
import { type Answer, type CallOptions, registrationToken, rootToken, withApp } from '../support/app.ts';
import type { MadeBuild, MadeProject, MadeRunner } from '../support/make.ts';
import { everyEndpoint, type ServedEndpoint } from './every-endpoint.ts';

const holder = withApp({ poolSize: 4 });

const oddTexts = ['\0', 'ü'.repeat(300), '-1', '99999999999999999999', '\ud800'];
const oddValues = [...oddTexts, 12.5, [{}], [['a']], { a: { b: 1 } }];
/** Sent in all parameters at once. */
const oddForAll = [
  '__proto__',
  'constructor',
  '1e309',
  '0x10',
  ' 1 ',
  '2147483648',
  '9007199254740993',
  'NaN',
  '294277-01-01T00:00:00Z',
  '2016-02-31T25:61:61Z',
  `' or 1=1 --`,
  '%_\\',
  '\r\nX-Evil: 1',
  '\u202e\u0000\ufffe',
  'x'.repeat(70_000),
  true,
  0,
  [[[[[]]]]],
  JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1}}'),
];
const oddSegments = [
  '-1',
  '99999999999999999999',
  '2147483648',
  '1.5',
  '0x1',
  'abc',
  '__proto__',
  '%00',
  'a%2Fb',
  '..%2F..%2F',
  '%0d%0aX-Evil:1',
  '%ff',
  'a'.repeat(3000),
];
const oddBodies = ['{', '[1]', '"text"', 'null', '{"a":'.repeat(2000)];

for (const served of everyEndpoint()) {
  test(`odd requests to ${served.name} are answered or refused in the one form`, async (t) => {
    const scene = await setScene();
    const path = served.prefix + fill(served.endpoint.path, scene);
    const calls: [string, CallOptions][] = [];
    for (const name of Object.keys(served.endpoint.params ?? {})) {
      for (const value of oddValues) calls.push([path, withParameter(served, scene, { name, value })]);
    }
    for (const value of oddForAll) calls.push([path, withParameters(served, scene, value)]);
    for (const segment of oddSegments)
      calls.push([served.prefix + fill(served.endpoint.path, scene, segment), usual(served, scene)]);
    for (const body of oddBodies) {
      const { query, ...options } = usual(served, scene);
      if (served.endpoint.method !== 'GET')
        calls.push([path, { ...options, query, body, headers: { 'Content-Type': 'application/json' } }]);
    }
    for (const [target, options] of calls) await check(t, served.endpoint.method, target, options);
  });
}

test('what is not there is refused in the same form', async (t) => {
  await check(t, 'GET', `${apiPrefix}/nothing/here`, { as: rootToken });
  await check(t, 'DELETE', `${apiPrefix}/session`, { as: rootToken });
  await check(t, 'GET', '/nothing', {});
  await check(t, 'POST', '/ci/api/v1/nothing', {});
});

async function check(t: ExecutionContext, method: string, path: string, options: CallOptions): Promise<void> {
  const answer: Answer = await holder.app.call(method, path, options);
  const shown = `${method} ${path} ${JSON.stringify(options).slice(0, 200)}: ${answer.status}`;
  t.true(answer.status < 500, shown);
  if (answer.status < 400) return;
  t.is(answer.headers.get('content-type'), 'application/json', shown);
  t.deepEqual(Object.keys(answer.body as object), ['message'], shown);
}

interface Scene {
  project: MadeProject;
  build: MadeBuild;
  runner: MadeRunner;
}

async function setScene(): Promise<Scene> {
  const { make } = holder.app;
  const project = await make.project({ columns: { snippets_enabled: true } });
  const runner = await make.runner({ projects: [project] });
  return { project, runner, build: await make.build(project, { status: 'running', runner }) };
}

function fill(path: string, { project, runner, build }: Scene, odd?: string): string {
  const ids: Record<string, number> = {
    projects: project.id,
    runners: runner.id,
    builds: build.id,
    users: 1,
  };
  return path
    .split('/')
    .map((part, index, parts) =>
      part.startsWith(':') ? (odd ?? ids[parts[index - 1] ?? ''] ?? 'master') : part,
    )
    .join('/');
}

/** A request with all that is needed to get past the first checks. */
function usual(
  { name, endpoint }: ServedEndpoint,
  { runner, build }: Scene,
): CallOptions & { query?: Record<string, string> } {
  const { kind } = endpoint.access;
  if (kind === 'runner') return { query: { token: runner.token } };
  if (kind === 'build') return { query: { token: build.token } };
  if (name.endsWith('/runners/register')) return { query: { token: registrationToken } };
  return { as: rootToken, query: name === 'POST /projects' ? { name: `odd-${build.id}` } : {} };
}

/** All parameters, and a few that nobody declared, with one value. What is needed to get in stays. */
function withParameters(served: ServedEndpoint, scene: Scene, value: unknown): CallOptions {
  const { query = {}, ...options } = usual(served, scene);
  const names = [...Object.keys(served.endpoint.params ?? {}), 'page', 'per_page', 'sudo', 'undeclared'];
  const open = names.filter((name) => !(name in query));
  const given = Object.fromEntries(open.map((name) => [name, value]));
  if (served.endpoint.method !== 'GET') return { ...options, query, json: given };
  const texts = Object.entries(given).map(([name, item]) => [
    name,
    typeof item === 'string' ? item : JSON.stringify(item),
  ]);
  return { ...options, query: { ...query, ...Object.fromEntries(texts) } };
}

function withParameter(
  served: ServedEndpoint,
  scene: Scene,
  { name, value }: { name: string; value: unknown },
): CallOptions {
  const { query = {}, ...options } = usual(served, scene);
  if (served.endpoint.method !== 'GET') return { ...options, query, json: { [name]: value } };
  if (typeof value !== 'object') return { ...options, query: { ...query, [name]: String(value) } };
  return { ...options, query: { ...query, [`${name}[${Array.isArray(value) ? '' : 'a'}]`]: 'x' } };
}
