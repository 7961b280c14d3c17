import type { CiConfig, CiJob } from '../../server/ci/config.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { formatProblem } from '../../server/ci/problems.ts';

/** The config of a file that has to be valid. */
export function configOf(text: string): CiConfig {
  const result = parseCiConfig(text);
  if ('errors' in result) throw new Error(result.errors.map(formatProblem).join('\n'));
  return result.config;
}

/** One job of a file that has to be valid. */
export function jobOf(text: string, name = 'job'): CiJob {
  const job = configOf(text).jobs.find((candidate) => candidate.name === name);
  if (!job) throw new Error(`no job ${name}`);
  return job;
}
