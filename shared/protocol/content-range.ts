/**
 * Start of a trace part, from a Content-Range header such as `0-598`, `bytes 0-598` or `bytes 0-598/*`.
 * The end is not read: clients disagree whether it is inclusive.
 *
 * @returns the offset in bytes, or null when the header cannot be read.
 */
export function parseContentRangeStart(header: string): number | null {
  const match = /^\s*(?:bytes\s+)?(\d{1,15})-\d*(?:\/(?:\d+|\*))?\s*$/i.exec(header);
  return match ? Number(match[1]) : null;
}

/** Length in a `Range: 0-<length>` answer header, or null when it cannot be read. */
export function parseRangeLength(header: string): number | null {
  const match = /^\s*(?:bytes[ =])?0-(\d{1,15})\s*$/.exec(header);
  return match ? Number(match[1]) : null;
}
