import { notFound } from '../errors.ts';
import type { ObjectInfo } from '../git/cat-file-reply.ts';
import { openBlob } from '../git/open-blob.ts';
import { readShortSha } from '../git/ref-name.ts';
import { findPath } from '../git/tree-path.ts';
import { onProject } from '../http/access.ts';
import { bytes, type StreamAnswer } from '../http/answers.ts';
import { contentDisposition } from '../http/content-disposition.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pathText, text } from '../http/params.ts';
import { shownText } from '../http/shown-text.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { requireCommitAtEnd } from './commit-lookup.ts';
import { filePath } from './repository-file-path.ts';

const raw = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/raw_blobs/:sha',
  summary: 'The contents of a blob',
  access: onProject('read_code'),
  params: { sha: pathText() },
  returns: bytes('text/plain'),
  async run({ project, params, work }) {
    const dir = repositoryOf(work, project);
    const id = readShortSha(params.sha);
    const blob = id === null ? null : await work.objects.readInfo(dir, id);
    if (blob?.type !== 'blob') throw notFound('Blob');
    return sendBlob(work, dir, { blob, disposition: 'inline' });
  },
});

export const endpoints: Endpoint[] = [
  fileAt('/projects/:id/repository/blobs/*sha'),
  fileAt('/projects/:id/repository/commits/*sha/blob'),
  raw,
];

/** Clients know it under two paths. */
function fileAt(path: string): Endpoint {
  return endpoint({
    method: 'GET',
    path,
    summary: 'The contents of a file in a commit, branch or tag',
    access: onProject('read_code'),
    params: { sha: pathText(), filepath: text({ max: 4096 }) },
    returns: bytes('text/plain'),
    async run({ project, params, work }) {
      const dir = repositoryOf(work, project);
      const sha = await requireCommitAtEnd(work, project, params.sha);
      const names = filePath(params.filepath);
      const entry = await findPath(work.objects, dir, { commit: sha, path: names });
      const blob = entry?.type === 'blob' ? await work.objects.readInfo(dir, entry.id) : null;
      if (blob === null) throw notFound('File');
      return sendBlob(work, dir, { blob, disposition: contentDisposition('inline', names.at(-1) ?? '') });
    },
  });
}

async function sendBlob(
  work: Work,
  dir: string,
  { blob, disposition }: { blob: ObjectInfo; disposition: string },
): Promise<StreamAnswer> {
  return shownText(await openBlob(work.objects, dir, blob), { size: blob.size, disposition });
}
