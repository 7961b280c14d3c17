import type { BuildVariable } from '../../shared/protocol/build.ts';
import type { JobEnvironment, RunResult } from '../executor/executor.ts';
import { timeVariable } from './control-variables.ts';
import { inSection, type Job } from './job.ts';
import { BuildStopped, jobStatus, type Outcome } from './outcome.ts';
import { mainItems, scriptItems, shellProgram } from './script.ts';
import { TookTooLong, withinTime } from './time-limit.ts';

/**
 * Runs the commands of the job. A cancel while they ran is an outcome too, since the job may still tidy up.
 *
 * @throws the cause of any other stop.
 */
export async function runScript(job: Job, environment: JobEnvironment): Promise<Outcome> {
  const { variables, warn, signal, trace } = job;
  const script = shellProgram({ items: mainItems(job.build), variables, directory: environment.projectDir });
  const seconds = timeVariable({ variables, key: 'RUNNER_SCRIPT_TIMEOUT', warn });
  const milliseconds = (seconds ?? Number.POSITIVE_INFINITY) * 1000;
  const output = (chunk: Buffer) => trace.output(chunk);
  try {
    const result = await inSection(job, 'step_script', () =>
      withinTime({ milliseconds, signal }, (limited) =>
        environment.run({ kind: 'script', script, output, signal: limited }),
      ),
    );
    signal.throwIfAborted();
    return outcomeOf(result);
  } catch (error) {
    if (isCancel(signal.reason)) return signal.reason.outcome;
    signal.throwIfAborted();
    if (error instanceof TookTooLong && seconds !== undefined) return { kind: 'timed_out', seconds };
    throw error;
  }
}

function outcomeOf(result: RunResult): Outcome {
  return result.exitCode === 0 ? { kind: 'success' } : { kind: 'script_failed', ...result };
}

function isCancel(reason: unknown): reason is BuildStopped {
  return reason instanceof BuildStopped && reason.outcome.kind === 'canceled' && !reason.outcome.gone;
}

/** Runs in a shell of its own, within its own limit; how it ends changes nothing. */
export async function runAfterScript(job: Job, environment: JobEnvironment, outcome: Outcome): Promise<void> {
  const items = scriptItems(job.build.options.after_script ?? []);
  if (items.length === 0) return;
  const { variables, warn, request } = job;
  const signal = outcome.kind === 'canceled' ? job.lastSignal : job.signal;
  const script = shellProgram({
    items,
    variables: withStatus(variables, outcome),
    directory: environment.projectDir,
  });
  const seconds = timeVariable({ variables, key: 'RUNNER_AFTER_SCRIPT_TIMEOUT', warn });
  const milliseconds = seconds === undefined ? request.timing.afterScriptLimit : seconds * 1000;
  const output = (chunk: Buffer) => job.trace.output(chunk);
  await inSection(job, 'after_script', async () => {
    await job.notice('Running after_script…');
    try {
      const { exitCode } = await withinTime({ milliseconds, signal }, (limited) =>
        environment.run({ kind: 'after_script', script, output, signal: limited }),
      );
      if (exitCode !== 0) warn(`after_script failed with exit code ${exitCode}; the job's result stands`);
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof TookTooLong ? 'it took too long' : (error as Error).message;
      warn(`after_script was ended: ${reason}`);
    }
  });
}

function withStatus(variables: BuildVariable[], outcome: Outcome): BuildVariable[] {
  const status = { key: 'CI_JOB_STATUS', value: jobStatus(outcome), public: true };
  return [...variables.filter((variable) => variable.key !== status.key), status];
}
