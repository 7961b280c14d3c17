import test from 'ava';
import type { MadeProject } from '../support/make.ts';
import { withPushes } from '../support/pushes.ts';

const { holder, filled } = withPushes();

interface Trigger {
  token: string;
  created_at: string;
  deleted_at: string | null;
  last_used: string | null;
}

interface Build {
  id: number;
  ref: string;
  user: unknown;
}

function path(project: MadeProject, token = ''): string {
  return `/api/v3/projects/${project.id}/triggers${token && `/${token}`}`;
}

async function triggered() {
  const pushed = await filled();
  const as = pushed.project.owner.token;
  const made = await holder.app.call<Trigger>('POST', path(pushed.project), { as });
  return { ...pushed, as, trigger: made.body, status: made.status };
}

test('a trigger is made, read, listed, and revoked once', async (t) => {
  const { app } = holder;
  const { project, as, trigger, status } = await triggered();
  t.is(status, 201);
  t.regex(trigger.token, /^[0-9a-f]{30}$/);
  t.is(trigger.last_used, null);
  t.deepEqual((await app.call('GET', path(project), { as })).body, [trigger]);
  t.deepEqual((await app.call('GET', path(project, trigger.token), { as })).body, trigger);
  const revoked = await app.call<Trigger>('DELETE', path(project, trigger.token), { as });
  t.is(revoked.status, 200);
  t.truthy(revoked.body.deleted_at);
  const again = await app.call('DELETE', path(project, trigger.token), { as });
  t.is(again.status, 404);
  t.deepEqual(again.body, { message: '404 Trigger Not Found' });
  t.deepEqual((await app.call('GET', path(project), { as })).body, []);
});

test('developers have no triggers, and those of another project are not there', async (t) => {
  const { app } = holder;
  const { project, trigger } = await triggered();
  const other = await app.make.project({ owner: project.owner });
  const developer = await app.make.member(project, 'developer');
  t.is((await app.call('GET', path(project), { as: developer.token })).status, 403);
  t.is((await app.call('GET', path(other, trigger.token), { as: project.owner.token })).status, 404);
});

test('each call starts a new pipeline whose builds get the variables, above all others', async (t) => {
  const { app } = holder;
  const { project, as, trigger } = await triggered();
  await app.call('POST', `/api/v3/projects/${project.id}/variables`, {
    as,
    form: { key: 'WHO', value: 'project' },
  });
  const form = { token: trigger.token, ref: 'master', 'variables[WHO]': 'trigger' };
  for (const _ of [1, 2]) {
    const answer = await app.call('POST', `/api/v3/projects/${project.id}/trigger/builds`, { form });
    t.is(answer.status, 201);
    t.like(answer.body, { variables: { WHO: 'trigger' } });
  }
  const builds = await app.call<Build[]>('GET', `/api/v3/projects/${project.id}/builds`, { as });
  t.is(builds.body.length, 3);
  t.is(builds.body[0]?.user, null);
  for (const { id } of builds.body.slice(2)) {
    await app.call('POST', `/api/v3/projects/${project.id}/builds/${id}/cancel`, { as });
  }
  const runner = await app.make.runner({ projects: [project] });
  const claimed = await app.call<{ variables: { key: string; value: string }[] }>(
    'POST',
    '/ci/api/v1/builds/register',
    {
      json: { token: runner.token },
    },
  );
  const value = (key: string) => claimed.body.variables.find((variable) => variable.key === key)?.value;
  t.is(value('WHO'), 'trigger');
  t.is(value('CI_BUILD_TRIGGERED'), 'true');
  const used = await app.call<Trigger>('GET', path(project, trigger.token), { as });
  t.truthy(used.body.last_used);
});

test('the older address answers with the commit', async (t) => {
  const { app } = holder;
  const { project, trigger, sha } = await triggered();
  const answer = await app.call('POST', `/ci/api/v1/projects/${project.id}/refs/master/trigger`, {
    form: { token: trigger.token },
  });
  t.is(answer.status, 201);
  t.like(answer.body, {
    variables: null,
    commit: { sha, project_id: project.id, git_author_name: 'Ada Lovelace' },
  });
});

