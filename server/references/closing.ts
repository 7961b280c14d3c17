import { codeStretches } from './code.ts';

/** An issue as a text names it. */
export interface IssueName {
  /** `namespace/path` as it was written; null for an issue of the text's own project. */
  project: string | null;
  iid: number;
}

/** Largest number that a thing of a project has. */
const maxReferenceNumber = 2_147_483_647;

/** Issues that one text closes, at most. */
const mostIssues = 100;

const closingWord =
  /(?<![\p{L}\p{N}_])(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)):? +/gu;
const itself = /(?:issues? +)?/y;
const separator = / *, *| +and +/y;
const path = '[A-Za-z0-9_.][A-Za-z0-9_.-]*/[A-Za-z0-9_.][A-Za-z0-9_.-]*';
const number = '(\\d{1,10})(?![\\p{L}\\p{N}_])';
const local = new RegExp(`(${path})?#${number}`, 'uy');

/**
 * The issues that a message or description says it closes, each once, in its order: behind a word for that, one after
 * the other with commas and `and` between, as numbers or addresses. What is code closes nothing.
 *
 * @param origin what addresses of this instance start with, without a slash at the end.
 */
export function readClosing(text: string, origin: string): IssueName[] {
  const found = new Map<string, IssueName>();
  const address = addressAt(origin);
  const code = codeStretches(text);
  let next = 0;
  for (const { index, 0: word } of text.matchAll(closingWord)) {
    while (next < code.length && (code[next]?.end ?? 0) <= index) next += 1;
    if (index >= (code[next]?.start ?? text.length)) continue;
    for (const name of namesAt(text, { start: index + word.length, address })) {
      if (found.size < mostIssues) found.set(`${name.project?.toLowerCase() ?? ''}#${name.iid}`, name);
    }
  }
  return [...found.values()];
}

function addressAt(origin: string): RegExp {
  return new RegExp(`${origin.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}/(${path})/issues/${number}`, 'uy');
}

function* namesAt(
  text: string,
  { start, address }: { start: number; address: RegExp },
): Generator<IssueName> {
  let at = start;
  for (;;) {
    at = endOf(itself, text, at) ?? at;
    const match = matchAt(local, text, at) ?? matchAt(address, text, at);
    if (!match) return;
    const iid = Number(match[2]);
    if (iid > 0 && iid <= maxReferenceNumber) yield { project: match[1] ?? null, iid };
    const end = endOf(separator, text, at + match[0].length);
    if (end === null) return;
    at = end;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function endOf(pattern: RegExp, text: string, at: number): number | null {
  const match = matchAt(pattern, text, at);
  return match && at + match[0].length;
}
