import { isWorkInProgress } from '../policy/work-in-progress.ts';
import { presentTime, readJsonTime } from '../present/timestamp.ts';
import type { Work } from '../services.ts';
import { findHookProject, type HookProject, projectBlock } from './blocks.ts';
import { findCommitBlock } from './commit-block.ts';

/** What the rows of issues and merge requests have in common, in JSON of the database. */
interface NoteableColumns {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  description: string | null;
  author_id: number;
  assignee_id: number | null;
  milestone_id: number | null;
  updated_by_id: number | null;
  state: string;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

export interface IssueColumns extends NoteableColumns {
  moved_to_id: number | null;
}

export interface MergeRequestColumns extends NoteableColumns {
  source_project_id: number | null;
  source_branch: string;
  target_branch: string;
  merge_status: string;
  head_sha: string | null;
  merge_when_build_succeeds: boolean;
  merge_user_id: number | null;
  merge_message: string | null;
  removes_source_branch: boolean;
  merge_commit_sha: string | null;
}

/** With the keys that stand for what there is not: places by hand, branches of issues, secret issues, days. */
export function issueAttributes(row: IssueColumns): Record<string, unknown> {
  return {
    id: row.id,
    title: row.title,
    assignee_id: row.assignee_id,
    author_id: row.author_id,
    project_id: row.project_id,
    ...times(row),
    position: 0,
    branch_name: null,
    description: row.description,
    milestone_id: row.milestone_id,
    state: row.state,
    iid: row.iid,
    updated_by_id: row.updated_by_id,
    confidential: false,
    due_date: null,
    moved_to_id: row.moved_to_id,
  };
}

/** @param target the project that it goes to. */
export async function mergeRequestAttributes(
  work: Work,
  row: MergeRequestColumns,
  target: HookProject,
): Promise<Record<string, unknown>> {
  const source = await sourceOf(work, row, target);
  return {
    id: row.id,
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    source_project_id: row.source_project_id,
    target_project_id: row.project_id,
    author_id: row.author_id,
    assignee_id: row.assignee_id,
    title: row.title,
    ...times(row),
    milestone_id: row.milestone_id,
    state: row.state,
    merge_status: row.merge_status,
    iid: row.iid,
    description: row.description,
    position: 0,
    updated_by_id: row.updated_by_id,
    ...merging(row),
    source: source && projectBlock(work, source),
    target: projectBlock(work, target),
    // Kept there, whatever becomes of the source.
    last_commit: row.head_sha === null ? null : await findCommitBlock(work, target, row.head_sha),
    work_in_progress: isWorkInProgress(row.title),
  };
}

/** @returns null when it is gone. */
async function sourceOf(
  work: Work,
  { source_project_id: id }: MergeRequestColumns,
  target: HookProject,
): Promise<HookProject | null> {
  if (id === null || id === target.id) return id === null ? null : target;
  return findHookProject(work, id);
}

function merging(row: MergeRequestColumns): Record<string, unknown> {
  const { merge_when_build_succeeds, merge_user_id, merge_commit_sha } = row;
  const wishes = {
    commit_message: row.merge_message,
    should_remove_source_branch: row.removes_source_branch,
  };
  return {
    locked_at: null,
    merge_error: null,
    merge_params: merge_when_build_succeeds ? wishes : {},
    merge_when_build_succeeds,
    merge_user_id,
    merge_commit_sha,
  };
}

/** The database writes moments in JSON in another form than the interface. */
function times({ created_at, updated_at, deleted_at }: NoteableColumns): Record<string, unknown> {
  return {
    created_at: presentTime(readJsonTime(created_at)),
    updated_at: presentTime(readJsonTime(updated_at)),
    deleted_at: deleted_at === null ? null : presentTime(readJsonTime(deleted_at)),
  };
}
