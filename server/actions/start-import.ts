import type { ImportSource } from '../policy/import-url.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

interface NewImport {
  projectId: number;
  userId: number;
  source: ImportSource;
}

/** Lets a task fill a new project. */
export async function startImport(work: Work, { projectId, userId, source }: NewImport): Promise<void> {
  const { em, secrets } = work;
  const sealed = source.credentials === null ? null : secrets.seal(source.credentials);
  await sql(
    em,
    'insert into project_imports (project_id, user_id, url, credentials_sealed) values ($1, $2, $3, $4)',
    [projectId, userId, source.url, sealed],
  );
  await sql(em, `update projects set import_status = 'started' where id = $1`, [projectId]);
  await queueImport(work, projectId);
}

/** Lets a task begin with an import, in place of one that waits or comes to its end. */
export async function queueImport(
  { queue, em }: Pick<Work, 'queue' | 'em'>,
  projectId: number,
): Promise<void> {
  await queue.add(em, 'import_project', { projectId }, { key: `import_project:${projectId}` });
}
