import { z } from 'zod';
import type { FileDiff } from '../git/diff.ts';

/** Interface: "Diff entry". */
export const DiffJson = z.strictObject({
  old_path: z.string(),
  new_path: z.string(),
  /** Octal; `0` where there is no file on that side. */
  a_mode: z.string(),
  b_mode: z.string(),
  diff: z.string(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  /** There is a diff, but too much of it to be told. */
  too_large: z.literal(true).optional(),
});

/** Interface: "Diff entry", where not all of them may be told. */
export const CutDiffJson = DiffJson.extend({
  /** On the last entry alone: more has changed than is told. */
  truncated: z.literal(true).optional(),
});

export function presentDiff(file: FileDiff): z.infer<typeof DiffJson> {
  return {
    old_path: file.oldPath,
    new_path: file.newPath,
    a_mode: file.oldMode,
    b_mode: file.newMode,
    diff: file.diff,
    new_file: file.isNew,
    renamed_file: file.isRenamed,
    deleted_file: file.isDeleted,
    ...(file.isTooLarge ? { too_large: true } : {}),
  };
}

/** @param isCut whether something is left out of all of it. */
export function presentCutDiffs(files: readonly FileDiff[], isCut: boolean): z.infer<typeof CutDiffJson>[] {
  const entries: z.infer<typeof CutDiffJson>[] = files.map(presentDiff);
  const last = entries.at(-1);
  if (last && isCut) last.truncated = true;
  return entries;
}
