import { z } from 'zod';
import type { FileAction } from '../actions/change-tree.ts';
import { editFiles } from '../actions/edit-files.ts';
import { onProject } from '../http/access.ts';
import { type Call, type Endpoint, endpoint } from '../http/endpoint.ts';
import { optional, type Params, revision, text } from '../http/params.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import { content, encoding, readContent } from './file-content.ts';

const place = { file_path: text({ max: 4096 }), branch_name: revision() };
const commit = {
  commit_message: text(),
  author_name: optional(text({ max: 255 })),
  author_email: optional(text({ max: 255 })),
};
const guard = { last_commit_id: optional(revision()) };

const FileChangeJson = z.strictObject({
  file_name: z.string(),
  file_path: z.string(),
  branch_name: z.string(),
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/files',
  summary: 'Commits a new file to a branch',
  access: onProject('push_code'),
  params: { ...place, encoding: encoding(), content: content(), ...commit },
  returns: FileChangeJson,
  body: 'files',
  transaction: false,
  run(call) {
    const { file_path: path, content, encoding } = call.params;
    return change(call, { action: 'create', path, content: readContent(content, encoding, 'content') });
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/files',
  summary:
    'Commits new content of a file to a branch; with last_commit_id only if the file is still as it was there',
  access: onProject('push_code'),
  params: { ...place, encoding: encoding(), content: content(), ...commit, ...guard },
  returns: FileChangeJson,
  body: 'files',
  transaction: false,
  run(call) {
    const { file_path: path, content, encoding, last_commit_id: lastCommitId } = call.params;
    const bytes = readContent(content, encoding, 'content');
    return change(call, { action: 'update', path, content: bytes, lastCommitId });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/files',
  summary:
    'Commits the removal of a file to a branch; with last_commit_id only if the file is still as it was there',
  access: onProject('push_code'),
  params: { ...place, ...commit, ...guard },
  returns: FileChangeJson,
  transaction: false,
  run(call) {
    const { file_path: path, last_commit_id: lastCommitId } = call.params;
    return change(call, { action: 'delete', path, lastCommitId });
  },
});

export const endpoints: Endpoint[] = [create, update, remove];

type Scope = { viewer: Viewer; project: ProjectScope };
type Changing = Pick<
  Call<Scope, typeof place & typeof commit & Params>,
  'viewer' | 'project' | 'params' | 'work'
>;

async function change({ viewer, project, params, work }: Changing, action: FileAction) {
  const { file_path, branch_name, commit_message: message, author_name, author_email } = params;
  const author = { name: author_name, email: author_email };
  await editFiles(work, { project, viewer, branch: branch_name, message, author, actions: [action] });
  return { file_name: file_path, file_path, branch_name };
}
