import { z } from 'zod';
import { buildStatuses } from '../../shared/build-status.ts';
import type { AggregateStatus } from '../ci/status.ts';
import type { Commit } from '../git/commit.ts';

const summary = {
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  /** When it was committed, in the committer's own offset, as all times of git. */
  created_at: z.string(),
  message: z.string(),
};

/** Interface: "Commit", as other things show it. */
export const CommitJson = z.strictObject(summary);

/** Interface: "Commit", as an item of the list of commits. */
export const CommitItemJson = z.strictObject({ ...summary, allow_failure: z.boolean() });

/** Interface: "Commit", a single one. */
export const CommitDetailJson = z.strictObject({
  ...summary,
  committed_date: z.string(),
  authored_date: z.string(),
  parent_ids: z.array(z.string()),
  /** Over all its pipelines; null without any. */
  status: z.enum([...buildStatuses, 'skipped']).nullable(),
});

export type ShownCommit = Pick<Commit, 'sha' | 'message' | 'authorName' | 'authorEmail' | 'committedDate'>;

export function presentCommit(commit: ShownCommit): z.infer<typeof CommitJson> {
  return {
    id: commit.sha,
    short_id: commit.sha.slice(0, 8),
    title: commitTitle(commit.message),
    author_name: commit.authorName,
    author_email: commit.authorEmail,
    created_at: commit.committedDate,
    message: commit.message,
  };
}

export function presentCommitItem(commit: ShownCommit): z.infer<typeof CommitItemJson> {
  return { ...presentCommit(commit), allow_failure: false };
}

export function presentCommitDetail(
  commit: Commit,
  status: AggregateStatus | null,
): z.infer<typeof CommitDetailJson> {
  return {
    ...presentCommit(commit),
    committed_date: commit.committedDate,
    authored_date: commit.authoredDate,
    parent_ids: commit.parentIds,
    status,
  };
}

/** The first line of a message, cut where it gets too long for a list. */
function commitTitle(message: string): string {
  const line = message.trimStart().split('\n', 1)[0]?.trimEnd() ?? '';
  if (line === '') return '--no commit message';
  // Letters beyond the basic plane are two units each, of which none is a letter by itself.
  const letters = [...line.slice(0, 202)];
  return letters.length > 100 ? `${letters.slice(0, 80).join('')}…` : line;
}
