import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { registrationToken, rootToken, type TestApp } from '../support/app.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { sshKeyLine } from '../support/ssh-key-lines.ts';
import { commitTree, writeBlob, writeTree } from '../support/trees.ts';

/** What belongs to somebody and must not be told to others. */
export interface Secret {
  value: string;
  what: string;
  /** Administrators are told it too. */
  isForAdmins: boolean;
}

/** Things of somebody else, in places where the callers have hardly any rights, and the callers' own things. */
export interface RandomWorld {
  /** The only caller is an administrator. */
  isAdmin: boolean;
  /** None is more than a developer where the secrets are. */
  callers: { name: string; token: string | undefined }[];
  /** Tokens of runners and builds of the callers' own. */
  ownTokens: string[];
  secrets: Secret[];
  /** What a path may name after a word, of the callers and of others. */
  named: Record<string, (number | string)[]>;
}

interface Things {
  owner: MadeUser;
  project: MadeProject;
  secrets: Secret[];
  tokens: string[];
  named: Record<string, (number | string)[]>;
}

export async function randomWorld(app: TestApp, { isAdmin }: { isAdmin: boolean }): Promise<RandomWorld> {
  const { make } = app;
  const others = await thingsOf(app, 'private');
  const shown = await thingsOf(app, 'public');
  const own = await thingsOf(app, 'private');
  const members = ['guest', 'reporter', 'developer'] as const;
  const callers: RandomWorld['callers'] = [
    { name: 'nobody', token: undefined },
    { name: 'an owner elsewhere', token: own.owner.token },
    { name: 'an external user', token: (await make.user({ external: true })).token },
  ];
  for (const level of members) {
    callers.push({ name: `a ${level}`, token: (await make.member(others.project, level)).token });
  }
  const all = [others, shown, own];
  // Not root, who is blocked or removed sooner or later.
  const admin = await make.user({ isAdmin: true });
  const world: RandomWorld = {
    isAdmin,
    callers: isAdmin ? [{ name: 'an administrator', token: admin.token }] : callers,
    ownTokens: own.tokens,
    secrets: [others, shown].flatMap(({ secrets }) => secrets),
    named: mergeNamed(all.map(({ named }) => named)),
  };
  await addOfInstance(app, world, admin.token);
  return world;
}

function mergeNamed(all: Things['named'][]): Things['named'] {
  const merged: Things['named'] = {};
  for (const named of all) {
    for (const [word, values] of Object.entries(named)) merged[word] = [...(merged[word] ?? []), ...values];
  }
  return merged;
}

/** A user and one of everything that a user can have. */
async function thingsOf(app: TestApp, visibility: 'private' | 'public'): Promise<Things> {
  const { make } = app;
  const owner = await make.user();
  const columns = { default_branch: 'master', snippets_enabled: true };
  const project = await make.project({ owner, visibility, columns });
  const files = await fillRepository(app, project);
  const issue = await make.issue(project);
  const groupId = await make.group({ visibility });
  await make.groupMember(groupId, owner, 'owner');
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project, { status: 'running', runner });
  const done = await make.build(project, { status: 'success', runner });
  const request = await make.mergeRequest(project, {
    columns: { source_branch: 'a/b', head_sha: files.commit, base_sha: null },
  });
  const requests = [request.id, (await make.mergeRequest(project)).id];
  const named: Things['named'] = {
    projects: [project.id, encodeURIComponent(project.fullPath)],
    groups: [groupId],
    users: [owner.id],
    members: [owner.id],
    builds: [build.id, done.id],
    pipelines: [build.pipelineId],
    runners: [runner.id],
    merge_requests: requests,
    merge_request: requests,
    branches: ['master', 'a/b', 'a%2Fb'],
    tags: ['v1'],
    commits: ['a'.repeat(40), files.commit, 'master'],
    blobs: [files.commit, 'master'],
    raw_blobs: [files.blob],
    statuses: ['a'.repeat(40)],
    issues: [issue.id, (await make.issue(project)).id],
    notes: [await make.note(project, { type: 'Issue', id: issue.id }, { author: owner })],
  };
  const secrets: Secret[] = [
    { value: owner.token, what: 'a private token', isForAdmins: false },
    { value: build.token, what: 'the token of a build', isForAdmins: false },
    { value: project.runnersToken, what: "a project's token for runners", isForAdmins: true },
    { value: runner.token, what: 'the token of a runner', isForAdmins: true },
  ];
  await addByRequest(app, { owner, project }, { named, secrets });
  return { owner, project, secrets, named, tokens: [runner.token, build.token, project.runnersToken] };
}

