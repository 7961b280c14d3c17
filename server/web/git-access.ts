import type { Context } from 'koa';
import { signIn } from '../actions/sign-in.ts';
import { checkGitBan, noteGitFailure } from '../actions/throttle.ts';
import { AppError, unauthorized } from '../errors.ts';
import { type BasicCredentials, readBasic } from '../http/basic-credentials.ts';
import { can } from '../policy/project.ts';
import { isLiveBuildOf } from '../queries/build-access.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import { type Viewer, viewerByAccessToken, viewerByToken } from '../queries/viewer.ts';
import { isAccessToken, tokenDigest } from '../secrets.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { type GitAccess, type GitRight, type GitWish, refused, userAccess } from '../transport/git-access.ts';

const buildUser = 'gitlab-ci-token';
/** Beside it, the password is an access token. */
const oauthUser = 'oauth2';
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
  await checkGitBan(work.em, ctx.ip);
  const asking = given.user === buildUser ? buildAccess : accountAccess;
  try {
    return await asking(work, { path, right, ...given });
  } catch (error) {
    if (error instanceof AppError && error.status === 401) await noteGitFailure(work.em, ctx.ip);
    throw error;
  }
}

interface GitRequest extends BasicCredentials, GitWish {}

async function accountAccess(work: Work, { path, right, ...given }: GitRequest): Promise<GitAccess> {
  const viewer = await userOf(work, given);
  if (isOauth(given) && right === 'write') throw refused('An access token cannot push.');
  return userAccess(work, viewer, { path, right });
}

/** A build at work reads the project that it belongs to, and nothing else. */
async function buildAccess(work: Work, { path, password, right }: GitRequest): Promise<GitAccess> {
  const project = await findProject(work.em, path, null);
  if (!project?.builds_enabled || !(await isTokenOf(work, project, password))) throw unauthorized(challenge);
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
async function userOf(work: Work, { user, password }: BasicCredentials): Promise<Viewer> {
  const find = isOauth({ user, password }) ? viewerByAccessToken : viewerByToken;
  const byToken = await find(work.em, password);
  if (byToken) return byToken;
  try {
    return await signIn(work, user, password);
  } catch (error) {
    throw error instanceof AppError ? unauthorized(challenge) : error;
  }
}

function isOauth({ user, password }: BasicCredentials): boolean {
  return user === oauthUser && isAccessToken(password);
}
