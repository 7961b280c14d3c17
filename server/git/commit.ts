export interface Commit {
  sha: string;
  treeId: string;
  parentIds: string[];
  /** Everything the author wrote. */
  message: string;
  /** The first line of the message. */
  title: string;
  authorName: string;
  authorEmail: string;
  /** ISO 8601 in the author's own offset, such as `2016-06-03T09:11:42+02:00`. */
  authoredDate: string;
  committerName: string;
  committerEmail: string;
  committedDate: string;
}

/**
 * Reads the bytes of a commit object. Never fails on odd ones, of which old repositories are full: what is
 * missing is empty, what is no UTF-8 is read by the encoding the commit names, or else as latin-1.
 */
export function parseCommit(sha: string, bytes: Buffer): Commit {
  const end = bytes.indexOf('\n\n');
  const head = end === -1 ? bytes : bytes.subarray(0, end);
  const body = end === -1 ? Buffer.alloc(0) : bytes.subarray(end + 2);
  const headers = readHeaders(head.toString('latin1'));
  const encoding = headers.find(([key]) => key === 'encoding')?.[1];
  const text = (key: string) => {
    const found = headers.find(([name]) => name === key)?.[1] ?? '';
    return decode(Buffer.from(found, 'latin1'), encoding);
  };
  const message = decode(body, encoding);
  const author = parseSignature(text('author'));
  const committer = parseSignature(text('committer'));
  return {
    sha,
    treeId: text('tree'),
    parentIds: headers.filter(([key]) => key === 'parent').map(([, value]) => value),
    message,
    title: (message.replace(/^[\s]*\n/, '').split('\n')[0] ?? '').trimEnd(),
    authorName: author.name,
    authorEmail: author.email,
    authoredDate: author.date,
    committerName: committer.name,
    committerEmail: committer.email,
    committedDate: committer.date,
  };
}

/** Lines that begin with a space go on with a signature or a merged tag and are no headers of the commit. */
function readHeaders(head: string): [key: string, value: string][] {
  const lines = head.split('\n').filter((line) => !line.startsWith(' '));
  return lines.map((line) => {
    const space = line.indexOf(' ');
    return space === -1 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
  });
}

/** Text of an object: by the encoding that it names if it tells the truth, else UTF-8, else latin-1. */
export function decode(bytes: Buffer, encoding?: string): string {
  for (const label of [encoding ?? 'utf-8', 'utf-8']) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      // An unknown encoding, or a commit that lies about it: the next guess decides.
    }
  }
  return bytes.toString('latin1');
}

function parseSignature(line: string): { name: string; email: string; date: string } {
  const open = line.indexOf('<');
  const close = line.lastIndexOf('>');
  if (open === -1 || close < open) return { name: line.trim(), email: '', date: formatDate(0, 0) };
  const [, seconds, sign, hours, minutes] =
    /(-?\d+)(?: ([+-])(\d+)(\d\d))?/.exec(line.slice(close + 1)) ?? [];
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * (sign === '-' ? -1 : 1);
  return {
    name: line.slice(0, open).trim(),
    email: line.slice(open + 1, close).trim(),
    date: formatDate(Number(seconds ?? 0), offset),
  };
}

/** The last second of the year 9999, the last one that ISO 8601 writes with four digits. */
const lastSecond = 253_402_300_799;

function formatDate(seconds: number, offsetMinutes: number): string {
  // No clock on earth is further off than this; such offsets are slips of old tools.
  const offset = Math.abs(offsetMinutes) > 14 * 60 ? 0 : offsetMinutes;
  const bounded = Math.min(Math.max(seconds, 0), lastSecond - 86_400);
  const local = new Date((bounded + offset * 60) * 1000).toISOString().slice(0, 19);
  const pad = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${local}${offset < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`;
}
