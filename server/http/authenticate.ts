import type { EntityManager } from '@mikro-orm/postgresql';
import { notAdminForSudo, unauthorized, unknownSudoUser } from '../errors.ts';
import type { ViewerKey } from '../queries/project-scope.ts';
import { type Viewer, viewerByIdOrName, viewerByToken } from '../queries/viewer.ts';
import { tokenDigest } from '../secrets.ts';

export interface Credentials {
  /** Parameters of query and body. */
  raw: Record<string, unknown>;
  header(name: string): string;
}

/**
 * The user whom a request acts for, interface: "Authentication". A parameter beats a header.
 *
 * @returns null when no token is sent.
 * @throws AppError 401 for a token that is unknown or of a blocked user; 403 and 404 for sudo.
 */
export async function authenticate(em: EntityManager, credentials: Credentials): Promise<Viewer | null> {
  const token = readToken(credentials);
  if (token === null) return null;
  const viewer = await viewerByToken(em, token);
  if (!viewer) throw unauthorized();
  return sudo(em, viewer, readSudo(credentials));
}

/**
 * As `authenticate`, for statements that find the user themselves together with what he asks for: such a request
 * costs one statement. Where sudo is asked for, the user is found and checked here.
 */
export async function viewerKey(em: EntityManager, credentials: Credentials): Promise<ViewerKey | null> {
  const token = readToken(credentials);
  if (token === null) return null;
  if (readSudo(credentials) === '') return { by: 'token', value: tokenDigest(token) };
  const viewer = await authenticate(em, credentials);
  return viewer && { by: 'id', value: viewer.id };
}

async function sudo(em: EntityManager, viewer: Viewer, name: string): Promise<Viewer> {
  if (name === '' || name === viewer.username || name === String(viewer.id)) return viewer;
  if (!viewer.is_admin) throw notAdminForSudo();
  const other = await viewerByIdOrName(em, name);
  if (!other) throw unknownSudoUser(name);
  if (other.state !== 'active') throw unauthorized();
  return other;
}

function readToken({ raw, header }: Credentials): string | null {
  const bearer = /^Bearer\s+(\S+)$/i.exec(header('authorization'))?.[1];
  const given = [raw.private_token, header('private-token'), raw.access_token, bearer];
  for (const token of given) if (typeof token === 'string' && token !== '') return token;
  return null;
}

function readSudo({ raw, header }: Credentials): string {
  const given = raw.sudo ?? header('sudo');
  return typeof given === 'string' || typeof given === 'number' ? String(given).replaceAll('\0', '') : '';
}
