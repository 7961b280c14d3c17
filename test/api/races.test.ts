import test from 'ava';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';

// As many connections as requests, so that they really meet in the database.
const holder = withApp({ poolSize: 6 });
const rounds = 6;

function post<T = { id: number; status: string }>(
  path: string,
  as: string,
  json?: Record<string, unknown>,
): Promise<Answer<T>> {
  return holder.app.call<T>('POST', `/api/v3${path}`, { as, json });
}

function statuses(answers: Answer[]): number[] {
  return answers.map(({ status }) => status).sort();
}

test.serial('of several that ask for the same path, one gets it', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const user = await holder.app.make.user();
    const names = ['race', 'RACE', 'race', 'Race'];
    const answers = await Promise.all(names.map((name) => post('/projects', user.token, { name })));
    t.deepEqual(statuses(answers), [201, 400, 400, 400]);
  }
});

test.serial('of several that ask for the last place in a namespace, one gets it', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const user = await holder.app.make.user({ projectsLimit: 1 });
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => post('/projects', user.token, { name })));
    t.deepEqual(statuses(answers), [201, 403, 403]);
  }
});

test.serial('several retries of one build make one new build', async (t) => {
  const { make, rows } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const build = await make.build(project, { status: 'failed' });
    const path = `/projects/${project.id}/builds/${build.id}/retry`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(path, project.owner.token)));
    t.deepEqual(statuses(answers), [201, 201, 201, 201]);
    t.is(new Set(answers.map(({ body }) => body.id)).size, 1);
    t.is((await rows('select 1 from builds where pipeline_id = $1', [build.pipelineId])).length, 2);
    t.is((await rows('select 1 from pending_builds where project_id = $1', [project.id])).length, 1);
  }
});

test.serial('several first statuses of one commit make one pipeline and one status', async (t) => {
  const { make, rows } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const json = { state: 'running', ref: 'master' };
    const path = `/projects/${project.id}/statuses/${await looseCommit(holder.app, project)}`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(path, project.owner.token, json)));
    t.deepEqual(statuses(answers), [201, 201, 201, 201]);
    t.is(new Set(answers.map(({ body }) => body.id)).size, 1);
    t.is((await rows('select 1 from pipelines where project_id = $1', [project.id])).length, 1);
  }
});

test.serial('a job that several start by hand is started once', async (t) => {
  const { make, rows } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const build = await make.build(project, { status: 'success' });
    const [job] = await rows<{ id: number }>(
      `insert into pipeline_jobs (pipeline_id, position, name, definition, planned_build_id)
       select pipeline_id, 1000000, 'by hand', definition, nextval('builds_id_seq') from pipeline_jobs where id = $1
       returning planned_build_id as id`,
      [build.jobId],
    );
    const path = `/projects/${project.id}/builds/${job?.id}/play`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(path, project.owner.token)));
    t.deepEqual(statuses(answers), [200, 400, 400, 400]);
    t.is((await rows('select 1 from pending_builds where project_id = $1', [project.id])).length, 1);
  }
});

test.serial('a pipeline that is cancelled while runners ask has nothing left', async (t) => {
  const { make, rows } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const runner = await make.runner({ projects: [project] });
    const { pipelineId } = await make.build(project);
    for (let count = 0; count < 3; count += 1) await make.build(project, { pipelineId });
    const claim = () =>
      holder.app.call('POST', '/ci/api/v1/builds/register', { json: { token: runner.token } });
    const [canceled] = await Promise.all([
      post(`/projects/${project.id}/pipelines/${pipelineId}/cancel`, project.owner.token),
      claim(),
      claim(),
    ]);
    t.is(canceled.status, 201);
    const states = await rows('select distinct status from builds where pipeline_id = $1', [pipelineId]);
    t.deepEqual(states, [{ status: 'canceled' }]);
    t.deepEqual(await rows('select status from pipelines where id = $1', [pipelineId]), [
      { status: 'canceled' },
    ]);
  }
});

test.serial(
  'cancel against a claim: whatever comes first, the build ends canceled and waits for nobody',
  async (t) => {
    const { make, rows } = holder.app;
    for (let round = 0; round < rounds; round += 1) {
      const project = await make.project();
      const runner = await make.runner({ projects: [project] });
      const build = await make.build(project);
      const [canceled, claimed] = await Promise.all([
        post(`/projects/${project.id}/builds/${build.id}/cancel`, project.owner.token),
        holder.app.call('POST', '/ci/api/v1/builds/register', { json: { token: runner.token } }),
      ]);
      t.is(canceled.status, 201);
      t.is(canceled.body.status, 'canceled');
      t.true(claimed.status === 201 || claimed.status === 404);
      t.deepEqual(await rows('select status from builds where id = $1', [build.id]), [
        { status: 'canceled' },
      ]);
      t.deepEqual(await rows('select 1 from pending_builds where build_id = $1', [build.id]), []);
    }
  },
);

test.serial('cancel against the end that a runner reports: one of the two counts, for both', async (t) => {
  const { make, call } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const runner = await make.runner();
    const build = await make.build(project, { status: 'running', runner });
    const path = `/projects/${project.id}/builds/${build.id}`;
    const json = { token: runner.token, state: 'success' };
    const [canceled, reported] = await Promise.all([
      post(`${path}/cancel`, project.owner.token),
      call('PUT', `/ci/api/v1/builds/${build.id}`, { json }),
    ]);
    const { body } = await call<{ status: string }>('GET', `/api/v3${path}`, { as: rootToken });
    t.is(canceled.body.status, body.status);
    t.true(body.status === 'canceled' || (body.status === 'success' && reported.status === 200));
  }
});

test.serial('two that take a runner from its last two projects leave it one', async (t) => {
  const { make, call } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const projects = [await make.project(), await make.project()];
    const runner = await make.runner({ projects });
    const answers = await Promise.all(
      projects.map(({ id }) =>
        call('DELETE', `/api/v3/projects/${id}/runners/${runner.id}`, { as: rootToken }),
      ),
    );
    t.deepEqual(statuses(answers), [200, 403]);
  }
});

test.serial('two that enable a runner for the same project: one is told that it was already', async (t) => {
  const { make } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const [project, other] = [await make.project(), await make.project()];
    const runner = await make.runner({ projects: [other] });
    const enable = () => post(`/projects/${project.id}/runners`, rootToken, { runner_id: runner.id });
    t.deepEqual(statuses(await Promise.all([enable(), enable()])), [201, 409]);
  }
});

test.serial('erase, twice at once, and against a retry', async (t) => {
  const { make } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const build = await make.build(project, { status: 'success' });
    const path = `/projects/${project.id}/builds/${build.id}`;
    const verbs = ['erase', 'retry', 'erase'];
    const answers = await Promise.all(verbs.map((verb) => post(`${path}/${verb}`, project.owner.token)));
    t.deepEqual(statuses(answers), [201, 201, 201]);
  }
});

test.serial('changes of different attributes at once are all kept', async (t) => {
  const { make, call } = holder.app;
  for (let round = 0; round < rounds; round += 1) {
    const project = await make.project();
    const path = `/api/v3/projects/${project.id}`;
    const as = project.owner.token;
    const changes = [
      { description: 'new' },
      { wiki_enabled: false },
      { path: `p${round}` },
      { public: true },
    ];
    const answers = await Promise.all(changes.map((json) => call('PUT', path, { as, json })));
    t.deepEqual(statuses(answers), [200, 200, 200, 200]);
    const { body } = await call<Record<string, unknown>>('GET', path, { as });
    t.like(body, { description: 'new', wiki_enabled: false, path: `p${round}`, visibility_level: 20 });
  }
});
