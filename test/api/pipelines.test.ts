import test from 'ava';
import { covered } from '../../server/present/pipeline.ts';
import { withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();

type Pipeline = Record<string, unknown> & { id: number };

function call<T = Pipeline>(project: MadeProject, rest = '', as = project.owner.token) {
  return holder.app.call<T>('GET', `/api/v3/projects/${project.id}/pipelines${rest}`, { as });
}

async function ids(project: MadeProject, query = ''): Promise<number[]> {
  return (await call<Pipeline[]>(project, query)).body.map(({ id }) => id);
}

test('a pipeline in full', async (t) => {
  const { make, rows, url } = holder.app;
  const project = await make.project();
  const { username, id: userId } = project.owner;
  const { pipelineId } = await make.build(project, {
    status: 'success',
    ref: 'v1',
    tag: true,
    columns: { coverage: 90, started_at: '2016-01-01T10:00:00Z', finished_at: '2016-01-01T10:01:00Z' },
  });
  await make.build(project, {
    pipelineId,
    status: 'success',
    columns: { coverage: 95.5, started_at: '2016-01-01T10:00:30Z', finished_at: '2016-01-01T10:01:30Z' },
  });
  await make.build(project, { pipelineId, status: 'failed', columns: { coverage: 1, latest: false } });
  await rows(
    `update pipelines set user_id = $2, iid = 7, yaml_warnings = 'odd', status = 'success',
       started_at = '2016-01-01T10:00:00Z', finished_at = '2016-01-01T10:01:30Z' where id = $1`,
    [pipelineId, userId],
  );
  const { status, body } = await call(project, `/${pipelineId}`);
  t.is(status, 200);
  t.regex(String(body.created_at), /^\d{4}-.*Z$/);
  t.like(body.user, { id: userId, username, web_url: `${url}/u/${username}` });
  t.deepEqual(body, {
    id: pipelineId,
    iid: 7,
    status: 'success',
    ref: 'v1',
    tag: true,
    sha: 'a'.repeat(40),
    before_sha: '0'.repeat(40),
    source: 'push',
    yaml_errors: null,
    yaml_warnings: 'odd',
    user: body.user,
    created_at: body.created_at,
    started_at: '2016-01-01T10:00:00.000Z',
    finished_at: '2016-01-01T10:01:30.000Z',
    duration: 90,
    coverage: 92.75,
    manual_jobs: [],
  });
  t.deepEqual((await call<Pipeline[]>(project)).body, [body]);
});

test('newest first, by ref and commit, in pages, of this project alone', async (t) => {
  const { make } = holder.app;
  const [project, other] = [await make.project(), await make.project()];
  const foreign = await make.build(other);
  const sha = 'b'.repeat(40);
  const one = (await make.build(project, { ref: 'feature/x', sha })).pipelineId;
  const two = (await make.build(project, { ref: 'master', sha })).pipelineId;
  const three = (await make.build(project, { ref: 'master' })).pipelineId;
  t.deepEqual(await ids(project), [three, two, one]);
  t.deepEqual(await ids(project, '?ref=master'), [three, two]);
  t.deepEqual(await ids(project, `?sha=${sha}`), [two, one]);
  t.deepEqual(await ids(project, `?sha=${sha}&ref=feature%2Fx`), [one]);
  t.deepEqual(await ids(project, '?per_page=2&page=2'), [one]);
  t.is((await call(project, '?ref=master')).headers.get('x-total'), '2');
  for (const id of [foreign.pipelineId, 999_999]) {
    const absent = await call(project, `/${id}`);
    t.is(absent.status, 404);
    t.deepEqual(absent.body as unknown, { message: '404 Not found' });
    for (const verb of ['retry', 'cancel']) {
      const path = `/api/v3/projects/${project.id}/pipelines/${id}/${verb}`;
      t.is((await holder.app.call('POST', path, { as: project.owner.token })).status, 404);
    }
  }
});

test('time in which builds ran at once counts once, pauses do not', (t) => {
  t.is(covered([]), 0);
  t.is(
    covered([
      [10, 20],
      [0, 5],
      [12, 15],
      [18, 30],
      [30, 31],
    ]),
    26,
  );
});
