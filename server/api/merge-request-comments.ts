import { createNote } from '../actions/create-note.ts';
import { notFound } from '../errors.ts';
import { onMergeRequest } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { paginate } from '../http/paginate.ts';
import { pathId, text } from '../http/params.ts';
import { MergeRequestCommentJson, presentMergeRequestComment } from '../present/merge-request-comment.ts';
import { findNote, listComments, type NoteRow } from '../queries/notes.ts';
import { onBothPaths } from './merge-request-paths.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_id/comments',
  summary: 'What people said of a merge request, oldest first',
  access: onMergeRequest('read_merge_request'),
  params: { merge_request_id: pathId() },
  returns: MergeRequestCommentJson,
  list: true,
  async run({ mergeRequest, page, work }) {
    const comments = listComments({ type: 'MergeRequest', id: mergeRequest.id });
    const notes = await paginate<NoteRow>(work.em, comments, page);
    return notes.map((note) => presentMergeRequestComment(note, work.origin));
  },
});

const post = endpoint({
  method: 'POST',
  path: '/projects/:id/merge_requests/:merge_request_id/comments',
  summary: 'Says something of a merge request',
  access: onMergeRequest('create_note'),
  paramsFirst: true,
  params: { merge_request_id: pathId(), note: text() },
  returns: MergeRequestCommentJson,
  async run({ viewer, project, mergeRequest, params, work }) {
    const id = await createNote(work, {
      projectId: project.id,
      authorId: viewer.id,
      noteable: { type: 'MergeRequest', id: mergeRequest.id, sha: null },
      body: params.note,
      place: null,
    });
    const note = await findNote(work.em, id);
    if (!note) throw notFound('Note');
    return presentMergeRequestComment(note, work.origin);
  },
});

export const endpoints: Endpoint[] = [...onBothPaths(list), ...onBothPaths(post)];
