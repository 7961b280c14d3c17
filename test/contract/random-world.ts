import { rootToken, type TestApp } from '../support/app.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';

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
  return {
    isAdmin,
    callers: isAdmin ? [{ name: 'an administrator', token: rootToken }] : callers,
    ownTokens: own.tokens,
    secrets: [others, shown].flatMap(({ secrets }) => secrets),
    named: mergeNamed(all.map(({ named }) => named)),
  };
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
  const project = await make.project({ owner, visibility });
  const groupId = await make.group({ visibility });
  await make.groupMember(groupId, owner, 'owner');
  const runner = await make.runner({ projects: [project] });
  const build = await make.build(project, { status: 'running', runner });
  const done = await make.build(project, { status: 'success', runner });
  const named: Things['named'] = {
    projects: [project.id, encodeURIComponent(project.fullPath)],
    groups: [groupId],
    users: [owner.id],
    members: [owner.id],
    builds: [build.id, done.id],
    pipelines: [build.pipelineId],
    runners: [runner.id],
    commits: ['a'.repeat(40)],
    statuses: ['a'.repeat(40)],
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

interface Made {
  id?: number | string;
  token?: string;
}

/** What only the interface makes. */
async function addByRequest(
  { call }: TestApp,
  { owner, project }: { owner: MadeUser; project: MadeProject },
  { named, secrets }: Pick<Things, 'named' | 'secrets'>,
): Promise<void> {
  const post = async (path: string, form: Record<string, string>) => {
    const { status, body } = await call<Made>('POST', `/api/v3${path}`, { as: owner.token, form });
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const within = `/projects/${project.id}`;
  const { token = '' } = await post(`${within}/triggers`, {});
  named.triggers = [token];
  secrets.push({ value: token, what: 'the token of a trigger', isForAdmins: true });
  const value = `value-of-${owner.username}-${project.path}`;
  await post(`${within}/variables`, { key: 'SECRET', value });
  named.variables = ['SECRET'];
  secrets.push({ value, what: 'the value of a variable', isForAdmins: true });
}
