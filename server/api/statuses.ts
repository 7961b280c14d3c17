import { postStatus } from '../actions/post-status.ts';
import { longestRef } from '../git/ref-name.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { flag, optional, pathText, revision, text } from '../http/params.ts';
import { can } from '../policy/project.ts';
import { CommitStatusJson, presentCommitStatus } from '../present/commit-status.ts';
import { type CommitStatusRow, findExternalStatus, listCommitStatuses } from '../queries/commit-statuses.ts';
import { repositoryOf } from '../queries/repository.ts';
import { inTime, requireCommit, requireCommitAtEnd } from './commit-lookup.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/*sha/statuses',
  summary: 'Statuses of a commit: of its builds, and those that services outside have posted',
  access: onProject('read_commit_status'),
  params: {
    sha: pathText(),
    ref_name: optional(revision()),
    ref: optional(revision()),
    stage: optional(text()),
    name: optional(text()),
    all: optional(flag()),
  },
  returns: CommitStatusJson,
  list: true,
  async run({ viewer, project, params, page, work }) {
    const { sha } = await requireCommit(work, project, params.sha);
    const query = listCommitStatuses({
      projectId: project.id,
      sha,
      withBuilds: can(viewer, project, 'read_build'),
      all: params.all ?? false,
      ref: params.ref_name ?? params.ref,
      stage: params.stage,
      name: params.name,
    });
    const statuses = await paginate<CommitStatusRow>(work.em, query, page);
    return statuses.map((status) => presentCommitStatus(status, work.origin));
  },
});

const post = endpoint({
  method: 'POST',
  path: '/projects/:id/statuses/*sha',
  summary: 'Adds a status to a commit, or brings a pending or running one of the same name up to date',
  access: onProject('create_commit_status'),
  transaction: false,
  params: {
    sha: pathText(),
    state: text({ max: 255 }),
    ref: optional(text({ max: longestRef })),
    name: optional(text({ max: 255 })),
    context: optional(text({ max: 255 })),
    target_url: optional(text({ max: 2048 })),
    description: optional(text()),
  },
  returns: CommitStatusJson,
  async run({ viewer, project, params, work, signal }) {
    const sha = await requireCommitAtEnd(work, project, params.sha);
    const posted = {
      projectId: project.id,
      dir: repositoryOf(work, project),
      sha,
      userId: viewer.id,
      state: params.state,
      name: params.name ?? params.context ?? 'default',
      ref: params.ref,
      targetUrl: params.target_url,
      description: params.description,
      signal,
    };
    const id = await inTime(() => postStatus(work, posted));
    const status = await findExternalStatus(work.em, id);
    if (!status) throw new Error('the status is gone');
    return presentCommitStatus(status, work.origin);
  },
});

export const endpoints: Endpoint[] = [list, post];
