import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../sql.ts';

/** Descriptions of the releases of those of these tags that have one, by the name of the tag. */
export async function releasesOf(
  em: EntityManager,
  projectId: number,
  tags: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ tag: string; description: string }>(
    em,
    'select tag, description from releases where project_id = $1 and tag = any($2)',
    [projectId, tags],
  );
  return new Map(rows.map(({ tag, description }) => [tag, description]));
}
