import type { EntityManager } from '@mikro-orm/postgresql';
import type { GroupFacts } from '../policy/group.ts';
import { sqlOne } from '../sql.ts';
import { type Viewer, type ViewerKey, viewerBy, viewerJson } from './viewer.ts';

/** What answers show of a group. */
export interface GroupRow {
  id: number;
  name: string;
  path: string;
  description: string;
  visibility_level: number;
  avatar: string | null;
}

/** A group as one viewer stands to it. */
export interface GroupScope extends GroupRow, GroupFacts {}

/** Columns of a `GroupRow` from the table `n`. */
export const groupColumns = 'n.id, n.name, n.path, n.description, n.visibility_level, n.avatar';

/** Which rows of `namespaces n` are groups that are there. */
export const isGroup = `n.kind = 'group' and not n.pending_delete`;

/** Whether the viewer `v`, who is no member of the group `n`, sees one of its projects. */
const showsProject = `(exists (select 1 from project_members m join projects p on p.id = m.project_id
      where m.user_id = v.id and p.namespace_id = n.id and not p.pending_delete)
    or not n.share_with_group_lock and exists (select 1 from group_members sm
      join project_shares s on s.group_id = sm.group_id join projects p on p.id = s.project_id
      where sm.user_id = v.id and p.namespace_id = n.id and not p.pending_delete)
    or exists (select 1 from projects p where p.namespace_id = n.id and not p.pending_delete
      and p.visibility_level >= case when v.external then 20 else 10 end))`;

/** Whether the user `v` may know of the group `n`, as the policy says it. */
export const seesGroup = `(v.is_admin or n.visibility_level = 20 or n.visibility_level = 10 and not v.external
    or exists (select 1 from group_members m where m.group_id = n.id and m.user_id = v.id) or ${showsProject})`;

/** A number is an id first and a path then. */
const scope = `select ${viewerJson} as viewer, row_to_json(g) as group from users v
  left join lateral (select ${groupColumns}, coalesce(gm.access_level, 0) as viewer_level,
      n.visibility_level < 20 and gm.id is null and ${showsProject} as shows_project
    from namespaces n left join group_members gm on gm.group_id = n.id and gm.user_id = v.id
    where ${isGroup} and (n.id = $2 or lower(n.path) = lower($3) and n.path = $3)
    order by n.id = $2 desc limit 1) g on true`;

/**
 * The viewer and the group, by id or by exact path, in one statement.
 *
 * @returns null when there is no such viewer; without a group: there is none.
 */
export async function findGroupScope(
  em: EntityManager,
  key: ViewerKey,
  idOrPath: string,
): Promise<{ viewer: Viewer; group: GroupScope | null } | null> {
  const text = `${scope} where ${viewerBy[key.by]}`;
  return sqlOne(em, text, [key.value, ...readGroupPlace(idOrPath)]);
}

/** A group by id or by exact path, whoever asks; null when there is none. */
export async function findGroup(em: EntityManager, idOrPath: string): Promise<GroupRow | null> {
  return sqlOne<GroupRow>(
    em,
    `select ${groupColumns} from namespaces n
     where ${isGroup} and (n.id = $1 or lower(n.path) = lower($2) and n.path = $2)
     order by n.id = $1 desc limit 1`,
    readGroupPlace(idOrPath),
  );
}

/** The id 0 and the empty path are those of no group. */
function readGroupPlace(idOrPath: string): [number, string] {
  return [/^\d{1,9}$/.test(idOrPath) ? Number(idOrPath) : 0, idOrPath.includes('\0') ? '' : idOrPath];
}
