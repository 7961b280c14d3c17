import { commitStatus } from '../ci/status.ts';
import { unavailable } from '../errors.ts';
import { listCommits } from '../git/commit-list.ts';
import { commitLimits, diffOf, emptyTree } from '../git/diff.ts';
import { readCommits, readKnownCommit } from '../git/read-commits.ts';
import { rawPathsOf } from '../git/tree-path.ts';
import { onProject } from '../http/access.ts';
import { PageAnswer } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pageOf } from '../http/page-of.ts';
import { optional, pathText, revision, text, timestamp } from '../http/params.ts';
import { can } from '../policy/project.ts';
import {
  CommitDetailJson,
  CommitItemJson,
  presentCommitDetail,
  presentCommitItem,
} from '../present/commit.ts';
import { CutDiffJson, presentCutDiffs } from '../present/diff.ts';
import { outsideStatuses, pipelinesOfCommits } from '../queries/commit-status.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { headOf, inTime, requireCommit, requireCommitAtEnd } from './commit-lookup.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits',
  summary:
    'Commits of a branch, a tag or a commit, newest first; with `path`, those that changed a file or folder',
  access: onProject('read_code'),
  params: {
    ref_name: optional(revision()),
    since: optional(timestamp()),
    until: optional(timestamp()),
    path: optional(text({ max: 4096 })),
  },
  returns: CommitItemJson,
  list: true,
  async run({ project, params, page, work, signal }) {
    const dir = repositoryOf(work, project);
    const from = await headOf(work, project, params.ref_name);
    const path = readPath(params.path);
    if (from === null || path === null) return new PageAnswer([], 0);
    const window = { start: (page.page - 1) * page.perPage, count: page.perPage, signal };
    const rawPaths =
      path.length === 0 ? undefined : await rawPathsOf(work.objects, dir, { commit: from, path });
    const query = { dir, from, rawPaths, since: params.since, until: params.until };
    const { shas, total } = await inTime(() => listCommits(query, window));
    const commits = await readCommits(work.objects, dir, shas);
    return new PageAnswer(commits.map(presentCommitItem), total);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/*sha',
  summary: 'One commit, named by its hash, a branch or a tag',
  access: onProject('read_code'),
  params: { sha: pathText() },
  returns: CommitDetailJson,
  async run({ viewer, project, params, work }) {
    const sha = await requireCommitAtEnd(work, project, params.sha);
    const commit = await readKnownCommit(work.objects, repositoryOf(work, project), sha);
    return presentCommitDetail(commit, await statusOf(work, { viewer, project, sha }));
  },
});

const diff = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/*sha/diff',
  summary: 'What a commit changed against its first parent, file by file, of at most 100 files',
  access: onProject('read_code'),
  params: { sha: pathText() },
  returns: CutDiffJson,
  list: true,
  async run({ project, params, page, work, signal }) {
    const commit = await requireCommit(work, project, params.sha);
    const from = commit.parentIds[0] ?? emptyTree;
    const request = { dir: repositoryOf(work, project), from, to: commit.sha, signal };
    const { files, isIncomplete } = await diffOf(work.objects, request, commitLimits);
    if (files.length === 0 && isIncomplete) throw unavailable();
    return pageOf(presentCutDiffs(files, isIncomplete), page);
  },
});

/** The longer paths first: the name of a branch may have slashes, and so could have `/diff` at its end. */
export const endpoints: Endpoint[] = [list, diff, get];

/** Builds count for those alone who may know of them. */
async function statusOf(
  work: Work,
  { viewer, project, sha }: { viewer: Viewer; project: ProjectScope; sha: string },
) {
  if (!can(viewer, project, 'read_build'))
    return commitStatus(await outsideStatuses(work.em, project.id, sha));
  const pipelines = await pipelinesOfCommits(work.em, project.id, [sha]);
  return commitStatus(pipelines.get(sha) ?? []);
}

/** The names on the way, without what means nothing; none for everything, null for what leads out of the tree. */
function readPath(given: string | undefined): string[] | null {
  const parts = (given ?? '').split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? null : parts;
}
