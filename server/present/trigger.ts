import { z } from 'zod';
import type { TriggeredPipelineRow, TriggerRow } from '../queries/triggers.ts';
import { presentTime, presentTimeOrNull, Timestamp } from './timestamp.ts';

/** Interface: "Build trigger". */
export const TriggerJson = z.strictObject({
  token: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  deleted_at: Timestamp.nullable(),
  last_used: Timestamp.nullable(),
});

export function presentTrigger(row: TriggerRow, token: string): z.infer<typeof TriggerJson> {
  return {
    token,
    created_at: presentTime(row.created_at),
    updated_at: presentTime(row.updated_at),
    deleted_at: presentTimeOrNull(row.deleted_at),
    last_used: presentTimeOrNull(row.last_used),
  };
}

/** What starting a pipeline by a trigger answers. */
export const TriggeredJson = z.strictObject({
  id: z.number(),
  variables: z.record(z.string(), z.string()).nullable(),
});

/** The same with the commit, at the older address. */
export const TriggeredCommitJson = z.strictObject({
  ...TriggeredJson.shape,
  commit: z.strictObject({
    id: z.number(),
    sha: z.string(),
    project_id: z.number(),
    created_at: Timestamp,
    status: z.string(),
    finished_at: Timestamp.nullable(),
    duration: z.null(),
    git_commit_message: z.string().nullable(),
    git_author_name: z.string().nullable(),
    git_author_email: z.string().nullable(),
  }),
});

export interface TriggeredParts {
  variables: Record<string, string> | null;
  pipeline: TriggeredPipelineRow;
}

export function presentTriggeredCommit(parts: TriggeredParts): z.infer<typeof TriggeredCommitJson> {
  const { pipeline } = parts;
  return {
    id: pipeline.id,
    variables: parts.variables,
    commit: {
      id: pipeline.id,
      sha: pipeline.sha,
      project_id: pipeline.project_id,
      created_at: presentTime(pipeline.created_at),
      status: pipeline.status,
      finished_at: presentTimeOrNull(pipeline.finished_at),
      duration: null,
      git_commit_message: pipeline.commit?.message ?? null,
      git_author_name: pipeline.commit?.authorName ?? null,
      git_author_email: pipeline.commit?.authorEmail ?? null,
    },
  };
}
