import type { Commit } from '../git/commit.ts';
import { listCommits } from '../git/commit-list.ts';
import { readCommits } from '../git/read-commits.ts';
import { repositoryOf } from '../queries/repository.ts';
import { type IssueName, readClosing } from '../references/closing.ts';
import type { Work } from '../services.ts';

/** Of more commits, the newest are read. */
const mostCommits = 1000;

export interface CommitsToRead {
  projectId: number;
  from: string;
  /** A commit that is left out with its history; null leaves out nothing. */
  without: string | null;
  signal?: AbortSignal | undefined;
}

/** What is new in a history, oldest first. Throws a GitError when it cannot be read in time. */
export async function newCommits(work: Work, wanted: CommitsToRead): Promise<Commit[]> {
  const { projectId, from, without, signal } = wanted;
  const dir = repositoryOf(work, { id: projectId });
  const query = { dir, from, without: without ?? undefined };
  const { shas } = await listCommits(query, { start: 0, count: mostCommits, signal });
  return readCommits(work.objects, dir, shas.reverse());
}

interface Merged {
  project_id: number;
  description: string | null;
  head_sha: string | null;
  base_sha: string | null;
}

/** The issues that the commits and the description of a merge request say it closes. */
export async function closingNames(work: Work, request: Merged, signal?: AbortSignal): Promise<IssueName[]> {
  const { project_id: projectId, description, head_sha: from, base_sha: without } = request;
  const commits = from === null ? [] : await newCommits(work, { projectId, from, without, signal });
  const texts = [...commits.map(({ message }) => message), description ?? ''];
  return texts.flatMap((text) => readClosing(text, work.origin));
}
