import type { EntityManager } from '@mikro-orm/postgresql';
import { forbidden, missing, notFound, nothingHere, unauthorized } from '../errors.ts';
import type { ProjectAbility } from '../policy/abilities.ts';
import { canUpdateIssue } from '../policy/issue.ts';
import { authorize } from '../policy/project.ts';
import type { BuildRow } from '../queries/build-row.ts';
import type { IssueRow } from '../queries/issue-row.ts';
import type { MergeRequestRow } from '../queries/merge-request-row.ts';
import type { ProjectRow } from '../queries/project-row.ts';
import {
  findBuildScope,
  findIssueScope,
  findMergeRequestScope,
  findProjectScope,
  findWholeProject,
  type ProjectScope,
} from '../queries/project-scope.ts';
import { type RunnerRow, runnerByToken } from '../queries/runner-row.ts';
import type { Viewer, ViewerKey } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { authenticate, unknownViewer, viewerKey } from './authenticate.ts';
import { readId } from './params.ts';
import { together } from './together.ts';

/** What the access step of an endpoint sees of a request. */
export interface AccessRequest {
  work: Work;
  /** Path, query and body merged. */
  raw: Record<string, unknown>;
  header(name: string): string;
}

/** Who may call an endpoint, and what is loaded for it on the way. `S` goes into the handler's argument. */
export interface Access<S> {
  kind: 'anyone' | 'signed_in' | 'admin' | 'project' | 'group' | 'runner' | 'build';
  ability?: ProjectAbility;
  /** First step: who is it, and may he know that the thing exists? */
  load(request: AccessRequest): Promise<S>;
  /** Second step: may he do it? Comes after the parameters when the endpoint says `paramsFirst`. */
  check(scope: S): void;
}

function pass(): void {}

/** No token needed. A token that is sent must still be good. */
export function anyone(): Access<{ viewer: Viewer | null }> {
  return {
    kind: 'anyone',
    load: async (request) => ({ viewer: await authenticate(request.work.em, request) }),
    check: pass,
  };
}

export function signedIn(): Access<{ viewer: Viewer }> {
  return {
    kind: 'signed_in',
    load: async (request) => ({ viewer: await requireViewer(request) }),
    check: pass,
  };
}

export function admin(): Access<{ viewer: Viewer }> {
  return {
    kind: 'admin',
    load: async (request) => ({ viewer: await requireViewer(request) }),
    check({ viewer }) {
      if (!viewer.is_admin) throw forbidden();
    },
  };
}

/** The project named by `:id`: hidden with 404 from those who may not see it, then the ability. */
export function onProject(ability: ProjectAbility): Access<{ viewer: Viewer; project: ProjectScope }> {
  return projectAccess(ability, ({ work, raw }, key) => findScope(work.em, key, String(raw.id)));
}

/** Once for the requests of one user about one project that arrive together, as those of a page or a program do. */
async function findScope(em: EntityManager, key: ViewerKey, idOrPath: string) {
  const { by, value } = key;
  const viewer = Buffer.isBuffer(value) ? value.toString('latin1') : value;
  const found = await together(em, `project ${by} ${viewer} ${idOrPath}`, () =>
    findProjectScope(em, key, idOrPath),
  );
  // Each gets his own: an action may change what it was given.
  return found && { viewer: { ...found.viewer }, project: found.project && { ...found.project } };
}

/** As `onProject`, with everything that answers show of a project. */
export function onWholeProject(ability: ProjectAbility): Access<{ viewer: Viewer; project: ProjectRow }> {
  return projectAccess(ability, ({ work, raw }, key) => findWholeProject(work.em, key, String(raw.id)));
}

interface BuildScope {
  viewer: Viewer;
  project: ProjectScope;
  build: BuildRow;
}

