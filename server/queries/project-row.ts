import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import { avatarOf } from './avatar.ts';
import type { Viewer } from './viewer.ts';

/** A project with its namespace, owner and the viewer's rights: all that presenters and policy read. */
export interface ProjectRow {
  id: number;
  name: string;
  path: string;
  description: string | null;
  default_branch: string | null;
  visibility_level: number;
  archived: boolean;
  issues_enabled: boolean;
  merge_requests_enabled: boolean;
  builds_enabled: boolean;
  wiki_enabled: boolean;
  snippets_enabled: boolean;
  shared_runners_enabled: boolean;
  public_builds: boolean;
  build_timeout: number;
  runners_token_sealed: Buffer;
  avatar: string | null;
  /** Name of the picture among the files of the default branch. */
  logo: string | null;
  tag_list: string[];
  open_issues_count: number;
  star_count: number;
  forks_count: number;
  creator_id: number | null;
  created_at: Date;
  last_activity_at: Date;
  namespace_id: number;
  namespace_kind: 'user' | 'group';
  namespace_name: string;
  namespace_path: string;
  namespace_owner_id: number | null;
  namespace_description: string;
  namespace_avatar: string | null;
  namespace_share_lock: boolean;
  namespace_visibility: number;
  namespace_created_at: Date;
  namespace_updated_at: Date;
  owner_name: string | null;
  owner_username: string | null;
  owner_state: string | null;
  owner_email: string | null;
  owner_avatar: string | null;
  owner_created_at: Date | null;
  import_status: ImportStatus;
  import_error: string | null;
  forked_from: ForkSource | null;
  /** The viewer's direct membership. */
  project_access: number | null;
  project_notification: number | null;
  /** The viewer's membership of the project's group. */
  group_access: number | null;
  group_notification: number | null;
  /** Highest level of the viewer from all sources; 0 = none. */
  viewer_level: number;
}

/** Of the repository that a project was made from; `none` for all others. */
export type ImportStatus = 'none' | 'started' | 'finished' | 'failed';

export interface ForkSource {
  id: number;
  name: string;
  name_with_namespace: string;
  path: string;
  path_with_namespace: string;
}

/** Tables that say what a viewer is to a project; `viewer` is his id, or null for nobody, as SQL. */
export function memberTables(viewer: string): string {
  return `left join project_members pm on pm.project_id = p.id and pm.user_id = ${viewer}
  left join group_members gm on gm.group_id = n.id and gm.user_id = ${viewer}`;
}

/** The viewer's highest level on `p` in `n`, from `memberTables` and shares. */
export function viewerLevel(viewer: string): string {
  return `greatest(case when n.owner_id = ${viewer} then 50 else 0 end, coalesce(pm.access_level, 0),
    coalesce(gm.access_level, 0), case when n.share_with_group_lock then 0 else
      coalesce((select max(least(sm.access_level, s.group_access))
        from project_shares s join group_members sm on sm.group_id = s.group_id and sm.user_id = ${viewer}
        where s.project_id = p.id), 0) end)::int`;
}

/** Whether the viewer may know of `f` in `fn`, the source of a fork: it may be shown to fewer people than the fork. */
function seesSource(viewer: string): string {
  return `(f.visibility_level = 20 or fn.owner_id = ${viewer}
    or exists (select 1 from users fv where fv.id = ${viewer}
      and (fv.is_admin or (f.visibility_level = 10 and not fv.external)))
    or exists (select 1 from project_members fm where fm.project_id = f.id and fm.user_id = ${viewer})
    or exists (select 1 from group_members fg where fg.group_id = f.namespace_id and fg.user_id = ${viewer})
    or not fn.share_with_group_lock and exists (select 1 from project_shares fs
      join group_members fg on fg.group_id = fs.group_id and fg.user_id = ${viewer} where fs.project_id = f.id))`;
}

/** Columns of `ProjectRow` for a viewer. */
export function projectColumnsFor(viewer: string): string {
  return `p.id, p.name, p.path, p.description, p.default_branch, p.visibility_level,
  p.archived, p.issues_enabled, p.merge_requests_enabled, p.builds_enabled, p.wiki_enabled, p.snippets_enabled,
  p.shared_runners_enabled, p.public_builds, p.build_timeout, p.runners_token_sealed, p.avatar, p.logo,
  p.tag_list, p.open_issues_count, p.star_count, p.forks_count, p.creator_id, p.created_at, p.last_activity_at,
  p.import_status, p.import_error,
  n.id as namespace_id, n.kind as namespace_kind, n.name as namespace_name, n.path as namespace_path,
  n.owner_id as namespace_owner_id, n.description as namespace_description, n.avatar as namespace_avatar,
  n.share_with_group_lock as namespace_share_lock, n.visibility_level as namespace_visibility,
  n.created_at as namespace_created_at, n.updated_at as namespace_updated_at,
  o.name as owner_name, o.username as owner_username, o.state as owner_state, o.email as owner_email,
  ${avatarOf('o')} as owner_avatar, o.created_at as owner_created_at,
  (select json_build_object('id', f.id, 'name', f.name, 'name_with_namespace', coalesce(fo.name, fn.name) || ' / ' || f.name,
      'path', f.path, 'path_with_namespace', fn.path || '/' || f.path)
    from projects f join namespaces fn on fn.id = f.namespace_id left join users fo on fo.id = fn.owner_id
    where f.id = p.forked_from_id and not f.pending_delete and ${seesSource(viewer)}) as forked_from,
  pm.access_level as project_access, pm.notification_level as project_notification,
  gm.access_level as group_access, gm.notification_level as group_notification,
  ${viewerLevel(viewer)} as viewer_level`;
}

/** The tables behind `projectColumnsFor`. */
export function projectTablesFor(viewer: string): string {
  return `projects p
  join namespaces n on n.id = p.namespace_id
  left join users o on o.id = n.owner_id
  ${memberTables(viewer)}`;
}

/** Columns of `ProjectRow`; `$1` is the viewer's id, or null for nobody. */
export const projectColumns = projectColumnsFor('$1');

/** The tables behind `projectColumns`. */
export const projectTables = projectTablesFor('$1');

const select = `select ${projectColumns} from ${projectTables} where not p.pending_delete and`;
const byId = `${select} p.id = $2`;
const byPath = `${select} lower(n.path) = lower($2) and lower(p.path) = lower($3)`;

/**
 * A project by id, or by `namespace/path` in which the case does not matter.
 *
 * @returns null when there is none, or it is being deleted. Rights are not checked here.
 */
export async function findProject(
  em: EntityManager,
  idOrPath: string,
  viewer: Pick<Viewer, 'id'> | null,
): Promise<ProjectRow | null> {
  const place = readProjectPlace(idOrPath);
  if (!place) return null;
  return sqlOne<ProjectRow>(em, place.by === 'id' ? byId : byPath, [viewer?.id ?? null, ...place.values]);
}

/** How a project was named, and the values of that name. Null for a text that names none. */
export type ProjectPlace = { by: 'id'; values: [number] } | { by: 'path'; values: [string, string] };

export function readProjectPlace(idOrPath: string): ProjectPlace | null {
  if (/^\d{1,9}$/.test(idOrPath)) return { by: 'id', values: [Number(idOrPath)] };
  const slash = idOrPath.indexOf('/');
  if (slash < 1 || idOrPath.includes('\0')) return null;
  return { by: 'path', values: [idOrPath.slice(0, slash), idOrPath.slice(slash + 1)] };
}
