import type { CiConfig, CiParseResult, CiProblem } from '../../server/ci/config.ts';
import { limits } from '../../server/ci/limits.ts';
import { jobsForRef } from '../../server/ci/only-except.ts';
import { formatProblem } from '../../server/ci/problems.ts';

/** What is wrong with the answer to a file; null for a config that can be used, or faults with a place in the file. */
export function faultOf(text: string, result: CiParseResult): string | null {
  const lines = text.split(/\r\n?|\n/).length;
  const problems = 'errors' in result ? [...result.errors, ...result.warnings] : result.warnings;
  const strange = problems.find((problem) => !isGood(problem, lines));
  if (strange) return `a strange problem ${JSON.stringify(strange)} in ${lines} lines`;
  if (result.warnings.length > limits.warnings) return 'too many warnings';
  if ('config' in result) return faultOfConfig(result.config);
  return result.errors.length > 0 && result.errors.length <= limits.errors ? null : 'no error, or too many';
}

function isGood(problem: CiProblem, lines: number): boolean {
  const { kind, message, line, column } = problem;
  const isPlaced = line >= 1 && line <= lines && column >= 1;
  return isPlaced && kind !== '' && message !== '' && /^[^\n]{1,900}$/.test(formatProblem(problem));
}

function faultOfConfig({ stages, jobs }: CiConfig): string | null {
  if (jobs.length === 0 || jobs.length > limits.jobs) return `${jobs.length} jobs`;
  if (new Set(jobs.map(({ name }) => name)).size < jobs.length) return 'a name given twice';
  if (jobs.some(({ stage, stageIndex }) => stages[stageIndex] !== stage)) return 'a stage that is none';
  if (JSON.stringify(jobs).length > 4 * limits.planSize) return 'an immense plan';
  for (const tag of [true, false]) {
    jobsForRef({ jobs }, { ref: 'v1', tag, trigger: false, projectPath: 'a/b' });
  }
  return null;
}