test('what is missing, unknown, foreign or no map of texts', async (t) => {
  const { app } = holder;
  const { project, trigger } = await triggered();
  const { trigger: foreign } = await triggered();
  const { token } = trigger;
  const cases: [Record<string, unknown>, number, string][] = [
    [{ token }, 400, '400 (Bad request) "ref" not given'],
    [{ ref: 'master' }, 400, '400 (Bad request) "token" not given'],
    [{ ref: 'master', token: 'x'.repeat(30) }, 404, '404 Not Found'],
    [{ ref: 'master', token: foreign.token }, 401, '401 Unauthorized'],
    [{ ref: 'nowhere', token }, 400, 'No builds created'],
    [{ ref: 'master', token, variables: 'A' }, 400, 'variables needs to be a hash'],
    [{ ref: 'master', token, variables: { A: 1 } }, 400, 'variables needs to be a map of key-valued strings'],
  ];
  for (const [json, status, message] of cases) {
    const answer = await app.call('POST', `/api/v3/projects/${project.id}/trigger/builds`, { json });
    t.is(answer.status, status, message);
    t.deepEqual(answer.body, { message });
  }
  const unknown = await app.call('POST', '/api/v3/projects/999999/trigger/builds', {
    json: { ref: 'x', token },
  });
  t.is(unknown.status, 404);
});

test('a revoked trigger starts nothing', async (t) => {
  const { app } = holder;
  const { project, as, trigger } = await triggered();
  await app.call('DELETE', path(project, trigger.token), { as });
  const answer = await app.call('POST', `/api/v3/projects/${project.id}/trigger/builds`, {
    json: { ref: 'master', token: trigger.token },
  });
  t.is(answer.status, 404);
});

test('only: [triggers] holds for triggers alone, and the skip marker does not', async (t) => {
  const { app } = holder;
  const { project, as, trigger, tree, url } = await triggered();
  await tree.commit({ '.gitlab-ci.yml': 'nightly: {script: x, only: [triggers]}\n' }, 'now [ci skip]');
  await tree.git('push', '--quiet', url, 'master');
  const form = { token: trigger.token, ref: 'master' };
  t.is((await app.call('POST', `/api/v3/projects/${project.id}/trigger/builds`, { form })).status, 201);
  const builds = await app.call<{ name: string }[]>('GET', `/api/v3/projects/${project.id}/builds`, { as });
  t.is(builds.body[0]?.name, 'nightly');
});

test('what started nothing leaves nothing: neither a pipeline nor a use of the trigger', async (t) => {
  const { app } = holder;
  const { project, as, trigger, tree, url } = await triggered();
  const form = { token: trigger.token, ref: 'master' };
  const before = (await app.rows('select 1 from pipelines where project_id = $1', [project.id])).length;
  const refused = async (why: string) => {
    const answer = await app.call('POST', `/api/v3/projects/${project.id}/trigger/builds`, { form });
    t.is(answer.status, 400, why);
    t.deepEqual(answer.body, { message: 'No builds created' });
  };
  await app.rows('update projects set builds_enabled = false where id = $1', [project.id]);
  await refused('builds are off');
  await tree.commit({ '.gitlab-ci.yml': 'broken: {stage: nowhere, script: x}' });
  await tree.git('push', '--quiet', url, 'master');
  await app.rows('update projects set builds_enabled = true where id = $1', [project.id]);
  await refused('the file is broken');
  t.is((await app.rows('select 1 from pipelines where project_id = $1', [project.id])).length, before);
  t.deepEqual((await app.call('GET', path(project, trigger.token), { as })).body, trigger);
});

test('a project may be named by its path, a tag is a ref, and each call is numbered anew', async (t) => {
  const { app } = holder;
  const { project, trigger, tree, url } = await triggered();
  await tree.git('push', '--quiet', url, 'HEAD:refs/tags/v1');
  const form = { token: trigger.token, ref: 'v1' };
  const address = `/api/v3/projects/${encodeURIComponent(project.fullPath)}/trigger/builds`;
  const answers = [];
  for (const _ of [1, 2]) answers.push(await app.call<{ id: number }>('POST', address, { form }));
  t.deepEqual(
    answers.map(({ status }) => status),
    [201, 201],
  );
  const rows = await app.rows(
    'select id, iid, tag, user_id, source from pipelines where project_id = $1 and source = $2 order by id',
    [project.id, 'trigger'],
  );
  const expected = { tag: true, user_id: null, source: 'trigger' };
  t.deepEqual(
    rows,
    answers.map(({ body }, index) => ({ id: body.id, iid: 3 + index, ...expected })),
  );
});

test('triggers are listed oldest first, without the revoked', async (t) => {
  const { app } = holder;
  const { project, as, trigger } = await triggered();
  const tokens = [trigger.token];
  for (const _ of [1, 2]) tokens.push((await app.call<Trigger>('POST', path(project), { as })).body.token);
  await app.call('DELETE', path(project, tokens[1]), { as });
  const listed = await app.call<Trigger[]>('GET', path(project), { as });
  t.deepEqual(
    listed.body.map(({ token }) => token),
    [tokens[0], tokens[2]],
  );
  t.is(listed.headers.get('x-total'), '2');
  const revoked = await app.call('GET', path(project, tokens[1]), { as });
  t.is(revoked.status, 404);
  t.deepEqual(revoked.body, { message: '404 Trigger Not Found' });
});
