import { z } from 'zod';
import { buildStatuses } from '../../shared/build-status.ts';
import type { BuildRow } from '../queries/build-row.ts';
import { RunnerSummaryJson } from './runner.ts';
import { presentTime, presentTimeOrNull, Timestamp } from './timestamp.ts';
import { presentUserProfile, UserProfileJson } from './user.ts';

/** The first line of a message, cut where it gets too long for a list. */
function commitTitle(message: string): string {
  const line = message.trimStart().split('\n', 1)[0]?.trimEnd() ?? '';
  if (line === '') return '--no commit message';
  return line.length > 100 ? `${line.slice(0, 80)}…` : line;
}

const CommitJson = z.strictObject({
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  author_name: z.string(),
  author_email: z.string(),
  created_at: z.string(),
  message: z.string(),
});

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
      ? presentUserProfile({ ...build.user, created_at: new Date(build.user.created_at) }, origin)
      : null,
    commit: presentCommit(build),
    runner: build.runner,
  };
}

function presentCommit({ sha, commit }: BuildRow): z.infer<typeof CommitJson> | null {
  if (!commit) return null;
  return {
    id: sha,
    short_id: sha.slice(0, 8),
    title: commitTitle(commit.message),
    author_name: commit.authorName,
    author_email: commit.authorEmail,
    created_at: commit.committedAt,
    message: commit.message,
  };
}
