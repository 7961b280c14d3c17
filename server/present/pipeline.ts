import { z } from 'zod';
import { buildStatuses } from '../../shared/build-status.ts';
import type { PipelineRow } from '../queries/pipelines.ts';
import { presentTime, presentTimeOrNull, Timestamp } from './timestamp.ts';
import { presentUserSummary, UserSummaryJson } from './user.ts';

export const PipelineJson = z.strictObject({
  id: z.number(),
  iid: z.number().nullable(),
  status: z.enum([...buildStatuses, 'skipped']),
  ref: z.string(),
  tag: z.boolean(),
  sha: z.string(),
  before_sha: z.string(),
  source: z.enum(['push', 'trigger', 'api', 'external']),
  yaml_errors: z.string().nullable(),
  yaml_warnings: z.string().nullable(),
  user: UserSummaryJson.nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  /** Seconds during which at least one build ran. */
  duration: z.number().nullable(),
  coverage: z.number().nullable(),
  /** `id` is what `builds/:build_id/play` takes, and what the build will have. */
  manual_jobs: z.array(z.strictObject({ id: z.number(), name: z.string(), stage: z.string() })),
});

export function presentPipeline(row: PipelineRow, origin: string): z.infer<typeof PipelineJson> {
  return {
    id: row.id,
    iid: row.iid,
    status: row.status,
    ref: row.ref,
    tag: row.tag,
    sha: row.sha,
    before_sha: row.before_sha,
    source: row.source,
    yaml_errors: row.yaml_errors,
    yaml_warnings: row.yaml_warnings,
    user: row.user && presentUserSummary(row.user, origin),
    created_at: presentTime(row.created_at),
    started_at: presentTimeOrNull(row.started_at),
    finished_at: presentTimeOrNull(row.finished_at),
    duration: row.spans.length > 0 ? Math.round(covered(row.spans)) : null,
    coverage: row.coverage,
    manual_jobs: row.manual_jobs,
  };
}

/** Length of what the spans cover together: times at which nothing ran do not count, and none counts twice. */
export function covered(spans: [number, number][]): number {
  let total = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
    total += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return total;
}
