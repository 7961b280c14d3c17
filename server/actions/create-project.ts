import { accessLevels } from '../../shared/access-level.ts';
import type { Namespace } from '../entities/namespace.ts';
import { Project } from '../entities/project.ts';
import { Settings } from '../entities/settings.ts';
import { AppError, invalid } from '../errors.ts';
import { createRepository } from '../git/repository.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { announceProjects, announceTeam } from '../hooks/announce.ts';
import { type ImportSource, readImportUrl } from '../policy/import-url.ts';
import { pathFromName, projectNameFaults, projectPathFaults } from '../policy/names.ts';
import type { Viewer } from '../queries/viewer.ts';
import { newToken } from '../secrets.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';
import { requireRoom, takenFaults, takePlace } from './project-place.ts';
import { requireVisibility, type VisibilityChoice } from './project-visibility.ts';
import { recordEvent } from './record-event.ts';
import { startImport } from './start-import.ts';

export interface NewProject extends VisibilityChoice {
  name: string;
  path?: string | undefined;
  /** The creator's own namespace unless told. */
  namespaceId?: number | undefined;
  /** Whose project it is when an administrator makes it for somebody. */
  creatorId?: number;
  description?: string | undefined;
  issuesEnabled?: boolean | undefined;
  mergeRequestsEnabled?: boolean | undefined;
  buildsEnabled?: boolean | undefined;
  wikiEnabled?: boolean | undefined;
  snippetsEnabled?: boolean | undefined;
  publicBuilds?: boolean | undefined;
  /** Address of the repository that it is filled from, in the background. */
  importUrl?: string | undefined;
}

/**
 * Makes a project with an empty repository, in the caller's own namespace unless another is named.
 *
 * @returns its id.
 * @throws AppError 400 with the faults, 403 when the owner has as many projects as he may.
 */
export async function createProject(work: Work, viewer: Viewer, request: NewProject): Promise<number> {
  const { em } = work;
  const creatorId = request.creatorId ?? viewer.id;
  const { namespace, settings, visibilityLevel, path, source } = await judge(work, viewer, request);
  await requireRoom(work, namespace);
  const stored = work.secrets.store(newToken());
  const projectId = await em.insert(Project, {
    namespace: namespace.id,
    creator: creatorId,
    name: request.name,
    path,
    description: request.description ?? null,
    visibilityLevel,
    issuesEnabled: request.issuesEnabled ?? true,
    mergeRequestsEnabled: request.mergeRequestsEnabled ?? true,
    buildsEnabled: request.buildsEnabled ?? true,
    wikiEnabled: request.wikiEnabled ?? true,
    snippetsEnabled: request.snippetsEnabled ?? false,
    sharedRunnersEnabled: settings.sharedRunnersEnabled,
    publicBuilds: request.publicBuilds ?? true,
    runnersTokenDigest: stored.digest,
    runnersTokenSealed: stored.sealed,
  });
  await addOwner(work, projectId, namespace);
  // An import has an event of its own, once its end is known.
  if (source) await startImport(work, { projectId, userId: creatorId, source });
  else await recordEvent(work, { projectId, authorId: creatorId, action: 'created' });
  await announceNewProject(work, projectId, namespace);
  // A repository without a project, should the commit fail, is in nobody's way: ids are never used again.
  await createRepository(repositoryDir(work.repositoriesDir, projectId));
  return projectId;
}

interface Judged {
  namespace: Namespace;
  settings: Settings;
  visibilityLevel: number;
  path: string;
  source: ImportSource | null;
}

/** @throws AppError 400 with all that is wrong at once. */
async function judge(work: Work, viewer: Viewer, request: NewProject): Promise<Judged> {
  const { namespaceId, creatorId = viewer.id } = request;
  const path = request.path ?? pathFromName(request.name);
  const source = request.importUrl === undefined ? null : readImportUrl(request.importUrl);
  const faults = nameFaults(request.name, path);
  if (request.importUrl !== undefined && !source) faults.import_url = ['must be a valid URL'];
  const place = namespaceId === undefined ? { ownerId: creatorId } : { id: namespaceId };
  const namespace = await takePlace(work, viewer, place);
  if (!namespace) throw invalid({ ...faults, namespace: ['is not valid'] });
  const settings = await work.em.findOneOrFail(Settings, { id: 1 });
  const visibility = faultsOr(() => requireVisibility(request, { viewer, settings, namespace }));
  if (typeof visibility !== 'number') throw invalid({ ...faults, ...visibility });
  const taken = await takenFaults(work, { namespaceId: namespace.id, name: request.name, path });
  const all = { ...taken, ...faults };
  if (Object.keys(all).length > 0) throw invalid(all);
  return { namespace, settings, visibilityLevel: visibility, path, source };
}

function faultsOr<T>(run: () => T): T | Record<string, string[]> {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 400 || typeof error.body === 'string') throw error;
    return error.body as Record<string, string[]>;
  }
}

/** @throws AppError 400 naming every fault of the two. */
export function requireNames(name: string, path: string): void {
  const faults = nameFaults(name, path);
  if (Object.keys(faults).length > 0) throw invalid(faults);
}

function nameFaults(name: string, path: string): Record<string, string[]> {
  const faults = Object.entries({ name: projectNameFaults(name), path: projectPathFaults(path) });
  return Object.fromEntries(faults.filter(([, texts]) => texts.length > 0));
}

/** The owner of a personal project is a member of it too. */
export async function addOwner({ em }: Work, projectId: number, { owner }: Namespace): Promise<void> {
  if (!owner) return;
  await sql(em, 'insert into project_members (project_id, user_id, access_level) values ($1, $2, $3)', [
    projectId,
    owner.id,
    accessLevels.master,
  ]);
}

/** Tells the system's hooks of a project, and of the member that `addOwner` gave it. */
export async function announceNewProject(work: Work, projectId: number, { owner }: Namespace): Promise<void> {
  await announceProjects(work, 'project_create', [projectId]);
  if (!owner) return;
  const member = { projectId, userId: owner.id, accessLevel: accessLevels.master };
  await announceTeam(work, 'user_add_to_team', member);
}
