import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** Makes a project read-only, or writable again. One that is so already stays as it is. */
export async function setArchived({ em }: Work, projectId: number, archived: boolean): Promise<void> {
  await sql(em, 'update projects set archived = $2, updated_at = now() where id = $1 and archived <> $2', [
    projectId,
    archived,
  ]);
}
