import { requireBuildToken, requireReaderToken } from '../actions/build-token.ts';
import { notFound } from '../errors.ts';
import type { Access, AccessRequest } from '../http/access.ts';
import { readId } from '../http/params.ts';
import { type BuildAccessRow, findBuildAccess } from '../queries/build-access.ts';

/**
 * The build named by `:id` and a token that opens it: 404 without the build, then 403. The parameter `token`
 * beats the header BUILD-TOKEN.
 *
 * @param purpose `write`: the build's own token or the project's; `read`: also that of a build which uses its
 * artifacts; `form`: as `write`, but the handler checks a token that may come inside the form.
 */
export function withBuildToken(
  purpose: 'write' | 'read' | 'form',
): Access<{ build: BuildAccessRow; token: string }> {
  return {
    kind: 'build',
    async load(request) {
      const build = await requireBuild(request);
      const token = readToken(request);
      if (purpose === 'read') await requireReaderToken(request.work, build, token);
      else if (purpose === 'write' || token !== '') requireBuildToken(request.work, build, token);
      return { build, token };
    },
    check: () => undefined,
  };
}

/**
 * As `withBuildToken('write')` for the one call that comes all the time: the build's own token is checked without
 * the database, and what is written then is up to the statement that writes.
 */
export function withTraceToken(): Access<{ buildId: number }> {
  return {
    kind: 'build',
    async load(request) {
      const id = readId(request.raw.id);
      const token = readToken(request);
      if (id !== null && request.work.secrets.buildOfToken(token) === id) return { buildId: id };
      const build = await requireBuild(request);
      requireBuildToken(request.work, build, token);
      return { buildId: build.id };
    },
    check: () => undefined,
  };
}

async function requireBuild({ raw, work }: AccessRequest): Promise<BuildAccessRow> {
  const id = readId(raw.id);
  const build = id === null ? null : await findBuildAccess(work.em, id);
  if (!build) throw notFound();
  return build;
}

function readToken({ raw, header }: AccessRequest): string {
  return typeof raw.token === 'string' && raw.token !== '' ? raw.token : header('build-token');
}
