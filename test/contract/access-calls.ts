import { randomBytes, randomInt } from 'node:crypto';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import type { TestApp } from '../support/app.ts';
import { registrationToken, rootToken } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import { writeBlob } from '../support/trees.ts';
import type { AccessProject, AccessWorld } from './access-world.ts';
import type { ServedEndpoint } from './every-endpoint.ts';

/** What a path may name, by the part before it. Each call that changes something gets a thing of its own. */
type Maker = (scene: Scene, before: PathPart[]) => Promise<number | string> | number | string;
/** Of the path, as it is filled in. */
type PathPart = number | string;

export interface Scene {
  app: TestApp;
  world: AccessWorld;
  project: AccessProject;
  name: string;
}

const makers: Record<string, Maker> = {
  'projects/:id': (scene) => (isSpoilt(scene) ? copyOf(scene) : scene.project.id),
  'groups/:id': groupOf,
  'projects/:project_id': async ({ app }) => (await app.make.project()).id,
  'members/:user_id': memberOf,
  'share/:group_id': async ({ app, project }) => {
    const group = await app.make.group();
    await app.make.share(project, group, 'guest');
    return group;
  },
  'search/:query': () => 'project',
  'fork/:id': ({ project }) => project.id,
  'fork/:forked_from_id': async ({ app }) => (await app.make.project()).id,
  'user/:user_id': ({ world }) => world.user.id,
  'users/:id': userOf,
  'users/:uid': userOf,
  'keys/:id': ({ app, world }) => insertKey(app, world.user.id),
  'keys/:key_id': deployKeyOf,
  'deploy_keys/:key_id': deployKeyOf,
  'emails/:id': async ({ app, world }) => {
    const email = `${randomBytes(4).toString('hex')}@example.com`;
    const text = 'insert into emails (user_id, email) values ($1, $2) returning id';
    return (await app.rows<{ id: number }>(text, [world.user.id, email]))[0]?.id ?? 0;
  },
  'applications/:id': async ({ app, world }) => {
    const form = { name: 'A program', redirect_uri: 'https://example.com/' };
    const path = '/api/v3/user/applications';
    return (await app.call<{ id: number }>('POST', path, { as: world.user.token, form })).body.id;
  },
  'commits/:sha': ({ project }) => project.sha,
  'commits/*sha': ({ project }) => project.sha,
  'statuses/*sha': ({ project }) => project.sha,
  'blobs/*sha': ({ project }) => project.sha,
  'raw_blobs/:sha': ({ app, project }) =>
    writeBlob(repositoryDir(app.services.repositoriesDir, project.id), `A file of ${project.id}`),
  'runners/:id': async ({ app, project }) => (await app.make.runner({ projects: [project] })).id,
  'runners/:runner_id': runnerOfTwo,
  'variables/:key': async ({ app, project }) => {
    const form = { key: `K_${randomBytes(4).toString('hex')}`, value: 'x' };
    await app.call('POST', `/api/v3/projects/${project.id}/variables`, { as: rootToken, form });
    return form.key;
  },
  'triggers/:token': async ({ app, project }) => {
    const path = `/api/v3/projects/${project.id}/triggers`;
    return (await app.call<{ token: string }>('POST', path, { as: rootToken })).body.token;
  },
  'pipelines/:pipeline_id': async ({ world, project }) =>
    (await world.build(project, { status: 'success' })).pipelineId,
  'milestones/:milestone_id': ({ app, project }) =>
    insert(app, {
      text: 'insert into milestones (project_id, iid, title) values ($1, $3, $2) returning id',
      values: [project.id, randomBytes(4).toString('hex'), randomInt(2 ** 31)],
    }),
  'labels/:label_id': ({ app, project }) =>
    insert(app, {
      text: `insert into labels (project_id, title, color) values ($1, $2, '#ff0000') returning id`,
      values: [project.id, randomBytes(4).toString('hex')],
    }),
  'snippets/:snippet_id': ({ app, project }) => insertSnippet(app, [project.id, project.owner.id, 20]),
  // For everybody but external users.
  'snippets/:id': ({ app, world }) => insertSnippet(app, [null, world.user.id, 10]),
  // Of nobody who calls: whoever wrote it has more rights.
  'issues/:issue_id': async ({ app, project }) =>
    (await app.make.issue(project, { author: await app.make.user() })).id,
  // Of nobody who calls, too, and of what is named before it.
  'notes/:note_id': async ({ app, project }, before) => {
    const [kind, id] = before.slice(-3);
    const type = kind === 'issues' ? 'Issue' : kind === 'snippets' ? 'Snippet' : 'MergeRequest';
    return app.make.note(project, { type, id: Number(id) }, { author: await app.make.user() });
  },
  'licenses/:key': () => 'mit',
  'broadcast_messages/:id': async ({ app }) => {
    const form = { message: 'Hello' };
    const answer = await app.call<{ id: number }>('POST', '/api/v3/broadcast_messages', {
      as: rootToken,
      form,
    });
    return answer.body.id;
  },
  'hooks/:hook_id': (scene) => insertHook(scene.app, scene.project.id),
  'hooks/:id': (scene) => insertHook(scene.app, null),
  'merge_requests/:merge_request_id': mergeRequestOf,
  'merge_request/:merge_request_id': mergeRequestOf,
  'artifacts/*ref': () => 'feature/new',
  'branches/*branch': (scene) => refOf(scene, 'heads'),
  'tags/*tag_name': (scene) => refOf(scene, 'tags'),
  'builds/:build_id': async ({ world, project, name }) =>
    (await world.build(project, { status: name.endsWith('/cancel') ? 'pending' : 'success' })).id,
};

