import { fileURLToPath } from 'node:url';
import test from 'ava';
import { z } from 'zod';
import { publishFolder } from '../../server/git/publish-folder.ts';
import { type CallOptions, registrationToken, rootToken, withApp } from '../support/app.ts';
import { formOf } from '../support/form-of.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { branchedProject } from '../support/merge-requests.ts';
import { opensshKeys } from '../support/openssh-keys.ts';
import { everyEndpoint } from './every-endpoint.ts';
import { fullBuild, fullProject } from './full-rows.ts';
import { planningSamples } from './planning-samples.ts';
import { repositorySamples } from './repository-samples.ts';
import { keysOfShape, keysOfValue } from './schema-keys.ts';

/** Keys that have no value yet: what fills them is not built. One that is produced has to leave this list. */
const notYet: Record<string, string[]> = {
  'POST /ci/api/v1/builds/register': [
    'artifacts_file',
    'artifacts_file.filename',
    'artifacts_file.size',
    'artifacts_expire_at',
  ],
};

const holder = withApp();

/** For each shape, by an endpoint that answers with it: answers that together have every key. */
const samples: Record<string, () => Promise<unknown[]>> = {
  async 'POST /session'() {
    await identifyRoot();
    return [await body('POST', '/api/v3/session', { form: { login: 'root', password: 'root-password' } })];
  },
  'POST /applications': async () => [await makeProgram()],
  async 'GET /applications'() {
    await makeProgram();
    return [await body('GET', '/api/v3/applications', { as: rootToken })];
  },
  async 'GET /users'() {
    await identifyRoot();
    return asBoth('/api/v3/users?username=root');
  },
  async 'GET /users/:id'() {
    await identifyRoot();
    return asBoth('/api/v3/users/1');
  },
  'POST /users': async () => [await makeUser('made')],
  async 'PUT /users/:id'() {
    const { id } = await makeUser('changed');
    return [await body('PUT', `/api/v3/users/${id}`, { as: rootToken, form: { bio: 'changed' } })];
  },
  async 'DELETE /users/:id'() {
    const { id } = await makeUser('removed');
    return [await body('DELETE', `/api/v3/users/${id}`, { as: rootToken })];
  },
  'GET /user/keys/:id': async () => [await addKey('rsa 2048')],
  async 'DELETE /user/keys/:id'() {
    const { id } = await addKey('ecdsa 256');
    return [await body('DELETE', `/api/v3/user/keys/${id}`, { as: rootToken })];
  },
  async 'GET /keys/:id'() {
    await identifyRoot();
    const { id } = await addKey('ed25519 256');
    return [await body('GET', `/api/v3/keys/${id}`, { as: rootToken })];
  },
  'GET /user/emails/:id': async () => [await addEmail('first@example.com')],
  async 'DELETE /user/emails/:id'() {
    const { id } = await addEmail('second@example.com');
    return [await body('DELETE', `/api/v3/user/emails/${id}`, { as: rootToken })];
  },
  async 'GET /projects/:id'() {
    const project = await fullProject(holder.app);
    return [
      await body('GET', `/api/v3/projects/${project.id}`, { as: project.owner.token }),
      await body('GET', '/api/v3/projects', { as: project.groupMember.token }),
    ];
  },
  async 'GET /projects/:id/events'() {
    const { id } = await triggerable();
    await holder.app.rows(
      `insert into events (project_id, author_id, action, target_type, target_id, target_title)
       values ($1, 1, 'opened', 'Milestone', 1, 'First')`,
      [id],
    );
    await comment(id);
    return [await body('GET', `/api/v3/projects/${id}/events`, { as: rootToken })];
  },
  async 'GET /projects/:id/users'() {
    const { id } = await fullProject(holder.app);
    return [await body('GET', `/api/v3/projects/${id}/users`, { as: rootToken })];
  },
  async 'GET /groups'() {
    await holder.app.make.group();
    return [await body('GET', '/api/v3/groups', { as: rootToken })];
  },
  async 'GET /groups/:id'() {
    const project = await fullProject(holder.app);
    const path = `/api/v3/groups/${project.groupId}`;
    await holder.app.rows('update projects set forked_from_id = $1 where namespace_id = $2', [
      project.id,
      project.groupId,
    ]);
    return [await body('GET', path, { as: rootToken })];
  },
  'GET /namespaces': async () => [await body('GET', '/api/v3/namespaces', { as: rootToken })],
  async 'GET /groups/:id/members'() {
    const { groupId } = await fullProject(holder.app);
    return [await body('GET', `/api/v3/groups/${groupId}/members`, { as: rootToken })];
  },
  async 'DELETE /projects/:id/members/:user_id'() {
    const project = await holder.app.make.project();
    const member = await holder.app.make.member(project, 'guest');
    const path = `/api/v3/projects/${project.id}/members/${member.id}`;
    const remove = () => body('DELETE', path, { as: rootToken });
    return [await remove(), await remove()];
  },
  async 'POST /projects/:id/share'() {
    const project = await holder.app.make.project();
    const form = { group_id: String(await holder.app.make.group()), group_access: '10' };
    return [await body('POST', `/api/v3/projects/${project.id}/share`, { as: rootToken, form })];
  },
  async 'GET /projects/:id/builds/:build_id'() {
    const { project, id } = await fullBuild(holder.app);
    return [await body('GET', `/api/v3/projects/${project.id}/builds/${id}`, { as: rootToken })];
  },
  async 'POST /projects/:id/builds/:build_id/erase'() {
    const { project, id } = await fullBuild(holder.app);
    return [await body('POST', `/api/v3/projects/${project.id}/builds/${id}/erase`, { as: rootToken })];
  },
  async 'GET /projects/:id/pipelines/:pipeline_id'() {
    const { project, pipelineId } = await fullBuild(holder.app);
    await holder.app.rows('update pipelines set user_id = $2 where id = $1', [pipelineId, project.owner.id]);
    await holder.app.rows('update pipeline_jobs set planned_build_id = 1000000 + id where pipeline_id = $1', [
      pipelineId,
    ]);
    return [await body('GET', `/api/v3/projects/${project.id}/pipelines/${pipelineId}`, { as: rootToken })];
  },
  async 'POST /projects/:id/statuses/*sha'() {
    const project = await holder.app.make.project();
    const path = `/api/v3/projects/${project.id}/statuses/${await looseCommit(holder.app, project)}`;
    const form = { state: 'success', ref: 'master', target_url: 'https://ci.example.com', description: 'ok' };
    return [await body('POST', path, { as: rootToken, form })];
  },
  async 'POST /projects/:id/repository/commits/*sha/comments'() {
    return [await comment((await triggerable()).id)];
  },
  async 'GET /projects/:id/issues/:issue_id'() {
    const project = await holder.app.make.project();
    const columns = { project_id: project.id, iid: 1, title: 'v1', due_date: '2016-01-07' };
    const milestone_id = String(await holder.app.make.row('milestones', columns));
    const form = { title: 'A', description: 'B', labels: 'c', assignee_id: '1', milestone_id };
    return [await body('POST', `/api/v3/projects/${project.id}/issues`, { as: rootToken, form })];
  },
  async 'GET /projects/:id/variables/:key'() {
    const { id } = await holder.app.make.project();
    const form = { key: 'A', value: 'x' };
    return [await body('POST', `/api/v3/projects/${id}/variables`, { as: rootToken, form })];
  },
  async 'GET /projects/:id/merge_requests/:merge_request_id'() {
    return [await askForMerge()];
  },
  async 'POST /projects/:id/merge_requests/:merge_request_id/comments'() {
    const { id, project_id } = await askForMerge();
    const path = `/api/v3/projects/${project_id}/merge_requests/${id}/comments`;
    return [await body('POST', path, { as: rootToken, form: { note: 'x' } })];
  },
  'POST /hooks': async () => [await makeHook('/api/v3/hooks')],
  async 'DELETE /hooks/:id'() {
    const { id } = await makeHook('/api/v3/hooks');
    return [await body('DELETE', `/api/v3/hooks/${id}`, { as: rootToken })];
  },
  async 'GET /hooks/:id'() {
    const { id } = await makeHook('/api/v3/hooks');
    return [await body('GET', `/api/v3/hooks/${id}`, { as: rootToken })];
  },
  async 'GET /hooks/:id/deliveries'() {
    const { id } = await makeHook('/api/v3/hooks');
    await body('GET', `/api/v3/hooks/${id}`, { as: rootToken });
    await holder.app.rows(`update hook_deliveries set response_status = 500, response_body = 'x'`);
    return [await body('GET', `/api/v3/hooks/${id}/deliveries`, { as: rootToken })];
  },
  async 'POST /projects/:id/hooks'() {
    return [await makeHook(`/api/v3/projects/${(await holder.app.make.project()).id}/hooks`)];
  },
  async 'DELETE /projects/:id/hooks/:hook_id'() {
    const path = `/api/v3/projects/${(await holder.app.make.project()).id}/hooks`;
    return [await body('DELETE', `${path}/${(await makeHook(path)).id}`, { as: rootToken })];
  },
  async 'GET /projects/:id/triggers/:token'() {
    return [await makeTrigger(await holder.app.make.project())];
  },
  async 'POST /ci/lint'() {
    const content = `
job:
  script: make
  artifacts: {name: a, untracked: true, paths: [a], when: always, expire_in: 1 day}
  cache: {key: a, untracked: true, paths: [a]}
`;
    return [await body('POST', '/api/v3/ci/lint', { as: rootToken, form: { content } })];
  },
  async 'POST /projects/:id/trigger/builds'() {
    const { id, form } = await triggerable();
    return [await body('POST', `/api/v3/projects/${id}/trigger/builds`, { form })];
  },
  async 'POST /ci/api/v1/projects/:id/refs/:ref/trigger'() {
    const { id, form } = await triggerable();
    return [await body('POST', `/ci/api/v1/projects/${id}/refs/master/trigger`, { form })];
  },
  'GET /application/settings': async () => [
    await body('GET', '/api/v3/application/settings', { as: rootToken }),
  ],
  'GET /licenses': async () => [await body('GET', '/api/v3/licenses', {})],
  async 'GET /broadcast_messages'() {
    const form = { message: 'Hello', color: '#000', font: '#fff' };
    return [await body('POST', '/api/v3/broadcast_messages', { as: rootToken, form })];
  },
  'GET /notification_settings': async () => [
    await body('GET', '/api/v3/notification_settings', { as: rootToken }),
  ],
  async 'GET /projects/:id/notification_settings'() {
    const { id } = await holder.app.make.project();
    return [await body('GET', `/api/v3/projects/${id}/notification_settings`, { as: rootToken })];
  },
  async 'POST /projects/:id/uploads'() {
    const { id } = await holder.app.make.project();
    const sent = formOf({ name: 'file', filename: 'a.png', content: 'x' });
    return [await body('POST', `/api/v3/projects/${id}/uploads`, { as: rootToken, ...sent })];
  },
  async 'GET /runners/:id'() {
    const { app } = holder;
    const runner = await app.make.runner({ projects: [await app.make.project()] });
    return [await body('GET', `/api/v3/runners/${runner.id}`, { as: rootToken })];
  },
  async 'GET /runners/all'() {
    await holder.app.make.runner();
    return [await body('GET', '/api/v3/runners/all', { as: rootToken })];
  },
  async 'POST /ci/api/v1/builds/register'() {
    const { runner } = await fullBuild(holder.app);
    return [await body('POST', '/ci/api/v1/builds/register', { json: { token: runner.token } })];
  },
  'POST /ci/api/v1/runners/register': async () => [
    await body('POST', '/ci/api/v1/runners/register', { json: { token: registrationToken } }),
  ],
};
for (const [name, answers] of Object.entries({ ...repositorySamples, ...planningSamples })) {
  samples[name] = () => answers({ app: holder.app, body });
}

