import { accessLevels, visibilityWord } from '../../shared/access-level.ts';
import { presentTime } from '../present/timestamp.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

/** What a message to the system hooks says beside the name of the event. */
export type Happening = { created_at: string; updated_at: string } & Record<string, unknown>;

interface Times {
  created_at: Date;
  updated_at: Date;
}

/** Without anybody to tell, the first statement finds nothing, and there is no second one. */
const heard = 'exists (select from hooks where project_id is null)';

/** @param text asks for `heard` among its conditions. */
async function find<Extra = object>(
  work: Work,
  text: string,
  values: unknown[],
): Promise<(Happening & Extra)[]> {
  const rows = await sql<Extra & Times>(work.em, text, values);
  return rows.map((row) => ({
    ...row,
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
  }));
}

/** Of those projects that are there, by id. */
export async function projectBodies(
  work: Work,
  projectIds: number[],
): Promise<(Happening & { project_id: number })[]> {
  const found = await find<{ project_id: number; project_visibility: number }>(
    work,
    `select p.created_at, p.updated_at, p.name, p.path, n.path || '/' || p.path as path_with_namespace,
       p.id as project_id, coalesce(o.name, n.name) as owner_name, coalesce(o.email, '') as owner_email,
       p.visibility_level as project_visibility
     from projects p join namespaces n on n.id = p.namespace_id left join users o on o.id = n.owner_id
     where p.id = any($1) and ${heard} order by p.id`,
    [projectIds],
  );
  return found.map((body) => ({ ...body, project_visibility: visibilityWord(body.project_visibility) }));
}

export function userBodies(work: Work, userId: number): Promise<Happening[]> {
  const text = `select created_at, updated_at, name, email, id as user_id, username
     from users where users.id = $1 and ${heard}`;
  return find(work, text, [userId]);
}

const userColumns =
  'u.username as user_username, u.name as user_name, u.email as user_email, u.id as user_id';

/** A member may have been written by somebody else's statement, or be gone already. */
export async function teamBodies(
  work: Work,
  { projectId, userId, accessLevel }: { projectId: number; userId: number; accessLevel: number },
): Promise<Happening[]> {
  const found = await find<{ project_visibility: number }>(
    work,
    `select coalesce(m.created_at, now()) as created_at, coalesce(m.created_at, now()) as updated_at,
       p.name as project_name, p.path as project_path, n.path || '/' || p.path as project_path_with_namespace,
       p.id as project_id, ${userColumns}, p.visibility_level as project_visibility
     from projects p join namespaces n on n.id = p.namespace_id cross join users u
       left join project_members m on m.project_id = p.id and m.user_id = u.id
     where p.id = $1 and u.id = $2 and ${heard}`,
    [projectId, userId],
  );
  const access = levelWord(accessLevel);
  return found.map(({ project_visibility, ...rest }) => ({
    ...rest,
    access_level: access,
    project_access: access,
    project_visibility: visibilityWord(project_visibility),
  }));
}

export function groupBodies(work: Work, groupId: number): Promise<Happening[]> {
  const text = `select created_at, updated_at, name, path, id as group_id, null as owner_name, null as owner_email
     from namespaces where namespaces.id = $1 and ${heard}`;
  return find(work, text, [groupId]);
}

export async function memberBodies(
  work: Work,
  { groupId, userId, accessLevel }: { groupId: number; userId: number; accessLevel: number },
): Promise<Happening[]> {
  const found = await find(
    work,
    `select coalesce(m.created_at, now()) as created_at, coalesce(m.created_at, now()) as updated_at,
       n.name as group_name, n.path as group_path, n.id as group_id, ${userColumns}
     from namespaces n cross join users u left join group_members m on m.group_id = n.id and m.user_id = u.id
     where n.id = $1 and u.id = $2 and ${heard}`,
    [groupId, userId],
  );
  return found.map((body) => ({ ...body, group_access: levelWord(accessLevel) }));
}

/** By id. A deploy key has no user, and none is named. */
export async function keyBodies(work: Work, keyIds: number[]): Promise<Happening[]> {
  const found = await find<{ username: string | null }>(
    work,
    `select k.created_at, k.updated_at, u.username, k.key, k.id
     from keys k left join users u on u.id = k.user_id
     where k.id = any($1) and ${heard} order by k.id`,
    [keyIds],
  );
  return found.map(({ username, ...rest }) => (username === null ? rest : { ...rest, username }));
}

function levelWord(level: number): string {
  const word = Object.entries(accessLevels).find(([, value]) => value === level)?.[0] ?? '';
  return word.charAt(0).toUpperCase() + word.slice(1);
}
