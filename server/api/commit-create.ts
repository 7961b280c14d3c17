import { editFiles } from '../actions/edit-files.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { optional, revision, text, unlessGiven } from '../http/params.ts';
import { CommitDetailJson, presentCommitDetail } from '../present/commit.ts';
import { fileActions } from './file-actions.ts';

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits',
  summary: 'Commits changes of several files to a branch, all or none',
  access: onProject('push_code'),
  params: {
    branch_name: unlessGiven('branch', revision()),
    branch: optional(revision()),
    commit_message: text(),
    actions: fileActions(),
    author_name: optional(text({ max: 255 })),
    author_email: optional(text({ max: 255 })),
  },
  returns: CommitDetailJson,
  body: 'files',
  transaction: false,
  async run({ viewer, project, params, work }) {
    const branch = params.branch_name ?? params.branch ?? '';
    const { commit_message: message, actions, author_name, author_email } = params;
    const author = { name: author_name, email: author_email };
    const commit = await editFiles(work, { project, viewer, branch, message, author, actions });
    return presentCommitDetail(commit, null);
  },
});

export const endpoints: Endpoint[] = [create];
