/**
 * A start that cannot go on for a reason the administrator can do something about. The text is shown as it is,
 * without a stack: `message` says what is wrong, `advice` what to do about it.
 */
export class StartError extends Error {
  readonly advice: string;

  constructor(message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartError';
    this.advice = advice;
  }
}
