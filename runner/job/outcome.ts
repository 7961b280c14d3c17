/** Why a build came to its end. */
export type Outcome =
  | { kind: 'success' }
  | { kind: 'script_failed'; exitCode: number; outOfMemory?: boolean }
  /** By a user, or because the server does not know the build any more. */
  | { kind: 'canceled'; gone: boolean }
  | { kind: 'timed_out'; seconds: number }
  /** The runner itself is being stopped. */
  | { kind: 'aborted' }
  /** The job asks for something that cannot be, such as an image that is not allowed. */
  | { kind: 'impossible'; message: string }
  | { kind: 'system_failure'; message: string; during: string };

/** Reason of the one abort signal of a build; says which end was asked for. */
export class BuildStopped extends Error {
  override readonly name = 'BuildStopped';
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(describeOutcome(outcome));
    this.outcome = outcome;
  }
}

/** Value of CI_JOB_STATUS. */
export function jobStatus(outcome: Outcome): 'success' | 'failed' | 'canceled' {
  if (outcome.kind === 'success') return 'success';
  return outcome.kind === 'canceled' ? 'canceled' : 'failed';
}

/** The sentence that closes the trace. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'success':
      return 'Job succeeded';
    case 'script_failed':
      return `Job failed: exit code ${outcome.exitCode}${outcome.outOfMemory ? ' (out of memory)' : ''}`;
    case 'canceled':
      return outcome.gone ? 'Job canceled: the server gave it up' : 'Job canceled';
    case 'timed_out':
      return `Job failed: execution took longer than ${outcome.seconds} seconds`;
    case 'aborted':
      return 'Job failed: aborted, the runner is shutting down';
    case 'impossible':
      return `Job failed: ${outcome.message}`;
    case 'system_failure':
      return `Job failed (system failure): ${outcome.message}`;
  }
}
