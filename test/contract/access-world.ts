import { Readable } from 'node:stream';
import { repositoryDir } from '../../server/git/repository-path.ts';
import type { Services } from '../../server/services.ts';
import { git } from '../git/real-git.ts';
import type { TestApp } from '../support/app.ts';
import { rootToken } from '../support/app.ts';
import type { MadeBuild, MadeProject, MadeRunner, MadeUser } from '../support/make.ts';

export const visibilities = ['private', 'internal', 'public'] as const;
export type Visibility = (typeof visibilities)[number];

export const projectCallers = [
  'anonymous',
  'stranger',
  'external',
  'guest',
  'reporter',
  'developer',
  'master',
  'owner',
  'admin',
] as const;

/** `master` is one of the private project. */
export const instanceCallers = ['anonymous', 'user', 'external', 'master', 'admin'] as const;

/** A project of each visibility with everybody who may call, and makers of the things that a path names. */
export interface AccessWorld {
  projects: Record<Visibility, AccessProject>;
  /** A group of each visibility with a private project; its members are the group's. */
  groups: Record<Visibility, AccessProject>;
  /** Private token of a caller; none for nobody. */
  tokenOf(caller: string, project: AccessProject): string | undefined;
  /** A finished or, if told, waiting or running build with artifacts, of its own project. */
  build(project: AccessProject, given: { status: MadeStatus; runner?: MadeRunner }): Promise<MadeBuild>;
  user: MadeUser;
}

type MadeStatus = 'pending' | 'running' | 'success';

export interface AccessProject extends MadeProject {
  /** A commit in its repository. */
  sha: string;
  /** The group that it stands for. */
  groupId?: number;
  members: Record<string, MadeUser>;
}

async function accessGroup({ make }: TestApp, visibility: Visibility): Promise<AccessProject> {
  const groupId = await make.group({ visibility });
  const project = await make.project({ namespaceId: groupId });
  const members: Record<string, MadeUser> = {};
  for (const level of ['guest', 'reporter', 'developer', 'master', 'owner'] as const) {
    const member = await make.user();
    await make.groupMember(groupId, member, level);
    members[level] = member;
  }
  return { ...project, sha: '', members, groupId };
}

export async function accessWorld(app: TestApp): Promise<AccessWorld> {
  const { make } = app;
  const user = await make.user();
  const outsiders: Record<string, MadeUser> = {
    user,
    stranger: user,
    external: await make.user({ external: true }),
  };
  const artifactsKey = 'artifacts/access.zip';
  const { size } = await app.services.storage.put(artifactsKey, Readable.from(['zip']));
  const projects = {
    private: await accessProject(app, 'private'),
    internal: await accessProject(app, 'internal'),
    public: await accessProject(app, 'public'),
  };
  const groups = {
    private: await accessGroup(app, 'private'),
    internal: await accessGroup(app, 'internal'),
    public: await accessGroup(app, 'public'),
  };
  return {
    projects,
    groups,
    user,
    tokenOf: (caller, project) =>
      caller === 'admin' ? rootToken : (project.members[caller] ?? outsiders[caller])?.token,
    build: (project, given) =>
      make.build(project, {
        ...given,
        sha: project.sha,
        columns: { artifacts_key: artifactsKey, artifacts_filename: 'artifacts.zip', artifacts_size: size },
      }),
  };
}

async function accessProject({ make, services }: TestApp, visibility: Visibility): Promise<AccessProject> {
  const columns = { default_branch: 'master', snippets_enabled: true };
  const project = await make.project({ visibility, columns });
  const sha = await firstCommit(services, project);
  const members: Record<string, MadeUser> = { owner: project.owner };
  for (const level of ['guest', 'reporter', 'developer', 'master'] as const) {
    members[level] = await make.member(project, level);
  }
  return { ...project, sha, members };
}

/** Makes a commit on master. @returns its hash. */
export async function firstCommit({ repositoriesDir }: Services, project: { id: number }): Promise<string> {
  const repository = repositoryDir(repositoriesDir, project.id);
  const tree = await git(repository, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  const sha = await git(repository, 'commit-tree', '-m', `A commit of ${project.id}`, tree);
  await git(repository, 'update-ref', 'refs/heads/master', sha);
  return sha;
}
