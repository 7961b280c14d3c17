import { deleteNote, updateNote } from '../actions/change-note.ts';
import { createNote } from '../actions/create-note.ts';
import { forbidden, notFound } from '../errors.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { type NoteParentScope, onNoteParent } from '../http/note-access.ts';
import { paginate } from '../http/paginate.ts';
import { optional, type Params, pathId, text, timestamp } from '../http/params.ts';
import type { ProjectAbility } from '../policy/abilities.ts';
import { canAdminNote } from '../policy/note.ts';
import { canSetTimes } from '../policy/project.ts';
import { NoteJson, presentNote } from '../present/note.ts';
import { findNoteOf, listNotes, type NoteParent, type NoteRow } from '../queries/notes.ts';
import type { Work } from '../services.ts';

interface Kind {
  type: NoteParent['type'];
  /** Of the path, in front of `notes`. */
  segment: string;
  idName: string;
  /** Who may read them. */
  reads: ProjectAbility;
  /** As in sentences. */
  word: string;
}

const kinds: Kind[] = [
  { type: 'Issue', segment: 'issues', idName: 'issue_id', reads: 'read_issue', word: 'an issue' },
  { type: 'Snippet', segment: 'snippets', idName: 'snippet_id', reads: 'read_snippet', word: 'a snippet' },
  {
    type: 'MergeRequest',
    segment: 'merge_requests',
    idName: 'merge_request_id',
    reads: 'read_merge_request',
    word: 'a merge request',
  },
];

/** What one kind of parent has of it. */
interface Place {
  kind: Kind;
  path: string;
  /** The parent's id, which is read with the right. */
  ids: Params;
}

function placeOf(kind: Kind): Place {
  const path = `/projects/:id/${kind.segment}/:${kind.idName}/notes`;
  return { kind, path, ids: { [kind.idName]: pathId() } };
}

function list({ kind, path, ids }: Place): Endpoint {
  return endpoint({
    method: 'GET',
    path,
    summary: `What was said of ${kind.word} and what was done to it, oldest first`,
    access: onNoteParent({ ...kind, ability: kind.reads, hides: 'Notes' }),
    params: ids,
    returns: NoteJson,
    list: true,
    async run({ viewer, parent, page, work }) {
      const query = listNotes({ type: kind.type, id: parent.id }, viewer.id);
      const notes = await paginate<NoteRow>(work.em, query, page);
      return notes.map((note) => presentNote(note, work.origin));
    },
  });
}

function get({ kind, path, ids }: Place): Endpoint {
  return endpoint({
    method: 'GET',
    path: `${path}/:note_id`,
    summary: `One note of ${kind.word}`,
    access: onNoteParent({ ...kind, ability: kind.reads, hides: 'Note' }),
    params: { ...ids, note_id: pathId() },
    returns: NoteJson,
    async run({ work, ...call }) {
      return presentNote(
        await requireNote(work, kind, { ...call, noteId: call.params.note_id }),
        work.origin,
      );
    },
  });
}

function create({ kind, path, ids }: Place): Endpoint {
  return endpoint({
    method: 'POST',
    path,
    summary: `Says something of ${kind.word}`,
    access: onNoteParent({ ...kind, ability: 'create_note', hides: 'Note' }),
    paramsFirst: true,
    params: { ...ids, body: text(), ...(kind.type === 'Issue' ? timeParams : noTimeParams) },
    returns: NoteJson,
    async run({ viewer, project, parent, params, work }) {
      const id = await createNote(work, {
        projectId: project.id,
        authorId: viewer.id,
        noteable: { type: kind.type, id: parent.id, sha: null },
        body: params.body,
        place: null,
        createdAt: canSetTimes(viewer, project) ? params.created_at : undefined,
      });
      const note = await requireNote(work, kind, { viewer, parent, noteId: id });
      return presentNote(note, work.origin);
    },
  });
}

const timeParams = { created_at: optional(timestamp()) };
const noTimeParams: Partial<typeof timeParams> = {};

function update({ kind, path, ids }: Place): Endpoint {
  return endpoint({
    method: 'PUT',
    path: `${path}/:note_id`,
    summary: `Gives a note of ${kind.word} another text`,
    access: onNoteParent({ ...kind, ability: kind.reads, hides: 'Note' }),
    params: { ...ids, note_id: pathId(), body: text() },
    returns: NoteJson,
    async run({ work, ...call }) {
      const { viewer, parent, params } = call;
      const asked = { ...call, noteId: params.note_id };
      const note = await requireOwnNote(work, kind, asked);
      const place = { type: kind.type, id: parent.id };
      await updateNote(work, { note, parent: place, userId: viewer.id, body: params.body });
      return presentNote(await requireNote(work, kind, asked), work.origin);
    },
  });
}

function remove({ kind, path, ids }: Place): Endpoint {
  return endpoint({
    method: 'DELETE',
    path: `${path}/:note_id`,
    summary: `Removes a note of ${kind.word}`,
    access: onNoteParent({ ...kind, ability: kind.reads, hides: 'Note' }),
    params: { ...ids, note_id: pathId() },
    returns: NoteJson,
    async run({ work, ...call }) {
      const note = await requireOwnNote(work, kind, { ...call, noteId: call.params.note_id });
      await deleteNote(work, { note, parent: { type: kind.type, id: call.parent.id } });
      return presentNote(note, work.origin);
    },
  });
}

export const endpoints: Endpoint[] = kinds
  .map(placeOf)
  .flatMap((place) => [list(place), get(place), create(place), update(place), remove(place)]);

type Asked = Pick<NoteParentScope, 'viewer' | 'parent'> & { noteId: number };

async function requireNote(work: Work, { type }: Kind, { viewer, parent, noteId }: Asked): Promise<NoteRow> {
  const note = await findNoteOf(work.em, { type, id: parent.id }, { noteId, viewerId: viewer.id });
  if (!note) throw notFound('Note');
  return note;
}

/** @throws AppError 403 for a note of somebody else, to those who may only read it. */
async function requireOwnNote(work: Work, kind: Kind, asked: Asked & NoteParentScope): Promise<NoteRow> {
  const note = await requireNote(work, kind, asked);
  if (!canAdminNote({ ...asked, note })) throw forbidden();
  return note;
}
