import { accessLevels } from '../../shared/access-level.ts';
import { ProjectMember } from '../entities/member.ts';
import { Namespace } from '../entities/namespace.ts';
import { Project } from '../entities/project.ts';
import { Settings } from '../entities/settings.ts';
import { User } from '../entities/user.ts';
import { AppError, invalid } from '../errors.ts';
import { createRepository } from '../git/repository.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { pathFromName, projectNameFaults, projectPathFaults } from '../policy/names.ts';
import type { Viewer } from '../queries/viewer.ts';
import { newToken } from '../secrets.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { requireVisibility, type VisibilityChoice } from './project-visibility.ts';
import { recordEvent } from './record-event.ts';

export interface NewProject extends VisibilityChoice {
  name: string;
  path?: string | undefined;
  namespaceId?: number | undefined;
  description?: string | undefined;
  issuesEnabled?: boolean | undefined;
  mergeRequestsEnabled?: boolean | undefined;
  buildsEnabled?: boolean | undefined;
  wikiEnabled?: boolean | undefined;
  snippetsEnabled?: boolean | undefined;
  publicBuilds?: boolean | undefined;
}

/**
 * Makes a project with an empty repository, in the caller's own namespace unless another is named.
 *
 * @returns its id.
 * @throws AppError 400 with the faults, 403 when the caller has as many projects as he may.
 */
export async function createProject(work: Work, viewer: Viewer, request: NewProject): Promise<number> {
  const { em } = work;
  const path = request.path ?? pathFromName(request.name);
  requireNames(request.name, path);
  const namespace = await findNamespace(work, viewer, request.namespaceId);
  await requireRoom(work, viewer, namespace);
  const settings = await em.findOneOrFail(Settings, { id: 1 });
  const stored = work.secrets.store(newToken());
  const project = em.create(Project, {
    namespace,
    creator: em.getReference(User, viewer.id),
    name: request.name,
    path,
    description: request.description ?? null,
    visibilityLevel: requireVisibility(request, { viewer, settings, namespace }),
    issuesEnabled: request.issuesEnabled ?? true,
    mergeRequestsEnabled: request.mergeRequestsEnabled ?? true,
    buildsEnabled: request.buildsEnabled ?? true,
    wikiEnabled: request.wikiEnabled ?? true,
    snippetsEnabled: request.snippetsEnabled ?? false,
    publicBuilds: request.publicBuilds ?? true,
    runnersTokenDigest: stored.digest,
    runnersTokenSealed: stored.sealed,
  });
  await em.flush();
  await addCreator(work, { project, namespace, viewer });
  // A repository without a project, should the commit fail, is in nobody's way: ids are never used again.
  await createRepository(repositoryDir(work.repositoriesDir, project.id));
  return project.id;
}

/** @throws AppError 400 naming every fault of the two. */
export function requireNames(name: string, path: string): void {
  const faults = Object.entries({ name: projectNameFaults(name), path: projectPathFaults(path) });
  const found = faults.filter(([, texts]) => texts.length > 0);
  if (found.length > 0) throw invalid(Object.fromEntries(found));
}

async function findNamespace(work: Work, viewer: Viewer, id: number | undefined): Promise<Namespace> {
  const where = id === undefined ? { owner: { id: viewer.id } } : { id };
  const namespace = await work.em.findOne(Namespace, where);
  if (namespace && (await mayCreateIn(work, viewer, namespace))) return namespace;
  throw invalid({ namespace: ['is not valid'] });
}

async function mayCreateIn(work: Work, viewer: Viewer, namespace: Namespace): Promise<boolean> {
  if (viewer.is_admin || namespace.owner?.id === viewer.id) return true;
  const row = await sqlOne<{ access_level: number }>(
    work.em,
    'select access_level from group_members where group_id = $1 and user_id = $2',
    [namespace.id, viewer.id],
  );
  return (row?.access_level ?? 0) >= accessLevels.master;
}

/** Personal projects count against the limit; the user's row is locked so that two requests cannot both fit. */
async function requireRoom(work: Work, viewer: Viewer, namespace: Namespace): Promise<void> {
  if (namespace.kind !== 'user') return;
  const owner = namespace.owner?.id ?? viewer.id;
  await sql(work.em, 'select 1 from users where id = $1 for update', [owner]);
  const row = await sqlOne<{ projects_limit: number; used: number }>(
    work.em,
    `select u.projects_limit, (select count(*)::int from projects where namespace_id = $2 and not pending_delete)
       as used from users u where u.id = $1`,
    [owner, namespace.id],
  );
  if (row && row.used < row.projects_limit) return;
  const limit = row?.projects_limit ?? 0;
  throw new AppError({
    status: 403,
    message: `Your project limit is ${limit} projects! Please contact your administrator to increase it`,
  });
}

interface Made {
  project: Project;
  namespace: Namespace;
  viewer: Viewer;
}

async function addCreator(work: Work, { project, namespace, viewer }: Made): Promise<void> {
  if (namespace.kind === 'user') {
    const user = work.em.getReference(User, namespace.owner?.id ?? viewer.id);
    work.em.create(ProjectMember, { project, user, accessLevel: accessLevels.master });
    await work.em.flush();
  }
  await recordEvent(work, { projectId: project.id, authorId: viewer.id, action: 'created' });
}
