/** What a full ref name is to people. */
export interface RefKind {
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string;
  isTag: boolean;
}

/** Branches and tags; null for every other ref. */
export function readRefName(ref: string): RefKind | null {
  if (ref.startsWith('refs/heads/')) return { name: ref.slice(11), isTag: false };
  if (ref.startsWith('refs/tags/')) return { name: ref.slice(10), isTag: true };
  return null;
}