/** @returns ids of the one commit, which has two branches and a tag, and of its one file, which is called `name`. */
async function fillRepository(
  { services }: TestApp,
  project: MadeProject,
): Promise<{ commit: string; blob: string }> {
  const dir = repositoryDir(services.repositoriesDir, project.id);
  const blob = await writeBlob(dir, 'A file\n');
  const commit = await commitTree(dir, await writeTree(dir, [`100644 blob ${blob}\tname`]));
  for (const ref of ['refs/heads/a/b', 'refs/tags/v1']) await git(dir, 'update-ref', ref, commit);
  return { blob, commit };
}

interface Made {
  id?: number;
  token?: string;
  secret?: string;
}

/** What only the interface makes. */
async function addByRequest(
  app: TestApp,
  { owner, project }: { owner: MadeUser; project: MadeProject },
  { named, secrets }: Pick<Things, 'named' | 'secrets'>,
): Promise<void> {
  const post = (path: string, form: Record<string, string>) => postAs(app, { as: owner.token, path, form });
  const within = `/projects/${project.id}`;
  const word = (kind: string) => `${kind}-of-${owner.username}-in-${project.path}`;
  const never = (kind: string, what: string) => {
    secrets.push({ value: word(kind), what, isForAdmins: false });
    return word(kind);
  };
  const { token = '' } = await post(`${within}/triggers`, {});
  secrets.push({ value: token, what: 'the token of a trigger', isForAdmins: true });
  await post(`${within}/variables`, { key: 'SECRET', value: word('value') });
  secrets.push({ value: word('value'), what: 'the value of a variable', isForAdmins: true });
  const hook = await post(`${within}/hooks`, {
    url: `http://user:${never('hook-password', 'the password of a hook')}@127.0.0.1:1/`,
    token: never('hook-token', 'the token of a hook'),
  });
  const program = await post('/user/applications', { name: 'A', redirect_uri: 'https://example.com/' });
  secrets.push({ value: program.secret ?? '', what: 'the secret of a program', isForAdmins: false });
  const password = never('import-password', 'the password of an import');
  const url = `http://user:${password}@127.0.0.1:1/a.git`;
  const imported = await post('/projects', { name: 'imported', import_url: url });
  const key = await post('/user/keys', { title: 'A', key: sshKeyLine(word('key')) });
  const deployKey = await post(`${within}/keys`, { title: 'A', key: sshKeyLine(word('deploy-key')) });
  const email = await post('/user/emails', { email: `${word('mail')}@example.com` });
  const milestone = await post(`${within}/milestones`, { title: 'A' });
  await post(`${within}/labels`, { name: 'a', color: '#ff0000' });
  const snippet = { title: 'A', file_name: 'a', visibility_level: '0' };
  const code = word('snippet');
  secrets.push({ value: code, what: 'what stands in a private snippet', isForAdmins: true });
  const inProject = await post(`${within}/snippets`, { ...snippet, code });
  const personal = await post('/snippets', { ...snippet, content: code });
  Object.assign(named, {
    milestones: idOf(milestone),
    labels: ['a'],
    snippets: [...idOf(inProject), ...idOf(personal)],
    triggers: [token],
    variables: ['SECRET'],
    hooks: idOf(hook),
    applications: idOf(program),
    keys: [...idOf(key), ...idOf(deployKey)],
    deploy_keys: idOf(deployKey),
    emails: idOf(email),
    share: named.groups ?? [],
    fork: [project.id, ...idOf(imported)],
    user: [owner.id],
    search: ['project', 'imported'],
    licenses: ['mit'],
  });
}

/** A hook of the whole instance, and secrets of the instance itself. */
async function addOfInstance(app: TestApp, world: RandomWorld, as: string): Promise<void> {
  const url = 'http://user:system-password@127.0.0.1:1/';
  const form = { url, token: 'system-hook-token' };
  const hook = await postAs(app, { as, path: '/hooks', form });
  world.named.hooks = [...(world.named.hooks ?? []), ...idOf(hook)];
  world.secrets.push(
    { value: 'system-password', what: 'the password of a hook', isForAdmins: false },
    { value: form.token, what: 'the token of a hook', isForAdmins: false },
    { value: registrationToken, what: 'the token for runners', isForAdmins: true },
    { value: rootToken, what: "an administrator's token", isForAdmins: false },
  );
}

async function postAs(
  { call }: TestApp,
  { as, path, form }: { as: string; path: string; form: Record<string, string> },
): Promise<Made> {
  const { status, body } = await call<Made>('POST', `/api/v3${path}`, { as, form });
  if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

function idOf({ id }: Made): number[] {
  return id === undefined ? [] : [id];
}
