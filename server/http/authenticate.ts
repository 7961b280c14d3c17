import type { EntityManager } from '@mikro-orm/postgresql';
import { type AppError, notAdminForSudo, unauthorized, unknownSudoUser } from '../errors.ts';
import {
  isSpentAccessToken,
  type Viewer,
  type ViewerKey,
  viewerByIdOrName,
  viewerByKey,
} from '../queries/viewer.ts';
import { isAccessToken, tokenDigest } from '../secrets.ts';

export interface Credentials {
  /** Parameters of query and body. */
  raw: Record<string, unknown>;
  header(name: string): string;
}

/**
 * The user whom a request acts for, interface: "Authentication". A parameter beats a header.
 *
 * @returns null when no token is sent.
 * @throws AppError 401 for a token that is unknown, over, or of a blocked user; 403 and 404 for sudo.
 */
export async function authenticate(em: EntityManager, credentials: Credentials): Promise<Viewer | null> {
  const key = readToken(credentials);
  if (key === null) return null;
  const viewer = await viewerByKey(em, key);
  if (!viewer) throw await unknownViewer(em, key);
  return sudo(em, viewer, readSudo(credentials));
}

/**
 * As `authenticate`, for statements that find the user themselves together with what he asks for: such a request
 * costs one statement. Where sudo is asked for, the user is found and checked here.
 */
export async function viewerKey(em: EntityManager, credentials: Credentials): Promise<ViewerKey | null> {
  const key = readToken(credentials);
  if (key === null || readSudo(credentials) === '') return key;
  const viewer = await authenticate(em, credentials);
  return viewer && { by: 'id', value: viewer.id };
}

/** What a request is told whose key leads to nobody. Of an access token that was good once, it is said so. */
export async function unknownViewer(em: EntityManager, key: ViewerKey | null): Promise<AppError> {
  const isSpent = key?.by === 'accessToken' && (await isSpentAccessToken(em, key.value as Buffer));
  return unauthorized(isSpent ? { 'WWW-Authenticate': spentToken } : undefined);
}

const spentToken =
  'Bearer realm="The API", error="invalid_token", error_description="The access token expired or was revoked"';

async function sudo(em: EntityManager, viewer: Viewer, name: string): Promise<Viewer> {
  if (name === '' || isOneself(viewer, name)) return viewer;
  if (!viewer.is_admin) throw notAdminForSudo();
  const other = await viewerByIdOrName(em, name);
  if (!other) throw unknownSudoUser(name);
  if (other.state !== 'active') throw unauthorized();
  return other;
}

/** Digits are an id, also where they are somebody's name. */
function isOneself(viewer: Viewer, name: string): boolean {
  return name === (/^\d+$/.test(name) ? String(viewer.id) : viewer.username);
}

/** Private tokens are taken in the places of access tokens too; the form tells which it is. */
function readToken({ raw, header }: Credentials): ViewerKey | null {
  for (const token of [raw.private_token, header('private-token')]) {
    if (isText(token)) return { by: 'token', value: tokenDigest(token) };
  }
  const token = readAccessToken({ raw, header });
  if (token === null) return null;
  return { by: isAccessToken(token) ? 'accessToken' : 'token', value: tokenDigest(token) };
}

/** The access token of a request, known or not; null when there is none. */
export function readAccessToken({ raw, header }: Credentials): string | null {
  const bearer = /^Bearer\s+(\S+)$/i.exec(header('authorization'))?.[1];
  for (const token of [raw.access_token, raw.bearer_token, bearer]) if (isText(token)) return token;
  return null;
}

/**
 * @returns empty where sudo is not asked for.
 * @throws AppError 404 for a list or map: taken for nothing, it would do as the administrator what another should.
 */
function readSudo({ raw, header }: Credentials): string {
  const { sudo: given } = raw;
  if (typeof given === 'object' && given !== null) throw unknownSudoUser('');
  const text = typeof given === 'string' || typeof given === 'number' ? String(given) : '';
  return (text || header('sudo')).replaceAll('\0', '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
