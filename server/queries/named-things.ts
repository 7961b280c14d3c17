import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../sql.ts';

/** What texts of a project may name in it; users and commits are not kept with projects here. */
export const namedKinds = ['issue', 'merge_request', 'snippet', 'milestone', 'label'] as const;
export type NamedKind = (typeof namedKinds)[number];

export interface ThingName {
  kind: NamedKind;
  /** A number, or of milestones and labels also the title. */
  name: string;
}

/** Which of these names stand for something in the project. */
export async function findNamedThings(
  em: EntityManager,
  projectId: number,
  names: readonly ThingName[],
): Promise<ThingName[]> {
  if (names.length === 0) return [];
  const of = (wanted: NamedKind) => names.filter(({ kind }) => kind === wanted).map(({ name }) => name);
  return sql<ThingName>(em, find, [projectId, ...namedKinds.map(of)]);
}

// Numbers may be larger than those of any row.
const find = `
  select 'issue' as kind, name from unnest($2::text[]) as name
    join issues t on t.project_id = $1 and t.iid = name::bigint and t.deleted_at is null
  union all select 'merge_request', name from unnest($3::text[]) as name
    join merge_requests t on t.project_id = $1 and t.iid = name::bigint and t.deleted_at is null
  union all select 'snippet', name from unnest($4::text[]) as name
    join snippets t on t.project_id = $1 and t.id = name::bigint
  union all select 'milestone', v.name from milestones t cross join lateral (values (t.iid::text), (t.title)) v (name)
    where t.project_id = $1 and v.name = any($5::text[])
  union all select 'label', v.name from labels t cross join lateral (values (t.id::text), (t.title)) v (name)
    where t.project_id = $1 and v.name = any($6::text[])`;