/** Of nobody who calls: whoever wrote it has more rights. */
async function mergeRequestOf(scene: Scene): Promise<number> {
  const { app, project, name } = scene;
  const isMerge = name.endsWith('/merge') && project.sha;
  const columns = isMerge ? await mergeableBranches(scene) : { head_sha: project.sha || null };
  const merge_when_build_succeeds = name.endsWith('/cancel_merge_when_build_succeeds');
  const given = { author: await app.make.user(), columns: { ...columns, merge_when_build_succeeds } };
  return (await app.make.mergeRequest(project, given)).id;
}

async function mergeableBranches({ app, project }: Scene): Promise<Record<string, unknown>> {
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const target = await looseCommit(app, project);
  const source = await looseCommit(app, project, target);
  const name = randomBytes(4).toString('hex');
  await git(dir, 'update-ref', `refs/heads/into-${name}`, target);
  await git(dir, 'update-ref', `refs/heads/from-${name}`, source);
  return { head_sha: source, source_branch: `from-${name}`, target_branch: `into-${name}` };
}

/** A new branch or tag of the project. */
async function refOf({ app, project }: Scene, folder: 'heads' | 'tags'): Promise<string> {
  const name = `of-${project.id}/${randomBytes(4).toString('hex')}`;
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  await git(dir, 'update-ref', `refs/${folder}/${name}`, await looseCommit(app, project));
  return name;
}

/** Everybody's user, or one who may be removed or blocked. */
async function userOf({ app, world, name }: Scene): Promise<number> {
  const isLost = name === 'DELETE /users/:id' || name.endsWith('/block');
  return isLost ? (await app.make.user()).id : world.user.id;
}

/** @returns id of the row. */
async function insert(app: TestApp, { text, values }: { text: string; values: unknown[] }): Promise<number> {
  return (await app.rows<{ id: number }>(text, values))[0]?.id ?? 0;
}

/** @param values project, author and level. */
function insertSnippet(app: TestApp, values: [number | null, number, number]): Promise<number> {
  const text = `insert into snippets (project_id, author_id, visibility_level, title, file_name, content)
    values ($1, $2, $3, 'A snippet', 'a.txt', 'x') returning id`;
  return insert(app, { text, values });
}

async function insertKey(app: TestApp, userId: number | null): Promise<number> {
  const text = `insert into keys (user_id, title, key, fingerprint, fingerprint_sha256)
    values ($1, 'k', 'k', '00', $2) returning id`;
  const [row] = await app.rows<{ id: number }>(text, [userId, randomBytes(16).toString('hex')]);
  return row?.id ?? 0;
}

async function deployKeyOf({ app, project }: Scene): Promise<number> {
  const id = await insertKey(app, null);
  await app.rows('insert into project_deploy_keys (project_id, key_id) values ($1, $2)', [project.id, id]);
  return id;
}

/** The group of the scene, or one like it that may be removed or filled. */
async function groupOf({ app, project, name }: Scene): Promise<number> {
  const groupId = project.groupId ?? (await app.make.group());
  if (name !== 'DELETE /groups/:id') return groupId;
  const [like] = await app.rows<{ visibility_level: 0 | 10 | 20 }>(
    'select visibility_level from namespaces where id = $1',
    [groupId],
  );
  const copy = await app.make.group();
  await app.rows('update namespaces set visibility_level = $2 where id = $1', [copy, like?.visibility_level]);
  await app.rows(
    `insert into group_members (group_id, user_id, access_level)
     select $2, user_id, access_level from group_members where group_id = $1`,
    [groupId, copy],
  );
  return copy;
}

