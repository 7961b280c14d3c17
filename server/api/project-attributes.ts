import { notFound } from '../errors.ts';
import { flag, integer, optional, text } from '../http/params.ts';
import { can } from '../policy/project.ts';
import { presentProject } from '../present/project.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';

/** What can be said of a project when it is made and when it is changed. */
export const projectAttributes = {
  path: optional(text({ max: 255 })),
  description: optional(text({ max: 2000 })),
  issues_enabled: optional(flag()),
  merge_requests_enabled: optional(flag()),
  builds_enabled: optional(flag()),
  wiki_enabled: optional(flag()),
  snippets_enabled: optional(flag()),
  public: optional(flag()),
  visibility_level: optional(integer()),
  public_builds: optional(flag()),
};

interface Given {
  path?: string | undefined;
  description?: string | undefined;
  issues_enabled?: boolean | undefined;
  merge_requests_enabled?: boolean | undefined;
  builds_enabled?: boolean | undefined;
  wiki_enabled?: boolean | undefined;
  snippets_enabled?: boolean | undefined;
  public?: boolean | undefined;
  visibility_level?: number | undefined;
  public_builds?: boolean | undefined;
}

/** The same in the words of the actions. */
export function changeOf(given: Given) {
  return {
    path: given.path,
    description: given.description,
    issuesEnabled: given.issues_enabled,
    mergeRequestsEnabled: given.merge_requests_enabled,
    buildsEnabled: given.builds_enabled,
    wikiEnabled: given.wiki_enabled,
    snippetsEnabled: given.snippets_enabled,
    isPublic: given.public,
    visibilityLevel: given.visibility_level,
    publicBuilds: given.public_builds,
  };
}

/** The project as it is after a change, with the token for its masters. */
export async function presentChanged(work: Work, viewer: Viewer, id: number) {
  const row = await requireProject(work, viewer, id);
  return { ...presentProject(row, addresses(work)), ...runnersToken(work, viewer, row) };
}

/** The project as others see it after a change. */
export async function presentPlainly(work: Work, viewer: Viewer, id: number) {
  return presentProject(await requireProject(work, viewer, id), addresses(work));
}

async function requireProject(work: Work, viewer: Viewer, id: number): Promise<ProjectRow> {
  const row = await findProject(work.em, String(id), viewer);
  if (!row) throw notFound('Project');
  return row;
}

/** For its masters alone. */
export function runnersToken(work: Work, viewer: Viewer, row: ProjectRow): { runners_token?: string } {
  return can(viewer, row, 'admin_project')
    ? { runners_token: work.secrets.open(row.runners_token_sealed) }
    : {};
}

/** Where clients reach its repository. */
export function addresses(work: Work) {
  return { origin: work.origin, sshPort: work.sshPort };
}
