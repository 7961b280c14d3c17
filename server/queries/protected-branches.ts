import type { EntityManager } from '@mikro-orm/postgresql';
import type { Protection } from '../policy/branch-protection.ts';
import { sql } from '../sql.ts';

interface Row extends Protection {
  name: string;
}

/** The rules of those of these branches that are protected, by the name of the branch. */
export async function protectionsOf(
  em: EntityManager,
  projectId: number,
  branches: readonly string[],
): Promise<Map<string, Protection>> {
  const rows = await sql<Row>(
    em,
    `select name, developers_can_push, developers_can_merge from protected_branches
     where project_id = $1 and name = any($2)`,
    [projectId, branches],
  );
  return new Map(rows.map(({ name, ...protection }) => [name, protection]));
}

/** The rule of one branch; null when it is not protected. */
export async function protectionOf(
  em: EntityManager,
  projectId: number,
  branch: string,
): Promise<Protection | null> {
  return (await protectionsOf(em, projectId, [branch])).get(branch) ?? null;
}
