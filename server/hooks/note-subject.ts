import { findCommentedLine } from '../git/commented-line.ts';
import type { Commit } from '../git/commit.ts';
import { readKnownCommit } from '../git/read-commits.ts';
import { presentDiff } from '../present/diff.ts';
import { presentTime, readJsonTime } from '../present/timestamp.ts';
import type { NoteRow } from '../queries/notes.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import type { HookProject } from './blocks.ts';
import { commitBlock, orNull } from './commit-block.ts';
import {
  type IssueColumns,
  issueAttributes,
  type MergeRequestColumns,
  mergeRequestAttributes,
} from './noteable-attributes.ts';

/** What a message says of the thing that was commented on. */
export interface NoteSubject {
  /** One key, which names its kind. */
  block: Record<string, unknown>;
  /** Below the project. */
  path: string;
  /** What the commit did to the file of the line that is commented on. */
  diff: ReturnType<typeof presentDiff> | null;
}

/** @returns null when it is gone, or nobody's business but its author's. */
export async function findNoteSubject(
  work: Work,
  note: NoteRow,
  project: HookProject,
): Promise<NoteSubject | null> {
  if (note.commit_sha !== null) return findCommit(work, { note, project, sha: note.commit_sha });
  const text = rowTexts[note.noteable_type];
  const found = text && (await sqlOne<{ row: unknown }>(work.em, text, [note.noteable_id]));
  return found ? subjectOf(work, { type: note.noteable_type, row: found.row, project }) : null;
}

const rowTexts: Record<string, string> = {
  Issue: 'select to_jsonb(t) as row from issues t where id = $1 and deleted_at is null',
  MergeRequest: 'select to_jsonb(t) as row from merge_requests t where id = $1 and deleted_at is null',
  Snippet: 'select to_jsonb(t) as row from snippets t where id = $1 and visibility_level > 0',
};

interface Found {
  type: string;
  /** As the database writes it. */
  row: unknown;
  project: HookProject;
}

async function subjectOf(work: Work, { type, row, project }: Found): Promise<NoteSubject> {
  if (type === 'Issue') {
    const issue = row as IssueColumns;
    return { block: { issue: issueAttributes(issue) }, path: `issues/${issue.iid}`, diff: null };
  }
  if (type === 'MergeRequest') {
    const request = row as MergeRequestColumns;
    const block = { merge_request: await mergeRequestAttributes(work, request, project) };
    return { block, path: `merge_requests/${request.iid}`, diff: null };
  }
  const snippet = row as SnippetColumns;
  return { block: { snippet: snippetAttributes(snippet) }, path: `snippets/${snippet.id}`, diff: null };
}

interface SnippetColumns {
  id: number;
  title: string;
  content: string;
  author_id: number;
  project_id: number;
  created_at: string;
  updated_at: string;
  file_name: string;
  visibility_level: number;
}

function snippetAttributes(row: SnippetColumns): Record<string, unknown> {
  return {
    id: row.id,
    title: row.title,
    content: row.content,
    author_id: row.author_id,
    project_id: row.project_id,
    created_at: presentTime(readJsonTime(row.created_at)),
    updated_at: presentTime(readJsonTime(row.updated_at)),
    file_name: row.file_name,
    type: 'ProjectSnippet',
    visibility_level: row.visibility_level,
  };
}

interface OfCommit {
  note: NoteRow;
  project: HookProject;
  sha: string;
}

async function findCommit(work: Work, { note, project, sha }: OfCommit): Promise<NoteSubject | null> {
  const reading = readKnownCommit(work.objects, repositoryOf(work, project), sha);
  const commit = await orNull(work, { project: project.id, note: note.id }, reading);
  if (!commit) return null;
  const block = { commit: commitBlock(work, project, commit) };
  return { block, path: `commit/${sha}`, diff: await fileDiff(work, { note, project, commit }) };
}

async function fileDiff(
  work: Work,
  { note, project, commit }: { note: NoteRow; project: HookProject; commit: Commit },
) {
  const { path, line, line_type: lineType } = note;
  if (path === null || line === null || lineType === null) return null;
  const dir = repositoryOf(work, project);
  const found = await orNull(
    work,
    { project: project.id, note: note.id },
    findCommentedLine(work.objects, { dir, commit, path, line, lineType }),
  );
  return found && presentDiff(found.file);
}
