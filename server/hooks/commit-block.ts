import { storable } from '../../shared/storable-text.ts';
import type { Commit } from '../git/commit.ts';
import { GitError } from '../git/errors.ts';
import { readKnownCommit } from '../git/read-commits.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import type { HookProject } from './blocks.ts';

/** Characters of a commit's message; longer ones belong to no human. */
const messageLimit = 32_768;

/** What messages say of a commit. */
export function commitBlock(work: Work, project: HookProject, commit: Commit) {
  return {
    id: commit.sha,
    message: storable(commit.message.slice(0, messageLimit)),
    timestamp: commit.committedDate,
    url: `${work.origin}/${project.full_path}/commit/${commit.sha}`,
    author: { name: storable(commit.authorName), email: storable(commit.authorEmail) },
  };
}

/** @returns null for a commit that cannot be read. */
export async function findCommitBlock(work: Work, project: HookProject, sha: string) {
  const reading = readKnownCommit(work.objects, repositoryOf(work, project), sha);
  const commit = await orNull(work, { project: project.id, sha }, reading);
  return commit && commitBlock(work, project, commit);
}

/** What a damaged repository does not tell must not hold up the messages after this one. */
export async function orNull<T>(
  work: Work,
  about: Record<string, unknown>,
  reading: Promise<T>,
): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, ...about }, 'a commit that a message is about was not read');
    return null;
  }
}
