import type { EntityManager } from '@mikro-orm/postgresql';
import { can, type ProjectFacts, type ViewerFacts } from '../policy/project.ts';
import { sql } from '../sql.ts';
import { issueColumns, issueTables } from './issue-row.ts';
import type { ListQuery } from './list-query.ts';
import { memberTables, viewerLevel } from './project-row.ts';

/** An issue that a text names, with what decides who may do what with it. */
export interface NamedIssue {
  id: number;
  project_id: number;
  state: 'opened' | 'closed';
  author_id: number;
  assignee_id: number | null;
  viewer: ViewerFacts & { id: number };
  project: ProjectFacts;
  /** Which of the names it has, counted from 0. */
  position: number;
}

export interface Naming {
  /** Whoever is to see them. */
  userId: number;
  /** Where names without a project belong. */
  projectId: number;
  /** By `namespace/path`, in which the case does not matter, and number. */
  names: readonly { project: string | null; iid: number }[];
}

/** More are not looked for. */
const mostNames = 1000;

/** Issues by their names, in the order of those: each that is there and that the user can read. */
export async function findNamedIssues(
  em: EntityManager,
  { userId, projectId, names }: Naming,
): Promise<NamedIssue[]> {
  if (names.length === 0) return [];
  const wanted = names.slice(0, mostNames);
  const values = [userId, projectId, wanted.map(({ project }) => project), wanted.map(({ iid }) => iid)];
  const rows = await sql<NamedIssue>(em, find, values);
  return rows.filter(({ viewer, project }) => can(viewer, project, 'read_issue'));
}

const facts = ['visibility_level', 'archived', 'issues_enabled', 'merge_requests_enabled', 'snippets_enabled']
  .concat('builds_enabled', 'public_builds')
  .map((column) => `'${column}', p.${column}`)
  .join(', ');

const find = `
  select i.id, i.project_id, i.state, i.author_id, i.assignee_id, (g.number - 1)::int as position,
    json_build_object('id', u.id, 'is_admin', u.is_admin, 'external', u.external) as viewer,
    json_build_object(${facts}, 'viewer_level', ${viewerLevel('u.id')}) as project
  from unnest($3::text[], $4::int[]) with ordinality g (path, iid, number)
    join namespaces n on case when g.path is null then n.id = (select namespace_id from projects where id = $2)
      else lower(n.path) = lower(split_part(g.path, '/', 1)) end
    join projects p on p.namespace_id = n.id and not p.pending_delete
      and case when g.path is null then p.id = $2 else lower(p.path) = lower(split_part(g.path, '/', 2)) end
    join issues i on i.project_id = p.id and i.iid = g.iid and i.deleted_at is null
    join users u on u.id = $1 ${memberTables('u.id')}
  order by g.number`;

/** Issues by their ids, in the order of those. Rights are not checked here. */
export function listIssues(viewer: { id: number }, ids: number[]): ListQuery {
  const where = 't.id = any($1::int[])';
  return {
    columns: issueColumns('$2'),
    from: `${issueTables} where ${where}`,
    order: 't.id',
    values: [ids, viewer.id],
    countFrom: `issues t where ${where}`,
    countValues: [ids],
  };
}
