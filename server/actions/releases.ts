import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';

export interface ReleaseWish {
  projectId: number;
  tag: string;
  /** Markdown. */
  description: string;
}

/** @returns false, with nothing changed, when the tag has a release. */
export async function addRelease({ em }: Work, wish: ReleaseWish): Promise<boolean> {
  const { projectId, tag, description } = wish;
  const added = await sqlOne(
    em,
    `insert into releases (project_id, tag, description) values ($1, $2, $3)
     on conflict on constraint releases_project_id_tag_key do nothing returning id`,
    [projectId, tag, description],
  );
  return added !== null;
}

/** @returns false when the tag has no release. */
export async function changeRelease({ em }: Work, wish: ReleaseWish): Promise<boolean> {
  const { projectId, tag, description } = wish;
  const changed = await sqlOne(
    em,
    `update releases set description = $3, updated_at = now() where project_id = $1 and tag = $2 returning id`,
    [projectId, tag, description],
  );
  return changed !== null;
}

/** Adds the release of a tag, or takes the place of the one that is there. */
export async function setRelease({ em }: Work, wish: ReleaseWish): Promise<void> {
  const { projectId, tag, description } = wish;
  await sql(
    em,
    `insert into releases (project_id, tag, description) values ($1, $2, $3)
     on conflict on constraint releases_project_id_tag_key
     do update set description = excluded.description, updated_at = now()`,
    [projectId, tag, description],
  );
}

/** Takes the releases of tags that a push removed; one that was written since belongs to a tag made anew. */
export async function dropReleases(
  { em }: Work,
  { pushId, projectId, tags }: { pushId: number; projectId: number; tags: readonly string[] },
): Promise<void> {
  if (tags.length === 0) return;
  await sql(
    em,
    `delete from releases r using pushes s
     where s.id = $1 and r.project_id = $2 and r.tag = any($3) and r.created_at <= s.created_at`,
    [pushId, projectId, tags],
  );
}
