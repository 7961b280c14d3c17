import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffDelay } from '../../shared/retry.ts';
import { tokenForms, valueForms } from '../../shared/secret-forms.ts';
import type { JobEnvironment } from '../executor/executor.ts';
import { restoreCacheStep, saveCacheStep } from './cache-steps.ts';
import { splitCredentials } from './git.ts';
import { createJob, type Job, JobControl, type JobRequest } from './job.ts';
import { type EndState, keepEndState, traceFile } from './last-report.ts';
import { describeOutcome, type Outcome } from './outcome.ts';
import { runAfterScript, runScript } from './script-steps.ts';
import * as steps from './steps.ts';
import { Trace } from './trace.ts';
import { errorLine, noticeLine } from './trace-text.ts';
import { expandOptions, resolveVariables, runnerVariables } from './variables.ts';

/** Milliseconds that the clean-up waits for the report. */
const reportHead = 2000;

/**
 * Runs one build to its end and reports it. Whatever happens, what was made for it is removed, but for a report
 * that the server did not take.
 *
 * @returns the cause of the end.
 */
export async function runJob(request: JobRequest): Promise<Outcome> {
  const { build, directories } = request;
  // The build may have been here before, put back by the server meanwhile: that end is not this one.
  await rm(directories.temporary, { recursive: true, force: true });
  await mkdir(directories.temporary, { recursive: true, mode: 0o700 });
  const control = new JobControl(build.timeout, request.shutdown);
  const given = [...runnerVariables(build, request.runner), ...build.variables];
  const variables = resolveVariables(given);
  const trace = await Trace.open({
    api: request.api,
    spoolFile: join(directories.temporary, traceFile),
    secrets: secretsOf(request, variables),
    outputLimit: request.outputLimit,
    timing: request.timing.trace,
    onStop: (why) => control.stop({ kind: 'canceled', gone: why === 'gone' }),
  });
  const job = createJob({
    request,
    build: expandOptions(build, variables),
    variables,
    trace,
    signal: control.signal,
    lastSignal: control.lastSignal,
  });
  let isReported = true;
  const run: Run = { job, given, control, environment: null, step: 'start' };
  try {
    const outcome = await runSteps(run).catch((error: unknown) => control.outcomeOf(error, run.step));
    control.close();
    isReported = await end(run, outcome);
    return outcome;
  } finally {
    control.close();
    await trace.close();
    if (isReported) await rm(directories.temporary, { recursive: true, force: true });
  }
}

interface Run {
  job: Job;
  /** All variables before expansion. */
  given: Job['variables'];
  control: JobControl;
  /** Set as soon as there is something to clean up. */
  environment: JobEnvironment | null;
  /** Name of the step that runs, for the log. */
  step: string;
}

function secretsOf({ build, runner }: JobRequest, variables: Job['variables']): string[] {
  const { authorization } = splitCredentials(build.repo_url);
  const basic = authorization?.replace(/^Basic /, '') ?? '';
  const [, ...password] = Buffer.from(basic, 'base64').toString().split(':');
  const tokens = [build.token, runner.token, basic, password.join(':')];
  const dependencies = build.depends_on_builds.map((other) => other.token);
  const values = variables.filter((variable) => !variable.public).map((variable) => variable.value);
  return [...[...tokens, ...dependencies].flatMap(tokenForms), ...values.flatMap(valueForms)];
}

async function runSteps(run: Run): Promise<Outcome> {
  const { request, trace } = run.job;
  const { runner, executor } = request;
  await trace.write(
    noticeLine(`Running with hearth-runner ${runner.version} on ${runner.name} (${runner.shortToken})`),
  );
  run.step = 'prepare';
  await trace.write(`Using the ${executor.name} executor\n`);
  const environment = await steps.prepareExecutor(run.job);
  run.environment = environment;
  const job: Job = { ...run.job, variables: steps.jobVariables(environment, run.given) };
  run.step = 'sources';
  const tracked = await steps.getSources(job, environment);
  await restoreCacheStep(job, environment);
  run.step = 'artifacts';
  await steps.downloadArtifactsStep(job, environment);
  run.step = 'script';
  const outcome = await runScript(job, environment);
  await runAfterScript(job, environment, outcome);
  job.signal.throwIfAborted();
  run.step = 'upload';
  return keepFiles(job, { environment, tracked }, outcome);
}

/** An upload that fails fails a job that had succeeded, and never hides the exit code of one that had not. */
async function keepFiles(job: Job, input: steps.ArchiveInput, outcome: Outcome): Promise<Outcome> {
  const hasSucceeded = outcome.kind === 'success';
  try {
    await steps.uploadArtifactsStep(job, input, hasSucceeded);
  } catch (error) {
    if (hasSucceeded || job.signal.aborted) throw error;
    job.warn((error as Error).message);
  }
  if (hasSucceeded) await saveCacheStep(job, input);
  job.signal.throwIfAborted();
  return outcome;
}

/**
 * Reports, then cleans up; neither waits long for a server or an engine that is away.
 *
 * @returns whether the server has taken the report.
 */
async function end(run: Run, outcome: Outcome): Promise<boolean> {
  const reported = report(run.job, outcome);
  // Whoever waits for the result need not wait for the clean-up, nor this for a server that is away.
  const head = sleep(reportHead, undefined, { ref: false });
  await Promise.race([reported.catch(() => undefined), head]);
  const { log, build, onUncleaned } = run.job.request;
  await run.environment?.cleanUp().catch((error: Error) => {
    onUncleaned?.();
    log.warn({ build: build.id, reason: error.message }, 'clean-up failed');
  });
  return reported;
}

async function report(job: Job, outcome: Outcome): Promise<boolean> {
  const { trace, request } = job;
  const isCanceled = outcome.kind === 'canceled';
  const text = describeOutcome(outcome);
  await trace.write(outcome.kind === 'success' ? noticeLine(text) : errorLine(text));
  const state = outcome.kind === 'success' ? 'success' : 'failed';
  await trace.flush();
  if (!isCanceled) {
    // Only a later process would read it; this one goes on.
    await keepEndState(request.directories.temporary, state).catch((error: Error) => {
      request.log.warn({ build: request.build.id, reason: error.message }, 'the end cannot be noted on disk');
    });
  }
  const isComplete = await trace.finish(!isCanceled);
  if (isCanceled) return true;
  if (!isComplete) request.log.warn({ build: request.build.id }, 'the server did not take the whole trace');
  return reportState(request, state);
}

async function reportState(request: JobRequest, state: EndState): Promise<boolean> {
  const { api, log, build, timing } = request;
  const limits = { first: timing.trace.retryFirst, max: timing.trace.retryMax };
  const deadline = Date.now() + timing.trace.giveUp;
  for (let failures = 1; ; failures += 1) {
    const answer = await api.updateState({ state });
    if (answer.kind !== 'unavailable') return true;
    log.warn({ build: build.id, state, reason: answer.reason }, 'the state cannot be reported yet');
    if (Date.now() >= deadline) return false;
    await sleep(backoffDelay(failures, limits));
  }
}
