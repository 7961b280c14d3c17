import { Namespace } from '../entities/namespace.ts';
import { Project } from '../entities/project.ts';
import { Settings } from '../entities/settings.ts';
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { checkRefName } from '../git/ref-name.ts';
import { setHead } from '../git/repository.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { announceProjectMoves } from '../hooks/announce.ts';
import { mailProjectMoves } from '../mail/queue-mail.ts';
import { can } from '../policy/project.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { wakeupChannel } from '../wakeups.ts';
import { requireNames } from './create-project.ts';
import { given } from './given.ts';
import { keepLogo } from './keep-logo.ts';
import { takenFaults } from './project-place.ts';
import {
  chosenVisibility,
  holdVisibility,
  limitVisibility,
  requireVisibility,
  type VisibilityChoice,
} from './project-visibility.ts';

export interface ProjectChange extends VisibilityChoice {
  name?: string | undefined;
  path?: string | undefined;
  description?: string | undefined;
  defaultBranch?: string | undefined;
  issuesEnabled?: boolean | undefined;
  mergeRequestsEnabled?: boolean | undefined;
  buildsEnabled?: boolean | undefined;
  wikiEnabled?: boolean | undefined;
  snippetsEnabled?: boolean | undefined;
  sharedRunnersEnabled?: boolean | undefined;
  publicBuilds?: boolean | undefined;
  buildCoverageRegex?: string | undefined;
}

interface ChangeRequest {
  viewer: Viewer;
  row: ProjectRow;
  change: ProjectChange;
}

/**
 * Changes what is given and leaves the rest.
 *
 * @throws AppError 404 when it is removed meanwhile, 409 when it is moved, 403 when only the owner may change it
 * (name, visibility), 400 with the faults.
 */
export async function updateProject(work: Work, request: ChangeRequest): Promise<void> {
  const { em } = work;
  const { viewer, row, change } = request;
  const isRename = change.name !== undefined && change.name !== row.name;
  const level = newLevel(request);
  if ((isRename || level !== null) && !can(viewer, row, 'own_project')) throw forbidden();
  await requireFree(work, request);
  if (level !== null) await changeVisibility(work, request, level);
  const { visibilityLevel, isPublic, defaultBranch, ...columns } = change;
  await em.nativeUpdate(Project, { id: row.id, pendingDelete: false }, given(columns));
  await sql(em, 'update projects set updated_at = now() where id = $1', [row.id]);
  const project = await em.findOne(Project, { id: row.id, pendingDelete: false });
  if (!project) throw notFound('Project');
  if (change.buildsEnabled !== undefined || change.sharedRunnersEnabled !== undefined) {
    await offerBuilds(work, project);
  }
  if (project.path !== row.path) await tellMove(work, request);
  // Last: what is done to the repository is not undone with the transaction.
  if (defaultBranch !== undefined) await changeDefaultBranch(work, project, defaultBranch);
}

/** @throws AppError 400 for a name or path that cannot be, or that another project of the namespace has. */
async function requireFree(work: Work, { row, change }: ChangeRequest): Promise<void> {
  const { name = row.name, path = row.path } = change;
  requireNames(name, path);
  if (name === row.name && path === row.path) return;
  const taken = await takenFaults(work, { namespaceId: row.namespace_id, name, path, exceptId: row.id });
  if (Object.keys(taken).length > 0) throw invalid(taken);
}

/** The level that is asked for; null when that is no change. */
function newLevel({ row, change }: ChangeRequest): number | null {
  const level = chosenVisibility(change);
  return level === undefined || level === row.visibility_level ? null : level;
}

/** Whoever sees a project less sees its forks no more than that. */
async function changeVisibility(
  work: Work,
  { viewer, row, change }: ChangeRequest,
  level: number,
): Promise<void> {
  const { em } = work;
  // As its group cannot change who sees it meanwhile, neither can the source of the fork, nor can it be moved.
  await sql(em, 'select 1 from namespaces where id = $1 for share', [row.namespace_id]);
  const sourceLevel = await holdVisibility(work, row.id);
  const isHere = 'select 1 from projects where id = $1 and namespace_id = $2';
  if (!(await sqlOne(em, isHere, [row.id, row.namespace_id]))) throw conflict();
  const namespace = await em.findOneOrFail(Namespace, { id: row.namespace_id });
  const settings = await em.findOneOrFail(Settings, { id: 1 });
  requireVisibility(change, { viewer, settings, namespace, sourceLevel });
  await sql(em, 'update projects set visibility_level = $2 where id = $1 and visibility_level < $2', [
    row.id,
    level,
  ]);
  await limitVisibility(work, row.id, level);
}

async function tellMove(work: Work, { viewer, row }: ChangeRequest): Promise<void> {
  const move = { projectId: row.id, oldPath: `${row.namespace_path}/${row.path}` };
  await announceProjectMoves(work, 'project_rename', [move]);
  await mailProjectMoves(work, [move], viewer.id);
}

/** Lets shared runners take the project's waiting builds, or keeps these from them; whoever waits looks again. */
async function offerBuilds({ em }: Work, project: Project): Promise<void> {
  const shared = project.buildsEnabled && project.sharedRunnersEnabled && !project.pendingDelete;
  await sql(em, 'update pending_builds set shared = $2 where project_id = $1 and shared <> $2', [
    project.id,
    shared,
  ]);
  await sql(em, 'select pg_notify($1, $2)', [wakeupChannel, JSON.stringify({ project: project.id })]);
}

/** An empty repository keeps having none. */
async function changeDefaultBranch(work: Work, project: Project, branch: string): Promise<void> {
  if (project.defaultBranch === null || branch === project.defaultBranch) return;
  const dir = repositoryDir(work.repositoriesDir, project.id);
  const ref = `refs/heads/${branch}`;
  if (!checkRefName(ref) || !(await work.objects.readInfo(dir, ref))) {
    throw invalid({ default_branch: ['is not a branch of the repository'] });
  }
  await sql(work.em, 'update projects set default_branch = $2 where id = $1', [project.id, branch]);
  await keepLogo(work, { projectId: project.id, branch });
  await setHead(dir, branch);
}
