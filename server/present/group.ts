import { z } from 'zod';
import type { GroupRow } from '../queries/group-row.ts';
import { ProjectJson } from './project.ts';

/** Interface: "Group", as lists have it and a little more. */
export const GroupJson = z.strictObject({
  id: z.number(),
  name: z.string(),
  path: z.string(),
  description: z.string(),
  visibility_level: z.number(),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
});

/** What lists of projects do not say, and owners, whom projects of groups have not. */
const shownElsewhere = {
  owner: true,
  permissions: true,
  runners_token: true,
  import_status: true,
  import_error: true,
} as const;

/** A group with those of its projects that the caller sees. */
export const GroupDetailJson = z.strictObject({
  ...GroupJson.shape,
  projects: z.array(ProjectJson.omit(shownElsewhere)),
});

export function presentGroup(group: GroupRow, origin: string): z.infer<typeof GroupJson> {
  return {
    id: group.id,
    name: group.name,
    path: group.path,
    description: group.description,
    visibility_level: group.visibility_level,
    avatar_url: group.avatar,
    web_url: `${origin}/groups/${group.path}`,
  };
}
