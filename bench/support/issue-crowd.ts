import type { BenchmarkSettings, Figure } from '../figure.ts';
import type { Client } from './client.ts';
import { comparePages, crowded } from './crowd.ts';
import { addIssues } from './issues.ts';
import { type World, withWorld } from './world.ts';

/** Issues of each project, and merge requests. */
const each = 200;
const sizes = { small: 10, large: 1000 };

export interface IssuePage {
  name: string;
  path(place: Place): string;
}

export interface Place {
  /** Path of a project in the middle, which everybody sees. */
  project: string;
  /** Id of the user who wrote all its issues, and no others. */
  author: number;
}

/** What the same lists cost among 200,000 issues of 1,000 projects and among 2,000 of ten, measured in turns. */
export function compareIssues({ scale }: BenchmarkSettings, pages: IssuePage[]): Promise<Figure[]> {
  const large = Math.max(sizes.small, Math.round(sizes.large * scale));
  return withWorld((small) =>
    withWorld(async (other) => {
      const few = await filled(small, sizes.small);
      const many = await filled(other, large);
      const compared = pages.map(({ name, path }) => ({
        name: `${name}, of ${large * each} beside ${sizes.small * each}`,
        ours: path(many.place),
        limit: path(few.place),
      }));
      return comparePages({ many: many.client, few: few.client, scale }, compared);
    }),
  );
}

async function filled(world: World, projects: number): Promise<{ client: Client; place: Place }> {
  const client = await crowded(world, { projects, users: projects });
  const { db } = world;
  // One author for each.
  await db.query(`update projects set creator_id = u.id from users u
    where u.username = 'user-' || substring(projects.path from 'project-(.*)') and projects.path like 'project-%'`);
  const text = `select id, creator_id, visibility_level = 20 as "isOpen" from projects
    where path like 'project-%' order by id`;
  const { rows } = await db.query<{ id: number; creator_id: number; isOpen: boolean }>(text);
  await addIssues(world, { projectIds: rows.map(({ id }) => id), each });
  const middle = rows.slice(Math.floor(rows.length / 2)).find(({ isOpen }) => isOpen);
  if (!middle) throw new Error('there are no projects');
  return { client, place: { project: `/api/v3/projects/${middle.id}`, author: middle.creator_id } };
}
