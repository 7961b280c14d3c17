/**
 * Last part of a statement that lets hooks know of push events, in the order in which they were written. Costs no
 * statement of its own, and nothing where nobody wants to know.
 *
 * @param written name of a part before this one, with `id` and `project_id` of each new event.
 */
export function announcePushes(written: string): string {
  return `select (graphile_worker.add_job('announce_push', json_build_object('eventId', w.id),
      queue_name := 'pushes:' || w.project_id)).id
    from ${written} w where exists (select from hooks h
      where (h.project_id = w.project_id or h.project_id is null) and (h.push_events or h.tag_push_events))`;
}

/**
 * Expression that lets the hooks of a build's project know of its state, in the order of its states; null where no
 * hook wants to know. What changes with the state goes along: the message is written later.
 *
 * @param build row with the columns `id`, `project_id`, `status`, `started_at` and `finished_at`.
 */
export function announceBuild(build: string): string {
  return `case when exists (select from hooks h where h.project_id = ${build}.project_id and h.build_events)
    then (graphile_worker.add_job('announce_build', json_build_object('buildId', ${build}.id,
      'status', ${build}.status, 'startedAt', ${build}.started_at, 'finishedAt', ${build}.finished_at),
      queue_name := 'builds:' || ${build}.project_id)).id end`;
}