const shapes = new Map(everyEndpoint().map(({ name, endpoint }) => [name, plain(endpoint.returns)]));

for (const [name, answers] of Object.entries(samples)) {
  test(`every key of the answer of ${name} is produced, but for those that wait`, async (t) => {
    const shape = shapes.get(name);
    const produced = new Set(
      (await answers()).flatMap((answer) => [answer].flat().flatMap((item) => [...keysOfValue(item)])),
    );
    const missing = [...(shape ? keysOfShape(shape) : [])].filter((key) => !produced.has(key));
    t.deepEqual(missing.sort(), [...(notYet[name] ?? [])].sort());
    t.true(produced.size > 0);
  });
}

test('each shape with keys has a sample above', (t) => {
  const sampled = new Set(Object.keys(samples).map((name) => shapes.get(name)));
  const without = [...shapes].filter(([, shape]) => keysOfShape(shape).size > 0 && !sampled.has(shape));
  t.deepEqual(
    without.map(([name]) => name),
    [],
  );
});

/** Of a user, unlike those of the whole instance. */
function makeProgram(): Promise<unknown> {
  const form = { name: 'A program', redirect_uri: 'https://example.com/' };
  return body('POST', '/api/v3/user/applications', { as: rootToken, form });
}

/** A hook whose messages go nowhere. */
function makeHook(path: string): Promise<{ id: number }> {
  const form = { url: 'http://127.0.0.1:1/' };
  return body('POST', path, { as: rootToken, form }) as Promise<{ id: number }>;
}

