import { type NoteableType, noteables } from '../queries/noteable.ts';
import { memberTables, viewerLevel } from '../queries/project-row.ts';
import { level } from './recipient.ts';

/*
 * Each statement has the parameters `$1` and `$2`, by which its topic is found, and `$3`, the user who did it. Those who
 * are told are found by selects of users with the levels at which they want to be.
 */

const atWatch = 'array[2]';
const atParticipating = 'array[1, 2]';
/** That he is told himself, as somebody who was named or asked for it: at all levels but the one without mail. */
const atMention = 'array[1, 2, 4]';

interface Topic {
  /** Select of `project_id`, `author_id` (null for none), `assignee_id`, and for snippets their `visibility_level`. */
  topic: string;
  /** Condition of a note `c` that was written about it. */
  notes: string;
  /** Column of subscriptions and mentions that names it, where they do. */
  column: string | null;
}

function noteable(type: NoteableType): Topic {
  const { table, column } = noteables[type];
  return {
    topic: `select project_id, author_id, assignee_id, null::int as visibility_level
      from ${table} where id = $1 and $2::text is null and deleted_at is null`,
    notes: `c.noteable_type = '${type}' and c.noteable_id = $1`,
    column,
  };
}

const snippet: Topic = {
  topic: `select project_id, author_id, null::int as assignee_id, visibility_level
    from snippets where id = $1 and $2::text is null`,
  notes: `c.noteable_type = 'Snippet' and c.noteable_id = $1`,
  column: null,
};

const commit: Topic = {
  topic: `select id as project_id, null::int as author_id, null::int as assignee_id, null::int as visibility_level
    from projects where id = $1 and $2::text is not null`,
  notes: 'c.project_id = $1 and c.commit_sha = $2',
  column: null,
};

const topics = {
  Issue: noteable('Issue'),
  MergeRequest: noteable('MergeRequest'),
  Snippet: snippet,
  Commit: commit,
};

function statement({ topic, column }: Topic, told: string[]): string {
  const refused = column
    ? `and not exists (select from subscriptions s where s.user_id = u.id and s.${column} = $1 and not s.subscribed)`
    : '';
  return `with topic as (${topic}), told (user_id, levels) as (${told.join('\n    union all ')})
    select distinct on (u.id) u.id, u.is_admin, u.external, p.visibility_level, p.archived, p.issues_enabled,
      p.merge_requests_enabled, p.snippets_enabled, p.builds_enabled, p.public_builds,
      ${viewerLevel('u.id')} as viewer_level, t.visibility_level as snippet_level, t.author_id = u.id as is_author
    from topic t join projects p on p.id = t.project_id and not p.pending_delete
      join namespaces n on n.id = p.namespace_id
      cross join told join users u on u.id = told.user_id and u.state = 'active' ${memberTables('u.id')}
    where ${level} = any(told.levels) ${refused} order by u.id`;
}

/** Members of the project and of its group, its owner, and who chose something for one of both. */
const watchers = `select m.user_id, ${atWatch} from topic t join projects p on p.id = t.project_id
  cross join lateral (
    select user_id from project_members where project_id = p.id
    union select user_id from group_members where group_id = p.namespace_id
    union select owner_id from namespaces where id = p.namespace_id
    union select user_id from notification_settings where project_id = p.id or group_id = p.namespace_id) m`;

/** Who takes part, who watches the project, and who asked to hear of it. */
function usual({ notes, column }: Topic): string[] {
  const parts = [
    `select author_id, ${atParticipating} from topic`,
    `select assignee_id, ${atParticipating} from topic`,
    `select c.author_id, ${atParticipating} from notes c where ${notes} and not c.system`,
    watchers,
  ];
  const named = column
    ? `select m.user_id, ${atParticipating} from mentions m where m.${column} = $1`
    : `select m.user_id, ${atParticipating} from notes c join mentions m on m.note_id = c.id where ${notes}`;
  const asked = `select s.user_id, ${atMention} from subscriptions s where s.${column} = $1 and s.subscribed`;
  return [...parts, named, ...(column ? [asked] : [])];
}

/** What only those who did not do it are told. */
function others(topic: Topic, told: string[]): string {
  return statement(
    topic,
    told.map((one) => `select * from (${one}) o (user_id, levels) where o.user_id <> $3`),
  );
}

/** `$4` is the comment. */
function ofNote(topic: Topic, more: string[] = []): string {
  const named = `select m.user_id, ${atMention} from mentions m where m.note_id = $4`;
  return others(topic, [...usual(topic), named, ...more]);
}

function ofNoteable(type: NoteableType) {
  const topic = topics[type];
  const { column, labels } = noteables[type];
  const subscribers = `select s.user_id, ${atMention} from subscriptions s where s.subscribed and s.label_id`;
  return {
    opened: others(topic, [
      ...usual(topic),
      `${subscribers} in (select label_id from ${labels} where ${column} = $1)`,
    ]),
    /** `$4` are the labels that were added. */
    labelled: others(topic, [`${subscribers} = any($4::int[])`]),
    /** `$4` is who had it before, or null. */
    reassigned: others(topic, [
      ...usual(topic),
      `select assignee_id, ${atMention} from topic`,
      `select $4::int, ${atMention}`,
    ]),
    note: ofNote(topic),
    other: others(topic, usual(topic)),
  };
}

/** Of a commit, `$5` are the addresses of those who made it. */
const addresses = '(select lower(a) from unnest($5::text[]) a)';
const makers = [
  `select id, ${atParticipating} from users where lower(email) in ${addresses}`,
  `select user_id, ${atParticipating} from emails where lower(email) in ${addresses}`,
];

/** By what is told, and of what. Their rows are people who want it; whether they may read it is another question. */
export const audiences = {
  Issue: ofNoteable('Issue'),
  MergeRequest: ofNoteable('MergeRequest'),
  Snippet: ofNote(snippet),
  Commit: ofNote(commit, makers),
};

function aloneOf(topic: Topic): string {
  return statement(topic, ['select $3::int, $4::int[]']);
}

/** As those above, of the user `$3` alone, where he is at one of the levels `$4`. */
export const alone = {
  Issue: aloneOf(topics.Issue),
  MergeRequest: aloneOf(topics.MergeRequest),
  Snippet: aloneOf(snippet),
  Commit: aloneOf(commit),
};
