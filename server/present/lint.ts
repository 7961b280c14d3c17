import { z } from 'zod';
import { ArtifactOptions, CacheOptions } from '../../shared/protocol/build.ts';
import type { CiJob, CiParseResult, RefPattern } from '../ci/config.ts';
import { formatProblem } from '../ci/problems.ts';

const texts = z.array(z.string());

const LintedJobJson = z.strictObject({
  name: z.string(),
  stage: z.string(),
  when: z.enum(['on_success', 'on_failure', 'always', 'manual']),
  allow_failure: z.boolean(),
  script: texts.describe('before_script and script, one command per item'),
  after_script: texts.nullable(),
  image: z.string().nullable(),
  services: texts.nullable(),
  variables: z.record(z.string(), z.string()).describe('Those of the file with those of the job on top'),
  tags: texts,
  only: texts.nullable().describe('Null when every ref will do'),
  except: texts.nullable(),
  dependencies: texts.nullable().describe('Null: artifacts of all earlier stages'),
  artifacts: ArtifactOptions.nullable(),
  cache: CacheOptions.nullable(),
  environment: z.string().nullable(),
  coverage: z.string().nullable(),
});

/** What the check of a CI file answers. */
export const LintJson = z.strictObject({
  status: z.enum(['valid', 'invalid']),
  errors: texts.describe('As pushers see them, at most 20'),
  warnings: texts,
  stages: texts.nullable(),
  merged: z.array(LintedJobJson).nullable().describe('What becomes of every job; null for an invalid file'),
});

export function presentLint(result: CiParseResult): z.infer<typeof LintJson> {
  const config = 'config' in result ? result.config : null;
  return {
    status: config ? 'valid' : 'invalid',
    errors: 'errors' in result ? result.errors.map(formatProblem) : [],
    warnings: result.warnings.map(formatProblem),
    stages: config?.stages ?? null,
    merged: config?.jobs.map(presentJob) ?? null,
  };
}

function presentJob(job: CiJob): z.infer<typeof LintedJobJson> {
  const { allowFailure, afterScript, stageIndex: _, ...same } = job;
  return {
    ...same,
    allow_failure: allowFailure,
    after_script: afterScript,
    only: job.only?.map(presentPattern) ?? null,
    except: job.except?.map(presentPattern) ?? null,
  };
}

function presentPattern({ text, project }: RefPattern): string {
  return project === null ? text : `${text}@${project}`;
}
