export interface GitFailure {
  /** What was wanted, in words a log reader understands. */
  attempted: string;
  exitCode?: number | null | undefined;
  /** The end of what git said. */
  stderr?: string | undefined;
  cause?: unknown;
}

/** A git process that could not do what was asked of it. */
export class GitError extends Error {
  readonly attempted: string;
  readonly exitCode: number | null;
  readonly stderr: string;

  constructor(failure: GitFailure) {
    const stderr = (failure.stderr ?? '').trim();
    const detail = stderr === '' ? `exit code ${failure.exitCode ?? 'none'}` : stderr;
    super(`${failure.attempted}: ${detail}`, { cause: failure.cause });
    this.name = 'GitError';
    this.attempted = failure.attempted;
    this.exitCode = failure.exitCode ?? null;
    this.stderr = stderr;
  }
}

/** A ref was not where the caller expected it, so it was left alone. */
export class RefConflictError extends GitError {
  /** Where the ref is now; null when it does not exist. */
  readonly actual: string | null;

  constructor(failure: GitFailure & { actual: string | null }) {
    super(failure);
    this.name = 'RefConflictError';
    this.actual = failure.actual;
  }
}

/** Git was ended because it took longer than it was given. */
export class GitTimeoutError extends GitError {
  constructor(failure: GitFailure) {
    super(failure);
    this.name = 'GitTimeoutError';
  }
}

/** An object is larger than the caller is willing to hold. */
export class ObjectTooLargeError extends GitError {
  /** In bytes. */
  readonly size: number;

  constructor(failure: { attempted: string; size: number; limit: number }) {
    super({ attempted: failure.attempted, stderr: `${failure.size} bytes, allowed are ${failure.limit}` });
    this.name = 'ObjectTooLargeError';
    this.size = failure.size;
  }
}

/** A client sent something that is not the git protocol, or more of it than allowed. */
export class GitProtocolError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'GitProtocolError';
  }
}
