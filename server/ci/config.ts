import type { ArtifactOptions, CacheOptions } from '../../shared/protocol/build.ts';

/** A fault of the file. `line` and `column` count from 1. `formatProblem` makes one line of text of it. */
export interface CiProblem {
  /** Stable name of the fault, such as `job.stage.unknown`. */
  kind: string;
  /** Keys that lead to the place, joined by colons; empty for the file as a whole. */
  path: string;
  message: string;
  line: number;
  column: number;
}

export type JobWhen = 'on_success' | 'on_failure' | 'always' | 'manual';

/** One item of `only` or `except`. Plain data, so that it can be stored with a plan. */
export interface RefPattern {
  /**
   * What stands before the first `@`: a ref name, a word such as `branches`, or the regular expression as
   * written.
   */
  text: string;
  regex: { source: string; ignoreCase: boolean } | null;
  /** The project path the item is limited to. */
  project: string | null;
}

export interface CiJob {
  name: string;
  stage: string;
  stageIndex: number;
  /** before_script, then script; items verbatim, nested lists flattened. */
  script: string[];
  afterScript: string[] | null;
  image: string | null;
  services: string[] | null;
  /** Without prototype; the global ones with those of the job on top. */
  variables: Record<string, string>;
  tags: string[];
  /** Null when every ref will do. */
  only: RefPattern[] | null;
  except: RefPattern[] | null;
  allowFailure: boolean;
  when: JobWhen;
  /** Null: artifacts of all earlier stages; empty: of none. */
  dependencies: string[] | null;
  artifacts: ArtifactOptions | null;
  /** An object without keys means: no cache, not even the global one. */
  cache: CacheOptions | null;
  environment: string | null;
  /** A regular expression without its slashes. */
  coverage: string | null;
}

/** A valid file: visible jobs in file order, stages as declared. */
export interface CiConfig {
  stages: string[];
  jobs: CiJob[];
  warnings: CiProblem[];
}

export type CiParseResult =
  | { config: CiConfig; warnings: CiProblem[] }
  | { errors: CiProblem[]; warnings: CiProblem[] };
