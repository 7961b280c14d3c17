import type { EntityManager } from '@mikro-orm/postgresql';
import type { ProjectFacts } from '../policy/project.ts';
import { sqlOne } from '../sql.ts';
import { type BuildRow, buildColumns, buildTables } from './build-row.ts';
import { type IssueRow, issueColumns, issueTables } from './issue-row.ts';
import { type MergeRequestRow, mergeRequestColumns, mergeRequestTables } from './merge-request-row.ts';
import {
  memberTables,
  type ProjectRow,
  projectColumnsFor,
  projectTablesFor,
  readProjectPlace,
  viewerLevel,
} from './project-row.ts';
import { type Viewer, type ViewerKey, viewerBy, viewerJson } from './viewer.ts';

/** What rights and actions on the things of a project ask of it; answers that show a project need a `ProjectRow`. */
export interface ProjectScope extends ProjectFacts {
  id: number;
  name: string;
  path: string;
  default_branch: string | null;
  shared_runners_enabled: boolean;
  namespace_id: number;
  namespace_path: string;
  /** Null for a group. */
  namespace_owner_id: number | null;
}

/** Null where there is no such viewer; the parts are null where the project, or the thing in it, is not there. */
export type Found<T> = ({ viewer: Viewer } & T) | null;

const places = {
  id: 'p.id = $2',
  path: 'lower(n.path) = lower($2) and lower(p.path) = lower($3)',
};
/** `id`: `$2` names the project; `path`: `$2` and `$3` do. */
export type Place = keyof typeof places;

const wholeColumns = projectColumnsFor('v.id');
const wholeTables = projectTablesFor('v.id');
const scopeColumns = `p.id, p.name, p.path, p.default_branch, p.visibility_level, p.archived, p.issues_enabled,
  p.merge_requests_enabled, p.snippets_enabled, p.builds_enabled, p.public_builds, p.shared_runners_enabled,
  n.id as namespace_id, n.path as namespace_path, n.owner_id as namespace_owner_id,
  ${viewerLevel('v.id')} as viewer_level`;

/** Part of a statement for the viewer `v` that joins the project as `s`, whose columns are those of `ProjectScope`. */
export function scope(place: Place): string {
  return `left join lateral (select ${scopeColumns}
    from projects p join namespaces n on n.id = p.namespace_id ${memberTables('v.id')}
    where not p.pending_delete and ${places[place]}) s on true`;
}

/** The statements, each text made once. */
const whole = statements(
  (place) => `select ${viewerJson} as viewer, w.* from users v
  left join lateral (select ${wholeColumns} from ${wholeTables}
    where not p.pending_delete and ${places[place]}) w on true`,
);
const scoped = statements(
  (place) => `select ${viewerJson} as viewer, row_to_json(s) as project from users v ${scope(place)}`,
);
const withBuild = statements(
  (place) => `select ${viewerJson} as viewer, row_to_json(s) as project, t.* from users v ${scope(place)}
  left join lateral (select ${buildColumns} from ${buildTables}
    where b.project_id = s.id and b.id = $${place === 'id' ? 3 : 4}) t on true`,
);
const withIssue = statements(
  (place) => `select ${viewerJson} as viewer, row_to_json(s) as project, i.* from users v ${scope(place)}
  left join lateral (select ${issueColumns('v.id')} from ${issueTables}
    where t.project_id = s.id and t.id = $${place === 'id' ? 3 : 4} and t.deleted_at is null) i on true`,
);
const withMergeRequest = statements(
  (place) => `select ${viewerJson} as viewer, row_to_json(s) as project, m.* from users v ${scope(place)}
  left join lateral (select ${mergeRequestColumns('v.id')} from ${mergeRequestTables}
    where t.project_id = s.id and t.id = $${place === 'id' ? 3 : 4} and t.deleted_at is null) m on true`,
);

export type Statements = Record<Place, Record<ViewerKey['by'], string>>;

/** A statement about a project for each way of naming that and the viewer `v`. */
export function statements(text: (place: Place) => string): Statements {
  const each = (place: Place) => ({
    token: `${text(place)} where ${viewerBy.token}`,
    accessToken: `${text(place)} where ${viewerBy.accessToken}`,
    id: `${text(place)} where ${viewerBy.id}`,
  });
  return { id: each('id'), path: each('path') };
}

/** The viewer and the project with all that answers show of it, in one statement. */
export async function findWholeProject(
  em: EntityManager,
  key: ViewerKey,
  idOrPath: string,
): Promise<Found<{ project: ProjectRow | null }>> {
  const row = await run<ProjectRow>(em, whole, { key, idOrPath });
  return row && { viewer: row.viewer, project: row.id === null ? null : row };
}

/** The viewer and the project, in one statement. */
export async function findProjectScope(
  em: EntityManager,
  key: ViewerKey,
  idOrPath: string,
): Promise<Found<{ project: ProjectScope | null }>> {
  return run<{ project: ProjectScope | null }>(em, scoped, { key, idOrPath });
}

/** The viewer, the project and a build of that project, in one statement. */
export async function findBuildScope(
  em: EntityManager,
  key: ViewerKey,
  place: { project: string; buildId: number | null },
): Promise<Found<{ project: ProjectScope | null; build: BuildRow | null }>> {
  const row = await run<BuildRow & { project: ProjectScope | null }>(em, withBuild, {
    key,
    idOrPath: place.project,
    more: [place.buildId],
  });
  return row && { viewer: row.viewer, project: row.project, build: row.id === null ? null : row };
}

/** The viewer, the project and an issue of that project, in one statement. */
export async function findIssueScope(
  em: EntityManager,
  key: ViewerKey,
  place: { project: string; issueId: number | null },
): Promise<Found<{ project: ProjectScope | null; issue: IssueRow | null }>> {
  const row = await run<IssueRow & { project: ProjectScope | null }>(em, withIssue, {
    key,
    idOrPath: place.project,
    more: [place.issueId],
  });
  return row && { viewer: row.viewer, project: row.project, issue: row.id === null ? null : row };
}

/** The viewer, the project and a merge request into that project, in one statement. */
export async function findMergeRequestScope(
  em: EntityManager,
  key: ViewerKey,
  place: { project: string; mergeRequestId: number | null },
): Promise<Found<{ project: ProjectScope | null; mergeRequest: MergeRequestRow | null }>> {
  const row = await run<MergeRequestRow & { project: ProjectScope | null }>(em, withMergeRequest, {
    key,
    idOrPath: place.project,
    more: [place.mergeRequestId],
  });
  return row && { viewer: row.viewer, project: row.project, mergeRequest: row.id === null ? null : row };
}

interface Search {
  key: ViewerKey;
  idOrPath: string;
  /** Further parameters. */
  more?: unknown[];
}

/** No project has the id 0, which stands for a text that names none. */
const nowhere = { by: 'id', values: [0] } as const;

/** Runs the one of the statements that fits the names. */
export async function run<T>(
  em: EntityManager,
  texts: Statements,
  { key, idOrPath, more = [] }: Search,
): Promise<({ viewer: Viewer } & T) | null> {
  const place = readProjectPlace(idOrPath) ?? nowhere;
  return sqlOne(em, texts[place.by][key.by], [key.value, ...place.values, ...more]);
}
