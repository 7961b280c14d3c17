import { forbidden, missing, notFound, unauthorized } from '../errors.ts';
import type { ProjectAbility } from '../policy/abilities.ts';
import { authorize } from '../policy/project.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import { type RunnerRow, runnerByToken } from '../queries/runner-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { authenticate } from './authenticate.ts';

/** What the access step of an endpoint sees of a request. */
export interface AccessRequest {
  work: Work;
  /** Path, query and body merged. */
  raw: Record<string, unknown>;
  header(name: string): string;
}

/** Who may call an endpoint, and what is loaded for it on the way. `S` goes into the handler's argument. */
export interface Access<S> {
  kind: 'anyone' | 'signed_in' | 'admin' | 'project' | 'runner' | 'build';
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
export function onProject(ability: ProjectAbility): Access<{ viewer: Viewer; project: ProjectRow }> {
  return {
    kind: 'project',
    ability,
    async load(request) {
      const viewer = await requireViewer(request);
      const project = await findProject(request.work.em, String(request.raw.id), viewer);
      if (!project) throw notFound('Project');
      authorize(viewer, project, 'read_project');
      return { viewer, project };
    },
    check: ({ viewer, project }) => authorize(viewer, project, ability),
  };
}

/** A runner's own token in the parameter `token`: 400 when absent, 403 when unknown. Never 401. */
export function withRunnerToken(): Access<{ runner: RunnerRow }> {
  return {
    kind: 'runner',
    async load({ work, raw }) {
      if (typeof raw.token !== 'string' || raw.token === '') throw missing('token');
      const runner = await runnerByToken(work.em, raw.token);
      if (!runner) throw forbidden();
      return { runner };
    },
    check: pass,
  };
}

async function requireViewer(request: AccessRequest): Promise<Viewer> {
  const viewer = await authenticate(request.work.em, request);
  if (!viewer) throw unauthorized();
  return viewer;
}