/** As `onProject`, and its build named by `:build_id`: 404 without one, for those who have the right. */
export function onBuild(ability: ProjectAbility): Access<BuildScope> {
  return projectAccess(ability, async ({ work, raw }, key) => {
    const place = { project: String(raw.id), buildId: readId(raw.build_id) };
    const found = await findBuildScope(work.em, key, place);
    if (!found?.project || found.build) return found as BuildScope | null;
    authorize(found.viewer, found.project, ability);
    throw nothingHere();
  });
}

interface IssueScope {
  viewer: Viewer;
  project: ProjectScope;
  issue: IssueRow;
}

/** As `onProject`, and its issue named by `:issue_id`: 404 without, for those with the right. */
export function onIssue(ability: ProjectAbility): Access<IssueScope> {
  return projectAccess(ability, async ({ work, raw }, key) => {
    const place = { project: String(raw.id), issueId: readId(raw.issue_id) };
    const found = await findIssueScope(work.em, key, place);
    if (!found?.project || found.issue) return found as IssueScope | null;
    authorize(found.viewer, found.project, ability);
    throw notFound();
  });
}

/** As `onIssue`, for those who may change it. */
export function onIssueToUpdate(): Access<IssueScope> {
  return {
    ...onIssue('read_issue'),
    check(scope) {
      if (!canUpdateIssue(scope)) throw forbidden();
    },
  };
}

interface MergeRequestScope {
  viewer: Viewer;
  project: ProjectScope;
  mergeRequest: MergeRequestRow;
}

/**
 * As `onProject`, and the merge request into it named by `:merge_request_id`: 404 without, for those with the right.
 *
 * @param first whose lack is told before that of `ability`, and before there being none.
 */
export function onMergeRequest(
  ability: ProjectAbility,
  first: ProjectAbility = 'read_merge_request',
): Access<MergeRequestScope> {
  return projectAccess(ability, async ({ work, raw }, key) => {
    const place = { project: String(raw.id), mergeRequestId: readId(raw.merge_request_id) };
    const found = await findMergeRequestScope(work.em, key, place);
    if (!found?.project) return found as MergeRequestScope | null;
    authorize(found.viewer, found.project, first);
    if (found.mergeRequest) return found as MergeRequestScope;
    authorize(found.viewer, found.project, ability);
    throw notFound();
  });
}

/** @param find null: there is no such viewer; without a project: there is none. */
export function projectAccess<S extends { viewer: Viewer; project: ProjectScope | ProjectRow }>(
  ability: ProjectAbility,
  find: (
    request: AccessRequest,
    key: ViewerKey,
  ) => Promise<(Omit<S, 'project'> & { project: S['project'] | null }) | null>,
): Access<S> {
  return {
    kind: 'project',
    ability,
    async load(request) {
      const key = await viewerKey(request.work.em, request);
      const found = key && (await find(request, key));
      if (!found) throw await unknownViewer(request.work.em, key);
      if (!found.project) throw notFound('Project');
      authorize(found.viewer, found.project, 'read_project');
      return found as S;
    },
    check: ({ viewer, project }) => authorize(viewer, project, ability),
  };
}

/** A runner's own token in the parameter `token`: 400 when absent, 403 when unknown. Never 401. */
export function withRunnerToken(): Access<{ runner: RunnerRow }> {
  return {
    kind: 'runner',
    async load({ work, raw }) {
      const runner = await runnerByToken(work.em, requireToken(raw));
      if (!runner) throw forbidden();
      return { runner };
    },
    check: pass,
  };
}

/** As `withRunnerToken`, but the handler looks for the runner, with what it does for it in the same statement. */
export function withUncheckedRunnerToken(): Access<object> {
  return {
    kind: 'runner',
    async load({ raw }) {
      requireToken(raw);
      return {};
    },
    check: pass,
  };
}

function requireToken(raw: Record<string, unknown>): string {
  if (typeof raw.token !== 'string' || raw.token === '') throw missing('token');
  return raw.token;
}

async function requireViewer(request: AccessRequest): Promise<Viewer> {
  const viewer = await authenticate(request.work.em, request);
  if (!viewer) throw unauthorized();
  return viewer;
}
