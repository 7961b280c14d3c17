import test from 'ava';
import { type TestApp, withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();

interface Variable {
  key: string;
  value: string;
}

function path(project: MadeProject, key = ''): string {
  return `/api/v3/projects/${project.id}/variables${key && `/${key}`}`;
}

async function withVariable(app: TestApp, variable: Variable): Promise<MadeProject> {
  const project = await app.make.project();
  const made = await app.call<Variable>('POST', path(project), {
    as: project.owner.token,
    form: { ...variable },
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return project;
}

test('a variable is made, read, listed, changed and removed', async (t) => {
  const { app } = holder;
  const project = await withVariable(app, { key: 'DEPLOY_KEY', value: 'first value' });
  const as = project.owner.token;
  t.deepEqual((await app.call('GET', path(project), { as })).body, [
    { key: 'DEPLOY_KEY', value: 'first value' },
  ]);
  const changed = await app.call('PUT', path(project, 'DEPLOY_KEY'), { as, form: { value: 'second' } });
  t.is(changed.status, 200);
  t.deepEqual(changed.body, { key: 'DEPLOY_KEY', value: 'second' });
  t.deepEqual((await app.call('GET', path(project, 'DEPLOY_KEY'), { as })).body, changed.body);
  const removed = await app.call('DELETE', path(project, 'DEPLOY_KEY'), { as });
  t.is(removed.status, 200);
  t.deepEqual(removed.body, changed.body);
  const gone = await app.call('GET', path(project, 'DEPLOY_KEY'), { as });
  t.is(gone.status, 404);
  t.deepEqual(gone.body, { message: '404 Variable Not Found' });
});

test('values are encrypted at rest', async (t) => {
  const { app } = holder;
  const project = await withVariable(app, { key: 'TOKEN', value: 'plainly-visible-text' });
  const [row] = await app.rows<{ value_sealed: Buffer }>(
    'select value_sealed from ci_variables where project_id = $1',
    [project.id],
  );
  t.false(row?.value_sealed.includes('plainly-visible-text') ?? true);
});

test('a blank value changes nothing, none at all is a fault', async (t) => {
  const { app } = holder;
  const project = await withVariable(app, { key: 'A', value: 'kept' });
  const put = (form: Record<string, string>) =>
    app.call('PUT', path(project, 'A'), { as: project.owner.token, form });
  for (const value of ['', '  ']) {
    const answer = await put({ value });
    t.is(answer.status, 200);
    t.deepEqual(answer.body, { key: 'A', value: 'kept' });
  }
  const missing = await put({});
  t.is(missing.status, 400);
  t.deepEqual(missing.body, { message: '400 (Bad request) "value" not given' });
});

test('the list is in the order they were made, in pages; keys differ by case', async (t) => {
  const { app } = holder;
  const project = await withVariable(app, { key: 'b', value: '1' });
  const as = project.owner.token;
  for (const key of ['B', 'a']) await app.call('POST', path(project), { as, form: { key, value: 'x' } });
  const listed = await app.call<Variable[]>('GET', `${path(project)}?per_page=2`, { as });
  t.deepEqual(
    listed.body.map(({ key }) => key),
    ['b', 'B'],
  );
  t.is(listed.headers.get('x-total'), '3');
  t.is(listed.headers.get('x-next-page'), '2');
});

test('a variable that is not there', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  for (const [method, form] of [
    ['GET', undefined],
    ['PUT', { value: 'x' }],
    ['DELETE', undefined],
  ] as const) {
    const sent = form ? { as: project.owner.token, form } : { as: project.owner.token };
    const answer = await app.call(method, path(project, 'NONE'), sent);
    t.is(answer.status, 404, method);
    t.deepEqual(answer.body, { message: '404 Variable Not Found' });
  }
});

test('keys are names, of 255 characters at most, once per project', async (t) => {
  const { app } = holder;
  const project = await withVariable(app, { key: 'A', value: 'x' });
  const faults: [string, string][] = [
    ['A', 'has already been taken'],
    ['a-b', "can contain only letters, digits and '_'."],
    ['K'.repeat(256), 'is too long (maximum is 255 characters)'],
  ];
  for (const [key, text] of faults) {
    const answer = await app.call('POST', path(project), {
      as: project.owner.token,
      form: { key, value: 'x' },
    });
    t.is(answer.status, 400, key);
    t.deepEqual(answer.body, { message: { key: [text] } });
  }
  const longest = { key: 'K'.repeat(255), value: 'x' };
  t.is((await app.call('POST', path(project), { as: project.owner.token, form: longest })).status, 201);
});

test('key and value are required, in this order', async (t) => {
  const { app } = holder;
  const project = await app.make.project();
  const as = project.owner.token;
  const none = await app.call('POST', path(project), { as, form: { value: '' } });
  t.deepEqual(none.body, { message: '400 (Bad request) "key" not given' });
  const noValue = await app.call('POST', path(project), { as, form: { key: 'A' } });
  t.deepEqual(noValue.body, { message: '400 (Bad request) "value" not given' });
});

test('developers cannot see them, and those of another project are not there', async (t) => {
  const { app } = holder;
  const project = await withVariable(app, { key: 'A', value: 'x' });
  const other = await app.make.project({ owner: project.owner });
  const developer = await app.make.member(project, 'developer');
  t.is((await app.call('GET', path(project), { as: developer.token })).status, 403);
  t.is((await app.call('GET', path(other, 'A'), { as: project.owner.token })).status, 404);
});

test('a build gets them, not public, over those of its file, and its trace never shows them', async (t) => {
  const { app } = holder;
  const project = await withVariable(app, { key: 'WHO', value: 'the-secret-value' });
  const build = await app.make.build(project, { job: { variables: { WHO: 'file', OTHER: 'file' } } });
  const runner = await app.make.runner({ projects: [project] });
  const claimed = await app.call<{ variables: { key: string; value: string; public: boolean }[] }>(
    'POST',
    '/ci/api/v1/builds/register',
    { json: { token: runner.token } },
  );
  const given = new Map(claimed.body.variables.map((variable) => [variable.key, variable]));
  t.deepEqual(given.get('WHO'), { key: 'WHO', value: 'the-secret-value', public: false });
  t.is(given.get('OTHER')?.value, 'file');
  const encoded = Buffer.from('the-secret-value').toString('base64');
  await app.call('PATCH', `/ci/api/v1/builds/${build.id}/trace.txt`, {
    headers: { 'BUILD-TOKEN': build.token, 'Content-Range': '0-1' },
    body: `say the-secret-value and ${encoded}.\n`,
  });
  const trace = await app.call<string>('GET', `/api/v3/projects/${project.id}/builds/${build.id}/trace`, {
    as: project.owner.token,
  });
  t.is(trace.body, `say ${'x'.repeat(16)} and ${'x'.repeat(encoded.length)}.\n`);
});
