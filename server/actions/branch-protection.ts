import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

export interface ProtectionWish {
  projectId: number;
  branch: string;
  /** Left as it is when not given; false for a branch that is not protected yet. So is the other one. */
  developersCanPush?: boolean | undefined;
  developersCanMerge?: boolean | undefined;
}

/** Protects a branch, or changes how far it is protected. */
export async function protectBranch(work: Work, wish: ProtectionWish): Promise<void> {
  const { projectId, branch, developersCanPush, developersCanMerge } = wish;
  await sql(
    work.em,
    `insert into protected_branches as r (project_id, name, developers_can_push, developers_can_merge)
     values ($1, $2, coalesce($3::boolean, false), coalesce($4::boolean, false))
     on conflict on constraint protected_branches_project_id_name_key do update set
       developers_can_push = coalesce($3, r.developers_can_push),
       developers_can_merge = coalesce($4, r.developers_can_merge), updated_at = now()`,
    [projectId, branch, developersCanPush ?? null, developersCanMerge ?? null],
  );
}

export async function unprotectBranch(
  { em }: Work,
  { projectId, branch }: { projectId: number; branch: string },
): Promise<void> {
  await sql(em, 'delete from protected_branches where project_id = $1 and name = $2', [projectId, branch]);
}

/**
 * Protects a branch as far as the settings say, when it becomes the first default branch of its project. A rule
 * that is there already stays.
 */
export async function protectDefaultBranch({ em }: Work, projectId: number, branch: string): Promise<void> {
  await sql(
    em,
    `insert into protected_branches (project_id, name, developers_can_push)
     select $1, $2, default_branch_protection = 1 from settings where id = 1 and default_branch_protection > 0
     on conflict on constraint protected_branches_project_id_name_key do nothing`,
    [projectId, branch],
  );
}
