const longestWaitSeconds = 60;

/** Seconds that a caller is ready to wait for an answer, from a `Prefer: wait=N` header; 0 when it says nothing. */
export function readPreferWait(header: string): number {
  const match = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})/i.exec(header);
  return match ? Math.min(Number(match[1]), longestWaitSeconds) : 0;
}
