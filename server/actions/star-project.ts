import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';

interface Mark {
  projectId: number;
  userId: number;
}

/** @returns false, with nothing changed, when the user had starred it before. */
export async function starProject({ em }: Work, { projectId, userId }: Mark): Promise<boolean> {
  const starred = await sqlOne(
    em,
    `with made as (
       insert into stars (project_id, user_id) values ($1, $2) on conflict do nothing returning project_id
     )
     update projects p set star_count = p.star_count + 1, updated_at = now() from made where p.id = made.project_id
     returning p.id`,
    [projectId, userId],
  );
  return starred !== null;
}

/** @returns false, with nothing changed, when the user had not starred it. */
export async function unstarProject({ em }: Work, { projectId, userId }: Mark): Promise<boolean> {
  const unstarred = await sqlOne(
    em,
    `with gone as (
       delete from stars where project_id = $1 and user_id = $2 returning project_id
     )
     update projects p set star_count = p.star_count - 1, updated_at = now() from gone where p.id = gone.project_id
     returning p.id`,
    [projectId, userId],
  );
  return unstarred !== null;
}

/** Takes back all that a user has starred, as his removal must: the projects show how many stars they have. */
export async function forgetStars({ em }: Work, userId: number): Promise<void> {
  await sqlOne(
    em,
    `with held as (
       select p.id from projects p join stars s on s.project_id = p.id where s.user_id = $1 order by p.id for update of p
     ), gone as (
       delete from stars where user_id = $1 and project_id in (select id from held) returning project_id
     )
     update projects p set star_count = p.star_count - 1 from gone where p.id = gone.project_id`,
    [userId],
  );
}
