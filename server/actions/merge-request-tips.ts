import { lookUpRef } from '../git/refs.ts';
import type { MergeRequestRow } from '../queries/merge-request-row.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

export type Branches = Pick<
  MergeRequestRow,
  'project_id' | 'source_project_id' | 'source_branch' | 'target_branch'
>;

/** The newest commits of the two branches of a merge request; null for a branch that is gone. */
export interface Tips {
  targetDir: string;
  target: string | null;
  /** Null when the whole project is gone; the folder of the target where both are one project. */
  sourceDir: string | null;
  source: string | null;
}

/** Where the branches are now. */
export async function readTips(work: Work, row: Branches): Promise<Tips> {
  const targetDir = repositoryOf(work, { id: row.project_id });
  const sourceDir = await sourceDirOf(work, row);
  const [target, source] = await Promise.all([
    lookUpRef(work.objects, targetDir, `refs/heads/${row.target_branch}`),
    sourceDir && lookUpRef(work.objects, sourceDir, `refs/heads/${row.source_branch}`),
  ]);
  return { targetDir, target, sourceDir, source };
}

async function sourceDirOf(work: Work, row: Branches): Promise<string | null> {
  if (row.source_project_id === null) return null;
  const isThere =
    row.source_project_id === row.project_id ||
    (await sqlOne(work.em, 'select 1 from projects where id = $1 and not pending_delete', [
      row.source_project_id,
    ]));
  return isThere ? repositoryOf(work, { id: row.source_project_id }) : null;
}
