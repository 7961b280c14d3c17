import { z } from 'zod';
import type { EventNote, ProjectEventRow } from '../queries/project-events.ts';
import { presentTime, readJsonTime, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

const PushDataJson = z.strictObject({
  before: z.string(),
  after: z.string(),
  ref: z.string(),
  user_id: z.number().nullable(),
  user_name: z.string().nullable(),
  repository: z.strictObject({
    name: z.string(),
    url: z.string(),
    description: z.string().nullable(),
    homepage: z.string(),
  }),
  commits: z.array(
    z.strictObject({
      id: z.string(),
      message: z.string(),
      timestamp: z.string(),
      url: z.string(),
      author: z.strictObject({ name: z.string(), email: z.string() }),
    }),
  ),
  total_commits_count: z.number(),
});

const EventNoteJson = z.strictObject({
  id: z.number(),
  body: z.string(),
  attachment: z.null(),
  author: UserSummaryJson,
  created_at: Timestamp,
  system: z.boolean(),
  upvote: z.literal(false),
  downvote: z.literal(false),
  /** Null for a commit. */
  noteable_id: z.number().nullable(),
  noteable_type: z.string(),
});

/** Interface: "Project event". Pushes have data, comments a note. */
export const ProjectEventJson = z.strictObject({
  title: z.null(),
  project_id: z.number(),
  action_name: z.string(),
  target_id: z.number().nullable(),
  target_type: z.string().nullable(),
  author_id: z.number().nullable(),
  author: UserSummaryJson.nullable(),
  author_username: z.string().nullable(),
  target_title: z.string().nullable(),
  data: PushDataJson.nullable(),
  created_at: Timestamp,
  note: EventNoteJson.optional(),
});

export function presentProjectEvent(row: ProjectEventRow, origin: string): z.infer<typeof ProjectEventJson> {
  return {
    title: null,
    project_id: row.project_id,
    action_name: row.action,
    target_id: row.target_id,
    target_type: row.target_type,
    author_id: row.author_id,
    author: row.author && presentUserSummary(row.author, origin),
    author_username: row.author?.username ?? null,
    target_title: row.target_title,
    data: row.data as z.infer<typeof PushDataJson> | null,
    created_at: presentTime(row.created_at),
    ...(row.note ? { note: presentNote(row.note, origin) } : {}),
  };
}

/** Votes are not told of as events. */
function presentNote(note: EventNote, origin: string): z.infer<typeof EventNoteJson> {
  return {
    id: note.id,
    body: note.body,
    attachment: null,
    author: presentUserSummary(note.author, origin),
    created_at: presentTime(readJsonTime(note.created_at)),
    system: note.system,
    upvote: false,
    downvote: false,
    noteable_id: note.noteable_id,
    noteable_type: note.noteable_type,
  };
}
