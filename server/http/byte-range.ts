/** Where to start, from a `Range: bytes=N-` header; 0 when there is none that can be followed. */
export function readRangeStart(header: string): number {
  const match = /^bytes=(\d{1,15})-$/.exec(header.trim());
  return match ? Number(match[1]) : 0;
}
