import { createHash } from 'node:crypto';
import type { CatFile } from './cat-file.ts';
import type { Commit } from './commit.ts';
import { compareLimits, diffOf, emptyTree, type FileDiff } from './diff.ts';
import { type DiffLine, findChangedLine } from './diff-lines.ts';

export interface LineRequest {
  dir: string;
  commit: Commit;
  /** As the file is called after the commit; one that the commit removes, before it. */
  path: string;
  /** From 1: of an added line (`new`) after the commit, of a removed one (`old`) before it. */
  line: number;
  lineType: 'new' | 'old';
  signal?: AbortSignal | undefined;
}

export interface CommentedLine {
  file: FileDiff;
  /** Hash of the path and the line's numbers before and after, by which receivers of hooks know the place. */
  lineCode: string;
}

/**
 * Looks for a line that a commit added or removed against its first parent. Lines around it that are the same, and
 * those of files whose diff is too large to be shown, are no part of the diff.
 *
 * @returns null where there is no such line, or no finding it in time.
 */
export async function findCommentedLine(
  objects: CatFile,
  request: LineRequest,
): Promise<CommentedLine | null> {
  const { dir, commit, path, line, lineType, signal } = request;
  const range = { dir, from: commit.parentIds[0] ?? emptyTree, to: commit.sha, signal };
  const { files } = await diffOf(objects, range, compareLimits);
  for (const file of files) {
    const found = file.newPath === path ? findChangedLine(file.diff, { kind: lineType, line }) : null;
    if (found) return { file, lineCode: lineCodeOf(path, found) };
  }
  return null;
}

function lineCodeOf(path: string, { oldLine, newLine }: DiffLine): string {
  return `${createHash('sha1').update(path).digest('hex')}_${oldLine}_${newLine}`;
}
