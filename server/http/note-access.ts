import { notFound } from '../errors.ts';
import type { ProjectAbility } from '../policy/abilities.ts';
import { authorize, can } from '../policy/project.ts';
import { leastSnippetLevel } from '../policy/snippet.ts';
import { findNoteParentScope, type NoteParentRow } from '../queries/note-parent-scope.ts';
import type { NoteParent } from '../queries/notes.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import { type Access, projectAccess } from './access.ts';
import { readId } from './params.ts';

export interface NoteParentScope {
  viewer: Viewer;
  project: ProjectScope;
  /** There in every handler: the check of the right refuses requests without. */
  parent: NoteParentRow;
}

interface ParentAccess {
  type: NoteParent['type'];
  /** Parameter with its id. */
  idName: string;
  ability: ProjectAbility;
  /** What is said not to be there where the viewer may not read the parent. */
  hides: 'Note' | 'Notes';
}

const readAbilities = {
  Issue: 'read_issue',
  MergeRequest: 'read_merge_request',
  Snippet: 'read_snippet',
} as const;

/** As `onProject`, and something in it that notes are about: 404 without. */
export function onNoteParent({ type, idName, ability, hides }: ParentAccess): Access<NoteParentScope> {
  const access = projectAccess<NoteParentScope>(ability, async ({ work, raw }, key) => {
    const place = { project: String(raw.id), type, parentId: readId(raw[idName]) };
    return (await findNoteParentScope(work.em, key, place)) as NoteParentScope | null;
  });
  return {
    ...access,
    check({ viewer, project, parent }) {
      if (!parent) throw notFound();
      if (!reads({ viewer, project, parent }, type)) throw notFound(hides);
      authorize(viewer, project, ability);
    },
  };
}

function reads({ viewer, project, parent }: NoteParentScope, type: NoteParent['type']): boolean {
  if (!can(viewer, project, readAbilities[type])) return false;
  const least = leastSnippetLevel(viewer, project.viewer_level > 0);
  return parent.author_id === viewer.id || parent.visibility_level >= least;
}