function makeTrigger({ id }: { id: number }): Promise<{ token: string }> {
  return body('POST', `/api/v3/projects/${id}/triggers`, { as: rootToken }) as Promise<{ token: string }>;
}

function comment(projectId: number): Promise<unknown> {
  const path = `/api/v3/projects/${projectId}/repository/commits/master/comments`;
  return body('POST', path, { as: rootToken, form: { note: 'Hello' } });
}

/** Of a project whose owner is root, with everything that one can have. */
async function askForMerge(): Promise<{ id: number; project_id: number }> {
  const { app } = holder;
  const { project } = await branchedProject(app);
  const milestone = await app.make.row('milestones', { project_id: project.id, iid: 1, title: 'v1' });
  const form = {
    source_branch: 'side',
    target_branch: 'master',
    title: 'A',
    description: 'B',
    labels: 'c',
    assignee_id: '1',
    milestone_id: String(milestone),
  };
  const path = `/api/v3/projects/${project.id}/merge_requests`;
  return body('POST', path, { as: rootToken, form }) as Promise<{ id: number; project_id: number }>;
}

/** A project with a CI file, and what starts a pipeline of it. */
async function triggerable(): Promise<{ id: number; form: Record<string, string> }> {
  const { app } = holder;
  const project = await app.make.project();
  await publishFolder({
    folder: fileURLToPath(new URL('../../examples/hello-ci', import.meta.url)),
    branch: 'master',
    message: 'First',
    url: `${app.url}/${project.fullPath}.git`,
    user: 'root',
    password: rootToken,
  });
  const { token } = await makeTrigger(project);
  return { id: project.id, form: { token, ref: 'master', 'variables[A]': 'x' } };
}

