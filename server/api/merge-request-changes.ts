import { z } from 'zod';
import { unavailable } from '../errors.ts';
import { listCommits } from '../git/commit-list.ts';
import { compareLimits, diffOf, emptyTree } from '../git/diff.ts';
import { readCommits } from '../git/read-commits.ts';
import { onMergeRequest } from '../http/access.ts';
import { PageAnswer } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pathId } from '../http/params.ts';
import { CommitItemJson, presentCommitItem } from '../present/commit.ts';
import { CutDiffJson, presentCutDiffs } from '../present/diff.ts';
import { MergeRequestJson, presentMergeRequest } from '../present/merge-request.ts';
import type { MergeRequestRow } from '../queries/merge-request-row.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { inTime } from './commit-lookup.ts';
import { onBothPaths } from './merge-request-paths.ts';

const commits = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_id/commits',
  summary: 'Commits that a merge request brings, newest first; also after it was merged',
  access: onMergeRequest('read_code'),
  params: { merge_request_id: pathId() },
  returns: CommitItemJson,
  list: true,
  async run({ project, mergeRequest, page, work, signal }) {
    const { head_sha: from, base_sha: base } = mergeRequest;
    if (from === null) return new PageAnswer([], 0);
    const dir = repositoryOf(work, project);
    const window = { start: (page.page - 1) * page.perPage, count: page.perPage, signal };
    const query = { dir, from, without: base ?? undefined };
    const { shas, total } = await inTime(() => listCommits(query, window));
    const found = await readCommits(work.objects, dir, shas);
    return new PageAnswer(found.map(presentCommitItem), total);
  },
});

/** Interface: "Merge request", with changes. */
const ChangesJson = MergeRequestJson.extend({ changes: z.array(CutDiffJson) });

const changes = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_id/changes',
  summary: 'A merge request with what it changes, file by file; also after it was merged',
  access: onMergeRequest('read_code'),
  params: { merge_request_id: pathId() },
  returns: ChangesJson,
  async run({ project, mergeRequest, work, signal }) {
    const { files, isIncomplete } = await changesOf(work, mergeRequest, {
      dir: repositoryOf(work, project),
      signal,
    });
    if (files.length === 0 && isIncomplete) throw unavailable();
    const shown = presentMergeRequest(mergeRequest, work.origin);
    return { ...shown, changes: presentCutDiffs(files, isIncomplete) };
  },
});

export const endpoints: Endpoint[] = [...onBothPaths(commits), ...onBothPaths(changes)];

async function changesOf(
  { objects }: Work,
  { head_sha: to, base_sha: base }: MergeRequestRow,
  { dir, signal }: { dir: string; signal: AbortSignal },
) {
  if (to === null || to === base) return { files: [], isIncomplete: false };
  return diffOf(objects, { dir, from: base ?? emptyTree, to, signal }, compareLimits);
}
