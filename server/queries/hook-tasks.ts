import type { NoteableType } from './noteable.ts';

/** A hook with so many messages waiting gets no more: nobody reads them at the other end. */
const mostWaiting = 1000;

/**
 * For how many messages a hook `h` has room; 0 or more. Its row is held besides, so that one that is being removed
 * gets no messages any more.
 */
export const room = `(${mostWaiting} - (select count(*) from (select from hook_deliveries d
  where d.hook_id = h.id and d.state = 'waiting' limit ${mostWaiting}) w))`;

/**
 * Part `dropped` of a statement whose part `heard` has `hook_id`, `event` and `has_room`, which is false where a message
 * to the hook is left out. The first one that is left out is put among the deliveries, until whoever sends the others has
 * told of it: the rest would fill the table, and a number at the hook would make all its senders wait for each other.
 */
export const noteDropped = `dropped as (
    insert into hook_deliveries (hook_id, event, state, error)
    select distinct on (hook_id) hook_id, event, 'dropped', '${mostWaiting} messages wait already: left out, maybe with others'
    from heard where not has_room and not exists (
      select from hook_deliveries d where d.hook_id = heard.hook_id and d.state = 'dropped')
  )`;

interface Telling {
  /** Name of a part of the statement before this one, with an `id` for each message. */
  source: string;
  /** Which hooks `h` hear of a row `s` of the source. */
  heard: string;
  /** What the messages are about, and the value of the header that names their kind. */
  subject: string;
  event: string;
}

/** Parts of a statement that put up messages to hooks, `told` at the end; they are written when they are sent. */
function tellHooks({ source, heard, subject, event }: Telling): string {
  return `heard as (
    select h.id as hook_id, ${event} as event, (${subject})::text as subject, ${room} > 0 as has_room
    from ${source} s join hooks h on ${heard} order by s.id, h.id for key share of h
  ), ${noteDropped}, told as (
    insert into hook_deliveries (hook_id, event, subject)
    select hook_id, event, subject from heard where has_room
    returning hook_id
  )`;
}

/** Those of the row's project, and those of the whole system, that asked for it. */
function askedFor(flag: string): string {
  return `(h.project_id = s.project_id or h.project_id is null) and h.${flag}`;
}

function headerOf(name: string): string {
  return `case when h.project_id is null then 'System Hook' else '${name} Hook' end`;
}

/** Expression that starts the sending of what the part `told` has put up; it has to be in the result. */
export const wakeHooks = `(select count((graphile_worker.add_job('deliver_hook',
  json_build_object('hookId', hook_id), queue_name := 'hook:' || hook_id)).id)
  from (select distinct hook_id from told order by hook_id) t)`;

/**
 * Parts, the last one `told`, of a statement that writes events of pushes. Costs no statement of its own.
 *
 * @param source name of a part before this one, with `id` and `project_id` of each new event.
 */
export function tellOfPushes(source: string, { isTag }: { isTag: boolean }): string {
  return tellHooks({
    source,
    heard: askedFor(isTag ? 'tag_push_events' : 'push_events'),
    subject: `json_build_object('kind', 'push', 'eventId', s.id)`,
    event: headerOf(isTag ? 'Tag Push' : 'Push'),
  });
}

/**
 * Parts, the last one `told`, of a statement that adds what users say. Costs no statement of its own.
 *
 * @param source name of a part before this one, with `id` and `project_id` of each new note.
 */
export function tellOfNotes(source: string): string {
  return tellHooks({
    source,
    heard: askedFor('note_events'),
    subject: `json_build_object('kind', 'note', 'noteId', s.id)`,
    event: headerOf('Note'),
  });
}

/**
 * Parts, the last one `told`, of a statement that brings builds into another state. Costs no statement of its own. What changes with
 * the state goes along.
 *
 * @param source name of a part before this one, with `id`, `project_id`, `status`, `started_at` and `finished_at`.
 */
export function tellOfBuilds(source: string): string {
  return tellHooks({
    source,
    heard: 'h.project_id = s.project_id and h.build_events',
    subject: `json_build_object('kind', 'build', 'buildId', s.id, 'status', s.status, 'startedAt', s.started_at,
      'finishedAt', s.finished_at)`,
    event: `'Build Hook'`,
  });
}

/**
 * Parts, the last one `told`, of a statement about an issue or merge request, told as it is now. `$2` is what was done
 * to it, `$3` the id of the user who did.
 *
 * @param source name of a part before this one, with all columns of the row.
 */
export function tellOfNoteable(source: string, type: NoteableType): string {
  const [flag, kind, name] =
    type === 'Issue'
      ? ['issues_events', 'issue', 'Issue']
      : ['merge_requests_events', 'merge_request', 'Merge Request'];
  return tellHooks({
    source,
    heard: askedFor(flag),
    subject: `json_build_object('kind', '${kind}', 'action', $2::text, 'userId', $3::int, 'row', to_jsonb(s))`,
    event: headerOf(name),
  });
}
