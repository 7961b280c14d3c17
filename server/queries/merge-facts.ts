import type { EntityManager } from '@mikro-orm/postgresql';
import { sqlOne } from '../sql.ts';
import type { MergeRequestRow } from './merge-request-row.ts';

const columns = [
  ...(['id', 'project_id', 'iid', 'source_project_id', 'source_branch', 'target_branch', 'title'] as const),
  ...([
    'description',
    'state',
    'author_id',
    'head_sha',
    'merge_when_build_succeeds',
    'merge_user_id',
  ] as const),
  ...(['merge_message', 'removes_source_branch'] as const),
];

/** What merging a merge request depends on. */
export type MergeFacts = Pick<MergeRequestRow, (typeof columns)[number]>;

const find = `select ${columns.join(', ')} from merge_requests where id = $1 and deleted_at is null`;

/** A merge request as it is now; null when it was taken away. */
export function mergeFacts(em: EntityManager, id: number): Promise<MergeFacts | null> {
  return sqlOne<MergeFacts>(em, find, [id]);
}

/** As `mergeFacts`, held until the transaction ends. */
export function holdMergeFacts(em: EntityManager, id: number): Promise<MergeFacts | null> {
  return sqlOne<MergeFacts>(em, `${find} for no key update`, [id]);
}

const newestPipeline = `
  select status from pipelines where project_id = $1 and sha = $2 and ref = $3 and not tag order by id desc limit 1`;

/** The state of the newest pipeline of a request's commits, as its source branch has them; null without one. */
export async function headPipelineStatus(em: EntityManager, row: MergeFacts): Promise<string | null> {
  const values = [row.source_project_id, row.head_sha, row.source_branch];
  return (await sqlOne<{ status: string }>(em, newestPipeline, values))?.status ?? null;
}

/** The same, and it stays like that until the transaction ends. */
export async function holdHeadPipelineStatus(em: EntityManager, row: MergeFacts): Promise<string | null> {
  const values = [row.source_project_id, row.head_sha, row.source_branch];
  return (await sqlOne<{ status: string }>(em, `${newestPipeline} for share`, values))?.status ?? null;
}

/** Whether a push that merges the request has been written down and not been settled. */
export async function isBeingMerged(
  em: EntityManager,
  { id, project_id }: { id: number; project_id: number },
): Promise<boolean> {
  return (await sqlOne(em, merging, [project_id, id])) !== null;
}

const merging = `select 1 from pushes where project_id = $1
  and changes @> jsonb_build_array(jsonb_build_object('merge', jsonb_build_object('id', $2::int))) limit 1`;
