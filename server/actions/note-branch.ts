import type { Work } from '../services.ts';
import { writeSystemNotes } from './write-system-notes.ts';

interface WithSource {
  id: number;
  project_id: number;
  source_branch: string;
}

/** Tells in a merge request what became of its source branch. */
export async function noteBranch(
  work: Work,
  { id, project_id: projectId, source_branch }: WithSource,
  { userId: authorId, did }: { userId: number; did: 'Deleted' | 'Restored' },
): Promise<void> {
  const noteable = { type: 'MergeRequest', id } as const;
  const bodies = [`${did} source branch \`${source_branch}\``];
  await writeSystemNotes(work, { projectId, authorId, noteable, bodies });
}
