import type { EntityManager } from '@mikro-orm/postgresql';
import { can } from '../policy/project.ts';
import { sql } from '../sql.ts';
import { type ProjectRow, projectColumns, projectTables } from './project-row.ts';
import type { Viewer } from './viewer.ts';

export interface RunnerProjectRow {
  id: number;
  name: string;
  name_with_namespace: string;
  path: string;
  path_with_namespace: string;
}

/** The projects that a specific runner serves. */
export async function projectsOfRunner(em: EntityManager, runnerId: number): Promise<RunnerProjectRow[]> {
  return sql<RunnerProjectRow>(
    em,
    `select p.id, p.name, coalesce(o.name, n.name) || ' / ' || p.name as name_with_namespace, p.path,
       n.path || '/' || p.path as path_with_namespace
     from runner_projects rp join projects p on p.id = rp.project_id and not p.pending_delete
       join namespaces n on n.id = p.namespace_id left join users o on o.id = n.owner_id
     where rp.runner_id = $1 order by p.id`,
    [runnerId],
  );
}

/** Which of the projects the viewer may know of. */
export async function visibleProjectIds(
  em: EntityManager,
  viewer: Viewer,
  projects: { id: number }[],
): Promise<Set<number>> {
  if (viewer.is_admin) return new Set(projects.map((project) => project.id));
  const rows = await sql<ProjectRow>(
    em,
    `select ${projectColumns} from ${projectTables} where p.id = any($2)`,
    [viewer.id, projects.map((project) => project.id)],
  );
  return new Set(rows.filter((row) => can(viewer, row, 'read_project')).map((row) => row.id));
}
