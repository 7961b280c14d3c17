import { notAllowed } from '../errors.ts';
import type { MergeRequestRow } from '../queries/merge-request-row.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';

export interface Acceptance {
  viewer: Viewer;
  project: ProjectScope;
  mergeRequest: MergeRequestRow;
}

/** Stand-in. */
export async function acceptMergeRequest(_work: Work, _acceptance: Acceptance): Promise<void> {
  throw notAllowed();
}
