import { commentOnCommit } from '../actions/comment-on-commit.ts';
import { onProject } from '../http/access.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { type Late, late, settle } from '../http/late-params.ts';
import { paginate } from '../http/paginate.ts';
import { integer, looseChoice, optional, pathText, text } from '../http/params.ts';
import { CommitCommentJson, presentCommitComment } from '../present/commit-comment.ts';
import { findNote, listCommitNotes, type NoteRow } from '../queries/notes.ts';
import { requireCommit } from './commit-lookup.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/*sha/comments',
  summary: 'What was said of a commit, oldest first',
  access: onProject('read_code'),
  params: { sha: pathText() },
  returns: CommitCommentJson,
  list: true,
  async run({ project, params, page, work }) {
    const { sha } = await requireCommit(work, project, params.sha);
    const notes = await paginate<NoteRow>(work.em, listCommitNotes(project.id, sha), page);
    return notes.map((note) => presentCommitComment(note, work.origin));
  },
});

/** A place that is none is as good as no place, so its faults are not told. */
const placeParams = {
  path: optional(late(text({ max: 4096 }))),
  line: optional(late(integer({ min: 1 }))),
  line_type: looseChoice(['new', 'old']),
};

const post = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/commits/*sha/comments',
  summary: 'Comments on a commit, or with its whole hash on a line that it added (`new`) or removed (`old`)',
  // Whoever reads code may say something about it.
  access: onProject('read_code'),
  paramsFirst: true,
  transaction: false,
  params: { sha: pathText(), note: text(), ...placeParams },
  returns: CommitCommentJson,
  async run({ viewer, project, params, work, signal }) {
    const commit = await requireCommit(work, project, params.sha);
    const wanted = params.sha.toLowerCase() === commit.sha ? readPlace(params) : null;
    const comment = { projectId: project.id, authorId: viewer.id, commit, body: params.note, wanted, signal };
    const note = await findNote(work.em, await commentOnCommit(work, comment));
    if (!note) throw new Error('the note is gone');
    return presentCommitComment(note, work.origin);
  },
});

/** Before the commits themselves: names of branches may have slashes. */
export const endpoints: Endpoint[] = [list, post];

interface GivenPlace {
  path: Late<string> | undefined;
  line: Late<number> | undefined;
  line_type: 'new' | 'old' | undefined;
}

/** @returns null unless all of it is given. */
function readPlace({ path: givenPath, line: givenLine, line_type: lineType }: GivenPlace) {
  const { path, line } = settle({ path: givenPath, line: givenLine }).values;
  return path === undefined || line === undefined || !lineType ? null : { path, line, lineType };
}
