import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../sql.ts';
import type { MergeRequestState } from './merge-request-row.ts';

/** A merge request that a push is about, with what decides on what becomes of it. */
export interface FollowedRow {
  id: number;
  iid: number;
  /** Of the project that it goes to. */
  project_id: number;
  source_project_id: number | null;
  source_branch: string;
  target_branch: string;
  title: string;
  state: MergeRequestState;
  author_id: number;
  head_sha: string | null;
  base_sha: string | null;
}

export interface PushedBranches {
  pushId: number;
  projectId: number;
  /** In full. */
  refs: readonly string[];
  /** Those of them that the push made. */
  made: readonly string[];
  /** Ids of merge requests that the push merges, whatever else has become of them. */
  merged: readonly number[];
}

/**
 * Merge requests that a push is about and that have not been brought up to date with it yet: the open ones from and to
 * its branches, those that it merges, and the closed ones from branches that it made. Held until the transaction ends,
 * in the order of their ids.
 */
export function holdFollowed(em: EntityManager, pushed: PushedBranches): Promise<FollowedRow[]> {
  const { projectId, pushId, refs, made, merged } = pushed;
  return sql<FollowedRow>(em, hold, [projectId, pushId, refs, made, merged]);
}

// A ref whose event is written has been followed: the push had others that were not at their end yet.
const hold = `
  with fresh as materialized (
    select substr(ref, 12) as branch, ref = any($4) as is_made from unnest($3::text[]) as given(ref)
    where not exists (select from events e where e.push_id = $2 and e.ref = given.ref)
  ), found as materialized (
    select s.id from fresh f join merge_requests s on s.source_project_id = $1 and s.source_branch = f.branch
      and s.state in ('opened', 'reopened') and s.deleted_at is null
    union
    select s.id from fresh f join merge_requests s on s.project_id = $1 and s.target_branch = f.branch
      and s.state in ('opened', 'reopened') and s.deleted_at is null
    union
    select s.id from fresh f join merge_requests s on s.source_project_id = $1 and s.source_branch = f.branch
      and s.state = 'closed' and s.deleted_at is null where f.is_made
    union
    select unnest($5::int[])
  )
  select t.id, t.iid, t.project_id, t.source_project_id, t.source_branch, t.target_branch, t.title, t.state, t.author_id,
    t.head_sha, t.base_sha
  from merge_requests t join projects p on p.id = t.project_id and not p.pending_delete
  where t.id in (select id from found) and t.deleted_at is null and t.state <> 'merged'
  order by t.id for no key update of t`;
