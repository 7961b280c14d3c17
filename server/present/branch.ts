import { z } from 'zod';
import type { Commit } from '../git/commit.ts';
import type { Protection } from '../policy/branch-protection.ts';

/** Interface: "Branch", its commit. */
export const RefCommitJson = z.strictObject({
  id: z.string(),
  message: z.string(),
  parent_ids: z.array(z.string()),
  author_name: z.string(),
  author_email: z.string(),
  authored_date: z.string(),
  committer_name: z.string(),
  committer_email: z.string(),
  committed_date: z.string(),
});

/** Interface: "Branch". The commit is null when it is too large to be shown. */
export const BranchJson = z.strictObject({
  name: z.string(),
  protected: z.boolean(),
  developers_can_push: z.boolean(),
  developers_can_merge: z.boolean(),
  commit: RefCommitJson.nullable(),
});

export interface BranchParts {
  /** Without `refs/heads/`. */
  name: string;
  /** Null when it is not protected. */
  protection: Protection | null;
  commit: Commit | null;
}

export function presentBranch({ name, protection, commit }: BranchParts): z.infer<typeof BranchJson> {
  return {
    name,
    protected: protection !== null,
    developers_can_push: protection?.developers_can_push ?? false,
    developers_can_merge: protection?.developers_can_merge ?? false,
    commit: commit && presentRefCommit(commit),
  };
}

export function presentRefCommit(commit: Commit): z.infer<typeof RefCommitJson> {
  return {
    id: commit.sha,
    message: commit.message,
    parent_ids: commit.parentIds,
    author_name: commit.authorName,
    author_email: commit.authorEmail,
    authored_date: commit.authoredDate,
    committer_name: commit.committerName,
    committer_email: commit.committerEmail,
    committed_date: commit.committedDate,
  };
}
