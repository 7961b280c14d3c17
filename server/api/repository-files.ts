import { type AppError, notFound, unprocessable } from '../errors.ts';
import { ObjectTooLargeError } from '../git/errors.ts';
import { lastCommitOf } from '../git/last-commit.ts';
import { findPath } from '../git/tree-path.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { revision, text } from '../http/params.ts';
import { presentRepositoryFile, RepositoryFileJson } from '../present/repository-file.ts';
import type { Work } from '../services.ts';
import { inTime } from './commit-lookup.ts';
import { filePath } from './repository-file-path.ts';
import { requirePlace } from './repository-place.ts';

/** Bytes of a file that is sent inside JSON, which has to be held several times over. */
const largestFile = 16 * 1024 * 1024;

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/files',
  summary: 'A file in a commit, branch or tag, with its contents in base64',
  access: onProject('read_code'),
  params: { file_path: text({ max: 4096 }), ref: revision() },
  returns: RepositoryFileJson,
  async run(call) {
    const { project, params, work } = call;
    const { dir, sha } = await requirePlace(work, { project, ref: params.ref, missing: 'Commit' });
    const path = filePath(params.file_path);
    const entry = await findPath(work.objects, dir, { commit: sha, path });
    if (entry?.type !== 'blob') throw notFound('File');
    const { rawPath, id } = entry;
    const content = await readContent(work, dir, id);
    const lastCommitId = await inTime(() => lastCommitOf(dir, { from: sha, rawPath, asker: call }));
    const ids = { blobId: id, commitId: sha, lastCommitId: lastCommitId ?? sha };
    return presentRepositoryFile({ path: path.join('/'), content, ref: params.ref, ...ids });
  },
});

export const endpoints: Endpoint[] = [get];

async function readContent(work: Work, dir: string, id: string): Promise<Buffer> {
  try {
    const content = await work.objects.readFile(dir, id, largestFile);
    if (content) return content;
  } catch (error) {
    throw error instanceof ObjectTooLargeError ? fileTooLarge(id, error.size) : error;
  }
  throw notFound('File');
}

function fileTooLarge(id: string, size: number): AppError {
  return unprocessable(
    `The file has ${size} bytes, and this answer takes ${largestFile}: get it from repository/raw_blobs/${id}`,
  );
}
