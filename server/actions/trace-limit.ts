const mebibytes = 512;

/**
 * Bytes kept of the trace of one build: a hundred times what runners cut their output at, and still little beside
 * the disk of a server. What comes after is taken and dropped, because a runner that is refused would send it
 * again and again.
 */
export const traceLimit = mebibytes * 1024 * 1024;

/** Ends a trace that was cut, where it is shown: what is stored must never be longer than what the runner sent. */
const notice = Buffer.from(
  `\n\u001b[31;1mThe trace ends here: no more than ${mebibytes} MiB of it are kept.\u001b[0m\n`,
);

/** What is shown after a trace of so many stored bytes; nothing unless it is full. */
export function endOfTrace(length: number): Buffer {
  return isFull(length) ? notice : Buffer.alloc(0);
}

export function isFull(length: number): boolean {
  return length >= traceLimit;
}
