import { programMissing } from '../errors.ts';
import { archiveFormat, archiveSuffixes, streamArchive } from '../git/archive.ts';
import { ProgramMissingError } from '../git/pipe-through.ts';
import { onProject } from '../http/access.ts';
import { bytes, StreamAnswer } from '../http/answers.ts';
import { contentDisposition } from '../http/content-disposition.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { choice, optional, pathText, revision } from '../http/params.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Work } from '../services.ts';
import { requirePlace } from './repository-place.ts';

const archive = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/archive',
  summary: 'The files of a commit, branch or tag; the default branch and tar.gz unless told',
  access: onProject('read_code'),
  params: { sha: optional(revision()), format: optional(choice(archiveSuffixes)) },
  returns: bytes('application/octet-stream'),
  run: ({ project, params, work }) => sendArchive(work, project, params.sha, params.format),
});

const archiveAs = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/archive.:format',
  summary: 'The same as zip, tar, tar.gz or tar.bz2, by the usual ends of their names; tar.gz for others',
  access: onProject('read_code'),
  params: { format: pathText(), sha: optional(revision()) },
  returns: bytes('application/octet-stream'),
  run: ({ project, params, work }) => sendArchive(work, project, params.sha, params.format),
});

export const endpoints: Endpoint[] = [archive, archiveAs];

async function sendArchive(
  work: Work,
  project: ProjectScope,
  given: string | undefined,
  suffix = 'tar.gz',
): Promise<StreamAnswer> {
  const { dir, sha, ref } = await requirePlace(work, { project, ref: given, missing: 'File' });
  const format = archiveFormat(suffix.toLowerCase());
  const folder = `${project.path}-${ref.replaceAll('/', '-')}-${sha}`;
  const stream = await streamArchive(dir, { sha, folder, format }).catch((error) => {
    throw error instanceof ProgramMissingError ? programMissing(error.program, error) : error;
  });
  return new StreamAnswer(stream, {
    'Content-Type': format === 'zip' ? 'application/zip' : 'application/octet-stream',
    'Content-Disposition': contentDisposition('attachment', `${folder}.${format}`),
    'Content-Transfer-Encoding': 'binary',
    'Cache-Control': 'private',
    'X-Content-Type-Options': 'nosniff',
  });
}
