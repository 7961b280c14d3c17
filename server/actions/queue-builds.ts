import { tellOfBuilds, wakeHooks } from '../queries/hook-tasks.ts';

/**
 * Parts of a statement that put builds into the queue and wake waiting runners at the commit.
 *
 * @param source name of a part before these, with `id`, `project_id`, `job_id` and `created_at` of each build.
 * @param channel parameter of the statement that holds the name of the channel, such as `$2`.
 */
export function queueBuilds(source: string, channel: string): string {
  return `waiting as (
    select m.id, m.project_id, t.id as tag_set_id, t.tags, m.created_at,
      'pending' as status, null::timestamptz as started_at, null::timestamptz as finished_at,
      p.builds_enabled and p.shared_runners_enabled and not p.pending_delete as shared
    from ${source} m join pipeline_jobs j on j.id = m.job_id join tag_sets t on t.tags = j.tags
      join projects p on p.id = m.project_id
  ), queued as (
    insert into pending_builds (build_id, project_id, tag_set_id, shared, created_at)
    select id, project_id, tag_set_id, shared, created_at from waiting
  ), ${tellOfBuilds('waiting')}
  select id, pg_notify(${channel}, json_build_object('build', id, 'project', project_id, 'tags', tags,
    'shared', shared)::text), ${wakeHooks} as woken from waiting order by id`;
}
