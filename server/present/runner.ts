import { z } from 'zod';
import type { RunnerRow } from '../queries/runner-row.ts';
import { presentTimeOrNull, Timestamp } from './timestamp.ts';

/** Interface: "Runner", summary. */
export const RunnerSummaryJson = z.strictObject({
  id: z.number(),
  description: z.string().nullable(),
  active: z.boolean(),
  is_shared: z.boolean(),
  name: z.string().nullable(),
});

export const RunnerProjectJson = z.strictObject({
  id: z.number(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
});

/** Interface: "Runner", detail. The token of a shared runner is the administrators' business. */
export const RunnerDetailJson = z.strictObject({
  ...RunnerSummaryJson.shape,
  architecture: z.string().nullable(),
  contacted_at: Timestamp.nullable(),
  platform: z.string().nullable(),
  projects: z.array(RunnerProjectJson),
  token: z.string().optional(),
  revision: z.string().nullable(),
  tag_list: z.array(z.string()),
  version: z.string().nullable(),
  run_untagged: z.boolean(),
});

export function presentRunner(runner: RunnerRow): z.infer<typeof RunnerSummaryJson> {
  return {
    id: runner.id,
    description: runner.description,
    active: runner.active,
    is_shared: runner.is_shared,
    name: runner.name,
  };
}

export interface RunnerDetailParts {
  projects: z.infer<typeof RunnerProjectJson>[];
  /** Null hides it. */
  token: string | null;
}

export function presentRunnerDetail(
  runner: RunnerRow,
  { projects, token }: RunnerDetailParts,
): z.infer<typeof RunnerDetailJson> {
  return {
    ...presentRunner(runner),
    architecture: runner.architecture,
    contacted_at: presentTimeOrNull(runner.contacted_at),
    platform: runner.platform,
    projects,
    ...(token === null ? {} : { token }),
    revision: runner.revision,
    tag_list: runner.tag_list,
    version: runner.version,
    run_untagged: runner.run_untagged,
  };
}
