import { GitError } from '../git/errors.ts';
import { readKnownCommit } from '../git/read-commits.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';

export interface MailedCommit {
  title: string;
  /** Addresses of its author and its committer. */
  emails: string[];
}

/** @returns null for a commit that cannot be read: what is said of it is told all the same. */
export async function commitOf(
  work: Work,
  { projectId, sha }: { projectId: number; sha: string },
): Promise<MailedCommit | null> {
  try {
    const commit = await readKnownCommit(work.objects, repositoryOf(work, { id: projectId }), sha);
    return { title: commit.title, emails: [commit.authorEmail, commit.committerEmail] };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, project: projectId }, 'a commit that a message is about was not read');
    return null;
  }
}