/** The directory knows root too. */
async function identifyRoot(): Promise<void> {
  await holder.app.rows(
    "insert into identities (user_id, provider, extern_uid) values (1, 'directory', 'root') on conflict do nothing",
  );
}

function addKey(name: keyof typeof opensshKeys): Promise<{ id: number }> {
  const form = { title: name, key: opensshKeys[name].line };
  return body('POST', '/api/v3/user/keys', { as: rootToken, form }) as Promise<{ id: number }>;
}

function addEmail(email: string): Promise<{ id: number }> {
  return body('POST', '/api/v3/user/emails', { as: rootToken, form: { email } }) as Promise<{ id: number }>;
}

/** Without `nullable`, so that endpoints which answer with the same shape are known by it. */
function plain(shape: z.ZodType): z.ZodType {
  return shape instanceof z.ZodNullable ? (shape.unwrap() as z.ZodType) : shape;
}

async function asBoth(path: string): Promise<unknown[]> {
  const user = await holder.app.make.user();
  return [await body('GET', path, { as: rootToken }), await body('GET', path, { as: user.token })];
}

async function body(method: string, path: string, options: CallOptions): Promise<unknown> {
  const answer = await holder.app.call(method, path, options);
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** With an identity, so that answers have every key. */
function makeUser(username: string): Promise<{ id: number }> {
  const email = `${username}@example.com`;
  const identity = { provider: 'directory', extern_uid: username };
  const form = { username, name: username, email, password: 'long-enough', ...identity };
  return body('POST', '/api/v3/users', { as: rootToken, form }) as Promise<{ id: number }>;
}
