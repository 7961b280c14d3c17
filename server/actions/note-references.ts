import type { Work } from '../services.ts';

export type ReferenceSource =
  | { type: 'Issue' | 'MergeRequest'; projectId: number; id: number }
  | { type: 'Snippet'; projectId: number; id: number }
  | { type: 'Commit'; projectId: number; sha: string };

export interface References {
  authorId: number;
  source: ReferenceSource;
  noteId: number | null;
  texts: readonly (string | null)[];
}

/** Stand-in. */
export async function noteReferences(_work: Work, _references: References): Promise<void> {}
