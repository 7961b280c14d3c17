import type { Context } from 'koa';
import { signIn } from '../actions/sign-in.ts';
import { AppError, unauthorized } from '../errors.ts';
import { can } from '../policy/project.ts';
import { isLiveBuildOf } from '../queries/build-access.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import { type Viewer, viewerByToken } from '../queries/viewer.ts';
import { tokenDigest } from '../secrets.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

export type GitRight = 'read' | 'write';

export interface GitAccess {
  project: ProjectRow;
  /** Null for builds and for nobody. */
  viewer: Viewer | null;
}

const buildUser = 'gitlab-ci-token';
const challenge = { 'WWW-Authenticate': 'Basic realm="Hearth"' };

/**
 * Who asks for a repository, and whether he may. Git asks without credentials first, whatever it has: the answer
 * must be a challenge, also for a project that does not exist, so that nothing is told about it.
 *
 * @throws AppError 401 with a challenge, 404 for a project that the caller cannot see, 403 for one he may not
 * read or write.
 */
export async function gitAccess(work: Work, ctx: Context, right: GitRight): Promise<GitAccess> {
  const path = `${ctx.params.namespace}/${String(ctx.params.project).replace(/\.git$/, '')}`;
  const given = readBasic(ctx.get('authorization'));
  if (!given) {
    const project = await findProject(work.em, path, null);
    if (right === 'read' && project && can(null, project, 'read_code')) return { project, viewer: null };
    throw unauthorized(challenge);
  }
  if (given.user === buildUser) return buildAccess(work, { path, token: given.password, right });
  const viewer = await userOf(work, given);
  const project = await findProject(work.em, path, viewer);
  if (!project || !can(viewer, project, 'read_project')) throw plainNotFound();
  if (!can(viewer, project, right === 'read' ? 'read_code' : 'push_code')) {
    throw refused(
      right === 'read'
        ? 'You are not allowed to read this project.'
        : 'You are not allowed to push code to this project.',
    );
  }
  // What it would push to is replaced when the import ends.
  if (right === 'write' && project.import_status === 'started') {
    throw refused('This project is being imported. Push to it when that has ended.');
  }
  return { project, viewer };
}

interface BuildRequest {
  path: string;
  token: string;
  right: GitRight;
}

/** A build at work reads the project that it belongs to, and nothing else. */
async function buildAccess(work: Work, { path, token, right }: BuildRequest): Promise<GitAccess> {
  const project = await findProject(work.em, path, null);
  if (!project?.builds_enabled || !(await isTokenOf(work, project, token))) throw unauthorized(challenge);
  if (right === 'write') throw refused('A build cannot push.');
  return { project, viewer: null };
}

async function isTokenOf(work: Work, project: ProjectRow, token: string): Promise<boolean> {
  const buildId = work.secrets.buildOfToken(token);
  if (buildId !== null) return isLiveBuildOf(work.em, buildId, project.id);
  const row = await sqlOne(work.em, 'select 1 from projects where id = $1 and runners_token_digest = $2', [
    project.id,
    tokenDigest(token),
  ]);
  return row !== null;
}

/** The password may be the private token, whatever the user name beside it. */
async function userOf(work: Work, { user, password }: { user: string; password: string }): Promise<Viewer> {
  const byToken = await viewerByToken(work.em, password);
  if (byToken) return byToken;
  try {
    return await signIn(work, user, password);
  } catch (error) {
    throw error instanceof AppError ? unauthorized(challenge) : error;
  }
}

function readBasic(header: string): { user: string; password: string } | null {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]{1,4096})$/i.exec(header)?.[1];
  if (!encoded) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8').replaceAll('\0', '');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function plainNotFound(): AppError {
  return new AppError({ status: 404, message: 'Not Found' });
}

function refused(text: string): AppError {
  return new AppError({ status: 403, message: text });
}
