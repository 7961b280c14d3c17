import { z } from 'zod';
import { buildStatuses } from '../../shared/build-status.ts';
import type { BuildRow } from '../queries/build-row.ts';
import { CommitJson, presentCommit } from './commit.ts';
import { RunnerSummaryJson } from './runner.ts';
import { presentTime, presentTimeOrNull, readJsonTime, Timestamp } from './timestamp.ts';
import { presentUserProfile, UserProfileJson } from './user.ts';

const shared = {
  id: z.number(),
  status: z.enum(buildStatuses),
  stage: z.string(),
  name: z.string(),
  ref: z.string(),
  tag: z.boolean(),
  coverage: z.number().nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  user: UserProfileJson.nullable(),
  commit: CommitJson.nullable(),
  runner: RunnerSummaryJson.nullable(),
};

/** Interface: "Build". */
export const BuildJson = z.strictObject({
  ...shared,
  artifacts_file: z.strictObject({ filename: z.string(), size: z.number() }).nullable(),
});

/** The answer of erase has `download_url` in place of `artifacts_file`. */
export const ErasedBuildJson = z.strictObject({ ...shared, download_url: z.null() });

export function presentBuild(build: BuildRow, origin: string): z.infer<typeof BuildJson> {
  return {
    ...presentShared(build, origin),
    artifacts_file:
      build.artifacts_filename === null
        ? null
        : { filename: build.artifacts_filename, size: build.artifacts_size ?? 0 },
  };
}

export function presentErasedBuild(build: BuildRow, origin: string): z.infer<typeof ErasedBuildJson> {
  return { ...presentShared(build, origin), download_url: null };
}

function presentShared(build: BuildRow, origin: string) {
  return {
    id: build.id,
    status: build.status,
    stage: build.stage,
    name: build.name,
    ref: build.ref,
    tag: build.tag,
    coverage: build.coverage,
    created_at: presentTime(build.created_at),
    started_at: presentTimeOrNull(build.started_at),
    finished_at: presentTimeOrNull(build.finished_at),
    user: build.user
      ? presentUserProfile({ ...build.user, created_at: readJsonTime(build.user.created_at) }, origin)
      : null,
    commit:
      build.commit &&
      presentCommit({ ...build.commit, sha: build.sha, committedDate: build.commit.committedAt }),
    runner: build.runner,
  };
}
