/** Longer delays overflow a timer, which would then fire at once. */
export const longestDelay = 2 ** 31 - 1;

/** An action was ended because its own time was up. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

export interface TimeLimit {
  milliseconds: number;
  /** Ends the action as well. */
  signal: AbortSignal;
}

/**
 * Runs an action with a signal that also fires when its time is up.
 *
 * @throws TookTooLong when the time was what ended it.
 */
export async function withinTime<T>(
  { milliseconds, signal }: TimeLimit,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new TookTooLong()), Math.min(milliseconds, longestDelay));
  try {
    return await action(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    throw late.signal.aborted && !signal.aborted ? late.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}
