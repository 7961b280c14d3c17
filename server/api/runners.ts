import { deleteRunner } from '../actions/delete-runner.ts';
import { disableRunner, enableRunner } from '../actions/runner-projects.ts';
import { updateRunner } from '../actions/update-runner.ts';
import { badRequest, forbidden, notFound } from '../errors.ts';
import { admin, onProject, signedIn } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { flag, integer, optional, pathId, text, words } from '../http/params.ts';
import {
  presentRunner,
  presentRunnerDetail,
  RunnerDetailJson,
  RunnerSummaryJson,
} from '../present/runner.ts';
import { projectsOfRunner, visibleProjectIds } from '../queries/runner-projects.ts';
import { type RunnerRow, runnerById } from '../queries/runner-row.ts';
import {
  allRunnerScopes,
  listAllRunners,
  listOwnRunners,
  listProjectRunners,
  mastersRunner,
  ownRunnerScopes,
  type RunnerScope,
} from '../queries/runners.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';

const scope = { scope: optional(text({ max: 255 })) };

const listOwn = endpoint({
  method: 'GET',
  path: '/runners',
  summary: 'Specific runners of the projects that the caller is a master of',
  access: signedIn(),
  params: scope,
  returns: RunnerSummaryJson,
  list: true,
  async run({ viewer, params, page, work }) {
    const query = listOwnRunners(viewer.id, readScope(params.scope, ownRunnerScopes));
    return (await paginate<RunnerRow>(work.em, query, page)).map(presentRunner);
  },
});

const listAll = endpoint({
  method: 'GET',
  path: '/runners/all',
  summary: 'Every runner of the instance',
  access: admin(),
  params: scope,
  returns: RunnerSummaryJson,
  list: true,
  async run({ params, page, work }) {
    const query = listAllRunners(readScope(params.scope, allRunnerScopes));
    return (await paginate<RunnerRow>(work.em, query, page)).map(presentRunner);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/runners/:id',
  summary: 'One runner in detail',
  access: signedIn(),
  params: { id: pathId() },
  returns: RunnerDetailJson,
  async run({ viewer, params, work }) {
    const runner = await requireRunner(work, params.id);
    if (!runner.is_shared) await requireMaster(work, viewer, runner);
    return detail(work, viewer, runner);
  },
});

const put = endpoint({
  method: 'PUT',
  path: '/runners/:id',
  summary: 'Changes description, tags or activity of a runner',
  access: signedIn(),
  params: {
    id: pathId(),
    description: optional(text({ max: 255 })),
    active: optional(flag()),
    tag_list: optional({ ...words(), keepBlank: true }),
    run_untagged: optional(flag()),
  },
  returns: RunnerDetailJson,
  async run({ viewer, params, work }) {
    const runner = await requireRunner(work, params.id);
    await requireOwnRunner(work, viewer, runner);
    await updateRunner(work, runner.id, params);
    return detail(work, viewer, await requireRunner(work, runner.id));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/runners/:id',
  summary: 'Removes a runner; what it runs is failed',
  access: signedIn(),
  params: { id: pathId() },
  returns: RunnerSummaryJson,
  async run({ viewer, params, work }) {
    const runner = await requireRunner(work, params.id);
    await requireOwnRunner(work, viewer, runner);
    if (!viewer.is_admin && (await projectsOfRunner(work.em, runner.id)).length > 1) {
      throw forbidden('Runner associated with more than one project');
    }
    await deleteRunner(work, runner.id);
    return presentRunner(runner);
  },
});

const listOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/runners',
  summary: 'Runners that may take builds of the project',
  access: onProject('admin_ci'),
  params: scope,
  returns: RunnerSummaryJson,
  list: true,
  async run({ project, params, page, work }) {
    const query = listProjectRunners(project, readScope(params.scope, allRunnerScopes));
    return (await paginate<RunnerRow>(work.em, query, page)).map(presentRunner);
  },
});

const enable = endpoint({
  method: 'POST',
  path: '/projects/:id/runners',
  summary: 'Lets a specific runner serve the project',
  access: onProject('admin_ci'),
  params: { runner_id: integer() },
  returns: RunnerSummaryJson,
  async run({ viewer, project, params, work }) {
    const runner = await requireRunner(work, params.runner_id);
    if (runner.is_shared) throw forbidden('Runner is shared');
    if (runner.locked) throw forbidden('Runner is locked');
    await requireMaster(work, viewer, runner);
    await enableRunner(work, runner, project.id);
    return presentRunner(runner);
  },
});

const disable = endpoint({
  method: 'DELETE',
  path: '/projects/:id/runners/:runner_id',
  summary: 'Ends the service of a runner for the project',
  access: onProject('admin_ci'),
  params: { runner_id: pathId() },
  returns: RunnerSummaryJson,
  async run({ project, params, work }) {
    const runner = await runnerById(work.em, params.runner_id);
    if (!runner) throw notFound('Runner');
    await disableRunner(work, runner.id, project.id);
    return presentRunner(runner);
  },
});

export const endpoints: Endpoint[] = [listOwn, listAll, get, put, remove, listOfProject, enable, disable];

function readScope<S extends RunnerScope>(given: string | undefined, known: readonly S[]): S | undefined {
  if (given === undefined) return undefined;
  const found = known.find((word) => word === given);
  if (!found) throw badRequest('Scope contains invalid value');
  return found;
}

async function requireRunner(work: Work, id: number): Promise<RunnerRow> {
  const runner = await runnerById(work.em, id);
  if (!runner) throw notFound();
  return runner;
}

async function requireMaster(work: Work, viewer: Viewer, runner: RunnerRow): Promise<void> {
  if (viewer.is_admin || (await mastersRunner(work.em, viewer.id, runner.id))) return;
  throw forbidden('No access granted');
}

/** Shared runners are the administrators' alone. */
async function requireOwnRunner(work: Work, viewer: Viewer, runner: RunnerRow): Promise<void> {
  if (runner.is_shared && !viewer.is_admin) throw forbidden('Runner is shared');
  await requireMaster(work, viewer, runner);
}

/** Projects that the viewer cannot see are left out, and the token of a shared runner is for administrators. */
async function detail(work: Work, viewer: Viewer, runner: RunnerRow) {
  const all = await projectsOfRunner(work.em, runner.id);
  const visible = await visibleProjectIds(work.em, viewer, all);
  const isTokenShown = viewer.is_admin || !runner.is_shared;
  return presentRunnerDetail(runner, {
    projects: all.filter((project) => visible.has(project.id)),
    token: isTokenShown ? work.secrets.open(runner.token_sealed) : null,
  });
}
