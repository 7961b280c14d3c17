import type { EntityManager } from '@mikro-orm/postgresql';
import type { NoteParent } from './notes.ts';
import { type Found, type ProjectScope, run, type Statements, scope, statements } from './project-scope.ts';
import { type ViewerKey, viewerJson } from './viewer.ts';

/** What notes are about, as far as rights on it depend on itself. */
export interface NoteParentRow {
  id: number;
  author_id: number;
  /** Of snippets; of all else, that whoever reads the project may. */
  visibility_level: number;
}

const parents: Record<NoteParent['type'], string> = {
  Issue: 'select t.id, t.author_id, 20 as visibility_level from issues t where t.deleted_at is null',
  MergeRequest:
    'select t.id, t.author_id, 20 as visibility_level from merge_requests t where t.deleted_at is null',
  Snippet: 'select t.id, t.author_id, t.visibility_level from snippets t where true',
};

const withParent = {
  Issue: withParentOf('Issue'),
  MergeRequest: withParentOf('MergeRequest'),
  Snippet: withParentOf('Snippet'),
};

function withParentOf(type: NoteParent['type']): Statements {
  return statements(
    (place) => `select ${viewerJson} as viewer, row_to_json(s) as project, row_to_json(t) as parent
    from users v ${scope(place)} left join lateral (
      ${parents[type]} and t.project_id = s.id and t.id = $${place === 'id' ? 3 : 4}) t on true`,
  );
}

/** The viewer, the project and something in that project that notes are about, in one statement. */
export async function findNoteParentScope(
  em: EntityManager,
  key: ViewerKey,
  place: { project: string; type: NoteParent['type']; parentId: number | null },
): Promise<Found<{ project: ProjectScope | null; parent: NoteParentRow | null }>> {
  const search = { key, idOrPath: place.project, more: [place.parentId] };
  return run(em, withParent[place.type], search);
}
