import { z } from 'zod';
import type { Commit } from '../git/commit.ts';
import { presentRefCommit, RefCommitJson } from './branch.ts';

/** What is said of a tag. */
export const ReleaseJson = z.strictObject({ tag_name: z.string(), description: z.string() });

/** Interface: "Tag". The commit is null for a tag of something else, or when it is too large to be shown. */
export const TagJson = z.strictObject({
  name: z.string(),
  message: z.string().nullable(),
  commit: RefCommitJson.nullable(),
  release: ReleaseJson.nullable(),
});

export interface TagParts {
  /** Without `refs/tags/`. */
  name: string;
  /** Null without annotation. */
  message: string | null;
  commit: Commit | null;
  /** Description of its release; null when it has none. */
  release: string | null;
}

export function presentTag({ name, message, commit, release }: TagParts): z.infer<typeof TagJson> {
  return {
    name,
    message,
    commit: commit && presentRefCommit(commit),
    release: release === null ? null : presentRelease(name, release),
  };
}

export function presentRelease(tag: string, description: string): z.infer<typeof ReleaseJson> {
  return { tag_name: tag, description };
}
