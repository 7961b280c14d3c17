import { z } from 'zod';
import { buildStatuses } from '../build-status.ts';

/** One variable of a build. Only public ones may reach service containers. */
export const BuildVariable = z.object({ key: z.string(), value: z.string(), public: z.boolean() });
export type BuildVariable = z.infer<typeof BuildVariable>;

export const ArtifactsFile = z.object({ filename: z.string(), size: z.number().int() });

/** `options.artifacts` of a build: paths are globs below the project directory. */
export const ArtifactOptions = z.object({
  name: z.string().optional(),
  untracked: z.boolean().optional(),
  paths: z.array(z.string()).optional(),
  when: z.enum(['on_success', 'on_failure', 'always']).optional(),
  expire_in: z.string().optional(),
});
export type ArtifactOptions = z.infer<typeof ArtifactOptions>;

export const CacheOptions = z.object({
  key: z.string().optional(),
  untracked: z.boolean().optional(),
  paths: z.array(z.string()).optional(),
});
export type CacheOptions = z.infer<typeof CacheOptions>;

/**
 * Options every runner of the 1.x line understands. `image` and `services` stay plain texts: such a runner
 * fails the job when they are objects. A key is present only when it is set.
 */
export const BuildOptions = z.object({
  image: z.string().optional(),
  services: z.array(z.string()).optional(),
  artifacts: ArtifactOptions.optional(),
  cache: CacheOptions.optional(),
  dependencies: z.array(z.string()).optional(),
  after_script: z.array(z.string()).optional(),
});
export type BuildOptions = z.infer<typeof BuildOptions>;

/** An earlier build whose artifacts this one may fetch. `token` opens that download while the build that got it is at work. */
export const DependencyBuild = z.object({
  id: z.number().int(),
  token: z.string(),
  name: z.string(),
  stage: z.string(),
  ref: z.string(),
  sha: z.string(),
  tag: z.boolean(),
  status: z.enum(buildStatuses),
  project_id: z.number().int(),
  project_name: z.string(),
  artifacts_file: ArtifactsFile.optional(),
});
export type DependencyBuild = z.infer<typeof DependencyBuild>;

/** What only Hearth's own runner reads; foreign runners skip it. */
export const BuildExtension = z.object({
  /** before_script and script as separate items, each to be run verbatim. */
  script: z.array(z.string()),
});
export type BuildExtension = z.infer<typeof BuildExtension>;

/**
 * The 201 answer of `POST builds/register`. Types are strict on purpose: runners of the 1.x line are written
 * in Go and drop a build whose payload has a number where a text is due, or the reverse.
 */
export const BuildPayload = z.object({
  id: z.number().int(),
  project_id: z.number().int(),
  project_name: z.string(),
  token: z.string(),
  status: z.enum(buildStatuses),
  name: z.string(),
  stage: z.string(),
  ref: z.string(),
  tag: z.boolean(),
  sha: z.string().length(40),
  before_sha: z.string().length(40),
  /** Clone URL with credentials. */
  repo_url: z.string(),
  /** before_script and script joined by newlines. */
  commands: z.string(),
  allow_git_fetch: z.boolean(),
  /** Seconds. */
  timeout: z.number().int(),
  options: BuildOptions,
  variables: z.array(BuildVariable),
  depends_on_builds: z.array(DependencyBuild),
  artifacts_file: ArtifactsFile.optional(),
  artifacts_expire_at: z.string().optional(),
  ext: BuildExtension.optional(),
});
export type BuildPayload = z.infer<typeof BuildPayload>;
