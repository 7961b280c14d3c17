import type { EntityManager } from '@mikro-orm/postgresql';
import type { ProjectFacts } from '../policy/project.ts';
import { leastSnippetLevel } from '../policy/snippet.ts';
import { sqlOne } from '../sql.ts';
import type { ListQuery } from './list-query.ts';
import { summaryJson, type UserSummaryRow } from './user-summary.ts';
import type { Viewer } from './viewer.ts';

/** A snippet without its content. */
export interface SnippetRow {
  id: number;
  /** Null for a personal one. */
  project_id: number | null;
  author_id: number;
  title: string;
  file_name: string;
  visibility_level: number;
  created_at: Date;
  updated_at: Date;
  author: UserSummaryRow;
}

/** Whose eyes look, and where: at the snippets of a project, or at personal ones. */
export interface SnippetView {
  viewer: Pick<Viewer, 'id' | 'is_admin' | 'external'>;
  project: (Pick<ProjectFacts, 'viewer_level'> & { id: number }) | null;
}

const columns = `s.id, s.project_id, s.author_id, s.title, s.file_name, s.visibility_level, s.created_at, s.updated_at,
  ${summaryJson} as author`;
const tables = 'snippets s join users u on u.id = s.author_id';
/** Those of others from a level on, and one's own. */
const isShown = '(s.visibility_level >= $2 or s.author_id = $3)';
const isThere = `s.project_id is not distinct from $1::int and ${isShown} and s.id = $4`;

/** Snippets of a project that the viewer may see, newest first. */
export function listProjectSnippets(view: SnippetView & { project: object }): ListQuery {
  const condition = `s.project_id = $1 and ${isShown}`;
  return {
    columns,
    from: `${tables} where ${condition}`,
    order: 's.id desc',
    values: valuesOf(view),
    countFrom: `snippets s where ${condition}`,
  };
}

/** Personal snippets of a user, newest first. */
export function listOwnSnippets(userId: number): ListQuery {
  const condition = 's.author_id = $1 and s.project_id is null';
  return {
    columns,
    from: `${tables} where ${condition}`,
    order: 's.id desc',
    values: [userId],
    countFrom: `snippets s where ${condition}`,
  };
}

/** Null where there is none, and where the viewer may not see it. */
export async function findSnippet(
  em: EntityManager,
  view: SnippetView,
  id: number,
): Promise<SnippetRow | null> {
  return sqlOne<SnippetRow>(em, `select ${columns} from ${tables} where ${isThere}`, [...valuesOf(view), id]);
}

/** As `findSnippet`, with what stands in it. */
export async function readSnippet(
  em: EntityManager,
  view: SnippetView,
  id: number,
): Promise<{ file_name: string; content: string } | null> {
  return sqlOne(em, `select s.file_name, s.content from snippets s where ${isThere}`, [
    ...valuesOf(view),
    id,
  ]);
}

function valuesOf({ viewer, project }: SnippetView): unknown[] {
  const isMember = project !== null && project.viewer_level > 0;
  return [project?.id ?? null, leastSnippetLevel(viewer, isMember), viewer.id];
}