/** A guest of the project or group that the path names. */
async function memberOf({ app, project }: Scene): Promise<number> {
  if (project.groupId === undefined) return (await app.make.member(project, 'guest')).id;
  const member = await app.make.user();
  await app.make.groupMember(project.groupId, member, 'guest');
  return member.id;
}

/** Whether the call would leave a project that is no longer what the scene is about. */
function isSpoilt({ name }: Scene): boolean {
  return name === 'DELETE /projects/:id' || /^POST \/projects\/:id\/(?:un)?archive$/.test(name);
}

/** A project like that of the scene, with the same people in it. */
async function copyOf({ app, project }: Scene): Promise<number> {
  const [like] = await app.rows<Record<string, unknown>>(
    'select namespace_id, visibility_level, archived from projects where id = $1',
    [project.id],
  );
  const copy = await app.make.project({ owner: project.owner, columns: { ...like } });
  await app.rows(
    `insert into project_members (project_id, user_id, access_level)
     select $2, user_id, access_level from project_members where project_id = $1`,
    [project.id, copy.id],
  );
  await app.rows(
    `insert into project_shares (project_id, group_id, group_access)
     select $2, group_id, group_access from project_shares where project_id = $1`,
    [project.id, copy.id],
  );
  return copy.id;
}

/** A hook whose messages go nowhere. */
async function insertHook(app: TestApp, projectId: number | null): Promise<number> {
  const text = 'insert into hooks (project_id, url) values ($1, $2) returning id';
  return (await app.rows<{ id: number }>(text, [projectId, 'http://127.0.0.1:1']))[0]?.id ?? 0;
}

/** One that may be taken from the project: it keeps another. */
async function runnerOfTwo({ app, world, project }: Scene): Promise<number> {
  const other = Object.values(world.projects).find(({ id }) => id !== project.id);
  return (await app.make.runner({ projects: other ? [project, other] : [project] })).id;
}

/** Calls an endpoint without parameters. @returns `ok` for any success, else the status. */
export async function callAs(
  scene: Omit<Scene, 'name'>,
  served: ServedEndpoint,
  caller: string,
): Promise<string> {
  const { app, world, project } = scene;
  const path = await callPath({ ...scene, name: served.name }, served);
  const token = world.tokenOf(caller, project);
  if (token === undefined && caller !== 'anonymous') throw new Error(`nobody is called ${caller}`);
  const answer = await app.call(served.endpoint.method, path, { as: token });
  return classOf(answer.status);
}

/** The path of a request, with a thing of its own for each part that names one. */
export async function callPath(scene: Scene, { prefix, endpoint }: ServedEndpoint): Promise<string> {
  return prefix + (await fillPath(scene, endpoint.path));
}

async function fillPath(scene: Scene, path: string): Promise<string> {
  const parts = path.split('/');
  const filled: PathPart[] = [];
  for (const [index, part] of parts.entries()) {
    const place = `${parts[index - 1]}/${part}`;
    const make = makers[place];
    const isNamed = /^[:*]/.test(part);
    if (isNamed && !make) throw new Error(`${scene.name}: add to \`makers\` what ${place} may name`);
    filled.push(make && isNamed ? await make(scene, filled) : part);
  }
  return filled.join('/');
}

export const runnerCallers = [
  'nobody',
  'stranger',
  'registration',
  'admin',
  'runner',
  'other_runner',
  'build',
  'other_build',
  'sibling_build',
  'project',
] as const;

/** Calls an endpoint of the runner's interface with one kind of token, about a running build of its own. */
export async function callWithToken(
  { app, world, project }: Omit<Scene, 'name'>,
  { prefix, endpoint }: ServedEndpoint,
  caller: (typeof runnerCallers)[number],
): Promise<string> {
  const runner = await app.make.runner({ projects: [project] });
  const running = async (of: AccessProject) => world.build(of, { status: 'running', runner });
  const build = await running(project);
  // So that a claim finds something.
  if (endpoint.path === '/builds/register') await world.build(project, { status: 'pending' });
  const tokens: Record<typeof caller, () => Promise<string> | string> = {
    nobody: () => '',
    stranger: () => 'x'.repeat(20),
    registration: () => registrationToken,
    admin: () => rootToken,
    runner: () => runner.token,
    other_runner: async () => (await app.make.runner({ projects: [world.projects.public] })).token,
    build: () => build.token,
    sibling_build: async () => (await running(project)).token,
    other_build: async () => (await running(world.projects.public)).token,
    project: () => project.runnersToken,
  };
  const path = endpoint.path.replace(':id', String(build.id));
  const token = await tokens[caller]();
  const answer = await app.call(endpoint.method, prefix + path, token === '' ? {} : { query: { token } });
  return classOf(answer.status);
}

function classOf(status: number): string {
  return status >= 200 && status < 300 ? 'ok' : String(status);
}
