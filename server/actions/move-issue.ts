import { badRequest, notFound } from '../errors.ts';
import { announceNoteable } from '../hooks/announce-noteable.ts';
import { tellPeople } from '../mail/happening.ts';
import { can } from '../policy/project.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import type { ProjectScope } from '../queries/project-scope.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sql, sqlOne } from '../sql.ts';
import { copyMentions, copyNotes, type NotesCopy } from './copy-notes.ts';
import { type HeldIssue, holdIssue } from './issue-changes.ts';
import { noteReferences } from './note-references.ts';
import { recordEvent } from './record-event.ts';
import { rewriteTexts } from './rewrite-texts.ts';

interface Request {
  viewer: Viewer;
  project: ProjectScope;
  issueId: number;
  toProjectId: number;
}

interface Move {
  userId: number;
  issue: HeldIssue;
  from: ProjectScope;
  to: ProjectRow;
}

/**
 * Goes on with an issue in another project, with all that was said of it, those who hear of it, and the labels and the
 * milestone of which the other project has the like. What texts name is named with its project there; links to
 * files lead to where the files are. The old issue is closed, and says where it went.
 *
 * @returns id of the new issue.
 * @throws AppError 404 for a project that the viewer does not see, or when the issue is gone; 400 when he may not move
 * it there, when it was moved before, and when it is in that project.
 */
export async function moveIssue(work: Work, request: Request): Promise<number> {
  const { viewer, project, issueId, toProjectId } = request;
  const to = await findProject(work.em, String(toProjectId), viewer);
  if (!to || !can(viewer, to, 'read_project')) throw notFound();
  const issue = await holdIssue(work, issueId);
  if (!issue) throw notFound();
  const mayMove = can(viewer, project, 'move_issue') && can(viewer, to, 'move_issue');
  if (!mayMove || issue.moved_to_id !== null) {
    throw badRequest('Cannot move issue due to insufficient permissions!');
  }
  if (to.id === project.id) throw badRequest('Cannot move issue to project it originates from!');
  const move = { userId: viewer.id, issue, from: project, to };
  const made = await copyIssue(work, move);
  await writeNotes(work, move, made);
  await openNew(work, move, made);
  await closeOld(work, move, made);
  await tellPeople(work, { kind: 'moved', type: 'Issue', id: issueId, newId: made.id, by: viewer.id });
  return made.id;
}

interface NewIssue {
  id: number;
  iid: number;
  title: string;
  description: string | null;
}

async function copyIssue(work: Work, { userId, issue, from, to }: Move): Promise<NewIssue> {
  const { em } = work;
  const { title } = issue;
  const [next] = await sql<{ id: number }>(em, `select nextval('issues_id_seq')::int as id`);
  if (!next) throw new Error('there is no next id');
  const origin = { id: from.id, fullPath: pathOf(from) };
  const copy: NotesCopy = { from: origin, toProjectId: to.id, issueId: issue.id, newIssueId: next.id };
  // All that takes time, before the projects are held: on them their other new issues wait.
  const [description = null] = await rewriteTexts(work, origin, issue.description ? [issue.description] : []);
  await copyNotes(work, copy);
  const held = await sql(em, holdProjects, [[from.id, to.id]]);
  if (held.length < 2) throw notFound();
  const made = await sqlOne<{ iid: number }>(em, insert, [issue.id, next.id, to.id, description, userId]);
  if (!made) throw notFound();
  await copyMentions(work, copy);
  await sql(em, copyLabels, [issue.id, next.id, to.id]);
  await sql(em, copySubscriptions, [issue.id, next.id]);
  return { id: next.id, iid: made.iid, title, description };
}

function pathOf({ namespace_path, path }: { namespace_path: string; path: string }): string {
  return `${namespace_path}/${path}`;
}

const holdProjects = `select 1 from projects where id = any($1::int[]) and not pending_delete
  order by id for no key update`;
const insert = `
  with numbered as (
    update projects set last_issue_iid = last_issue_iid + 1 where id = $3 returning id, last_issue_iid
  )
  insert into issues (id, project_id, iid, title, description, state, author_id, assignee_id, milestone_id,
    user_notes_count, updated_by_id, created_at)
  select $2, p.id, p.last_issue_iid, t.title, $4, t.state, t.author_id, t.assignee_id,
    (select other.id from milestones ms join milestones other on other.project_id = p.id and other.title = ms.title
      where ms.id = t.milestone_id),
    t.user_notes_count, $5, t.created_at
  from issues t cross join numbered p where t.id = $1
  returning iid`;
const copyLabels = `
  insert into issue_labels (issue_id, label_id)
  select $2, other.id from issue_labels tl join labels l on l.id = tl.label_id
    join labels other on other.project_id = $3 and other.title = l.title
  where tl.issue_id = $1 order by other.id`;
const copySubscriptions = `
  insert into subscriptions (user_id, issue_id, subscribed)
  select user_id, $2, subscribed from subscriptions where issue_id = $1 order by user_id`;

/**
 * Both issues say where the other one is, to those who may read it: the path of a project is told to nobody else. The
 * new one says so last of all that was said.
 */
async function writeNotes({ em }: Work, { userId, issue, from, to }: Move, made: NewIssue): Promise<void> {
  const bodies = [`Moved to ${pathOf(to)}#${made.iid}`, `Moved from ${pathOf(from)}#${issue.iid}`];
  await sql(em, insertNotes, [userId, from.id, issue.id, to.id, made.id, ...bodies]);
}

const insertNotes = `
  insert into notes (author_id, project_id, noteable_type, noteable_id, body, system, reference_type,
    reference_project_id, reference_id)
  values ($1, $2, 'Issue', $3, $6, true, 'Issue', $4, $5), ($1, $4, 'Issue', $5, $7, true, 'Issue', $2, $3)`;

async function openNew(work: Work, { userId, to }: Move, made: NewIssue): Promise<void> {
  const { id, title, description } = made;
  const source = { type: 'Issue', projectId: to.id, id } as const;
  // The old issue, named in its own text, has said where it went.
  await noteReferences(work, { authorId: userId, source, noteId: null, texts: [title, description] });
  const target = { targetType: 'Issue', targetId: id, targetTitle: title };
  await recordEvent(work, { projectId: to.id, authorId: userId, action: 'opened', ...target });
  await announceNoteable(work, { type: 'Issue', id, action: 'open', userId });
}

async function closeOld(work: Work, { userId, issue, from }: Move, made: NewIssue): Promise<void> {
  await sql(work.em, close, [issue.id, made.id, userId]);
  if (issue.state === 'closed') return;
  const target = { targetType: 'Issue', targetId: issue.id, targetTitle: issue.title };
  await recordEvent(work, { projectId: from.id, authorId: userId, action: 'closed', ...target });
  await announceNoteable(work, { type: 'Issue', id: issue.id, action: 'close', userId });
}

const close = `update issues set state = 'closed', moved_to_id = $2, updated_by_id = $3, updated_at = now()
  where id = $1`;
