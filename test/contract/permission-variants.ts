import type { TestApp } from '../support/app.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { type AccessProject, firstCommit, type Visibility } from './access-world.ts';

type Members = Record<string, MadeUser>;

const levels = ['guest', 'reporter', 'developer', 'master'] as const;

/** A project that differs from a plain personal one in how people take part, or in what is switched off. */
export interface Variant {
  name: string;
  visibility: Visibility;
  project: AccessProject;
}

const noFeatures = {
  issues_enabled: false,
  merge_requests_enabled: false,
  snippets_enabled: false,
  wiki_enabled: false,
  builds_enabled: false,
};

/** Those whose rights differ here and there. */
export function approvedVariants(app: TestApp): Promise<Variant[]> {
  return Promise.all([
    variant('in a group', 'private', inGroup(app)),
    variant('shared with a group as masters', 'private', shared(app, 'master')),
    variant('archived', 'private', personal(app, 'private', { archived: true })),
    variant('archived', 'public', personal(app, 'public', { archived: true })),
    variant('without features', 'private', personal(app, 'private', noFeatures)),
    variant('without features', 'public', personal(app, 'public', noFeatures)),
    variant('with builds for members', 'public', personal(app, 'public', { public_builds: false })),
  ]);
}

/** Those where members of a group, of every level, have the rights of one plain caller. */
export async function levelVariants(app: TestApp): Promise<(Variant & { as: 'guest' | 'stranger' })[]> {
  const locked = await shared(app, 'master');
  const lock = 'update namespaces set share_with_group_lock = true where id = $1';
  await app.rows(lock, [locked.owner.namespaceId]);
  return [
    { ...(await variant('shared with a group as guests', 'private', shared(app, 'guest'))), as: 'guest' },
    { ...(await variant('not shared for a lock', 'private', Promise.resolve(locked))), as: 'stranger' },
  ];
}

async function variant(
  name: string,
  visibility: Visibility,
  making: Promise<AccessProject>,
): Promise<Variant> {
  return { name: `${name}, ${visibility}`, visibility, project: await making };
}

/** As the projects of the other table are. */
const filled = { default_branch: 'master', snippets_enabled: true };

async function inGroup(app: TestApp): Promise<AccessProject> {
  const groupId = await app.make.group();
  const project = await app.make.project({ namespaceId: groupId, columns: filled });
  return finished(app, project, await groupMembers(app, groupId, [...levels, 'owner']));
}

async function personal(
  app: TestApp,
  visibility: Visibility,
  columns: Record<string, unknown>,
): Promise<AccessProject> {
  const project = await app.make.project({ visibility, columns: { ...filled, ...columns } });
  const members: Members = { owner: project.owner };
  for (const level of levels) members[level] = await app.make.member(project, level);
  return finished(app, project, members);
}

/** The members are those of the group; only the owner is the project's. */
async function shared(app: TestApp, as: 'master' | 'guest'): Promise<AccessProject> {
  const project = await app.make.project({ columns: filled });
  const groupId = await app.make.group();
  await app.make.share(project, groupId, as);
  return finished(app, project, { owner: project.owner, ...(await groupMembers(app, groupId, levels)) });
}

async function finished(
  { services }: TestApp,
  project: MadeProject,
  members: Members,
): Promise<AccessProject> {
  return { ...project, members, sha: await firstCommit(services, project) };
}

async function groupMembers(
  { make }: TestApp,
  groupId: number,
  given: readonly ((typeof levels)[number] | 'owner')[],
): Promise<Members> {
  const members: Members = {};
  for (const level of given) {
    const user = await make.user();
    await make.groupMember(groupId, user, level);
    members[level] = user;
  }
  return members;
}
