import { z } from 'zod';
import type { Comparison } from '../git/compare.ts';
import { CommitJson, presentCommit } from './commit.ts';
import { DiffJson, presentDiff } from './diff.ts';

/** Interface: "Compare result". */
export const ComparisonJson = z.strictObject({
  /** The newest of them. */
  commit: CommitJson.nullable(),
  /** Oldest first; of very many, the newest ones. */
  commits: z.array(CommitJson),
  diffs: z.array(DiffJson),
  /** Something is left out because there is too much of it, or because it took too long. */
  compare_timeout: z.boolean(),
  compare_same_ref: z.boolean(),
});

export function presentComparison(
  { commits, files, isIncomplete }: Comparison,
  isSame: boolean,
): z.infer<typeof ComparisonJson> {
  const newest = commits.at(-1);
  return {
    commit: newest ? presentCommit(newest) : null,
    commits: commits.map(presentCommit),
    diffs: files.map(presentDiff),
    compare_timeout: isIncomplete,
    compare_same_ref: isSame,
  };
}
