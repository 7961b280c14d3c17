/** A stretch of a text, `end` not in it. */
export interface Stretch {
  start: number;
  end: number;
}

interface Fence {
  sign: string;
  length: number;
  /** How many marks of a quotation stand before each of its lines. */
  depth: number;
}

const quoteMarks = /^(?: {0,3}> ?)*/;
/** Also in an item of a list. A fence of backticks has none of them behind it. */
const opening = /^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/;
const closing = /^[ \t]*(`{3,}|~{3,})[ \t\r]*$/;
const item = /^[ \t]*(?:[-+*]|\d{1,9}[.)])(?:[ \t\r]|$)/;
const indented = /^(?: {4}| {0,3}\t)/;

/**
 * Finds what Markdown shows as code, in its order: blocks between fences, indented blocks, and what stands between
 * backticks in a line or a paragraph. Takes time in proportion to the text, whatever that is.
 */
export function codeStretches(text: string): Stretch[] {
  const reader = new CodeReader(text);
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    reader.line({ start, end });
    start = end;
  }
  return reader.end();
}

class CodeReader {
  readonly #text: string;
  readonly #found: Stretch[] = [];
  #fence: Fence | null = null;
  /** Where the paragraph began that the last line belongs to. */
  #paragraph: number | null = null;
  #isInList = false;
  /** Where all paragraphs so far are read. */
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  line({ start, end }: Stretch): void {
    this.#at = start;
    const whole = this.#text.slice(start, end).replace(/\n$/, '');
    const marks = quoteMarks.exec(whole)?.[0] ?? '';
    const depth = marks.split('>').length - 1;
    const line = whole.slice(marks.length);
    if (this.#fence && depth < this.#fence.depth) this.#fence = null;
    if (this.#fence) this.#endFence(line, this.#fence);
    else if (line.trim() === '') {
      this.#endParagraph();
      return;
    } else if (!this.#isIndentedCode(line) && !this.#opensFence(line, depth)) {
      this.#textLine(line);
      return;
    }
    this.#found.push({ start, end });
  }

  end(): Stretch[] {
    this.#at = this.#text.length;
    this.#endParagraph();
    return this.#found;
  }

  #endFence(line: string, { sign, length }: Fence): void {
    const fence = closing.exec(line)?.[1];
    if (fence?.startsWith(sign) && fence.length >= length) this.#fence = null;
  }

  #isIndentedCode(line: string): boolean {
    return this.#paragraph === null && !this.#isInList && indented.test(line);
  }

  #opensFence(line: string, depth: number): boolean {
    const fence = opening.exec(line)?.[1];
    if (!fence) return false;
    this.#endParagraph();
    this.#fence = { sign: fence.charAt(0), length: fence.length, depth };
    return true;
  }

  /** A list goes on until something begins at the edge that is none of its items. */
  #textLine(line: string): void {
    if (item.test(line)) this.#isInList = true;
    else if (this.#paragraph === null && !/^[ \t]/.test(line)) this.#isInList = false;
    this.#paragraph ??= this.#at;
  }

  #endParagraph(): void {
    if (this.#paragraph === null) return;
    const start = this.#paragraph;
    this.#paragraph = null;
    for (const span of codeSpans(this.#text.slice(start, this.#at))) {
      this.#found.push({ start: start + span.start, end: start + span.end });
    }
  }
}

/** What stands between two equally long runs of backticks. */
function* codeSpans(text: string): Generator<Stretch> {
  const runs = backtickRuns(text);
  const starts = startsByLength(runs);
  let at = 0;
  for (const run of runs) {
    if (run.start < at) continue;
    const start = isEscaped(text, run.start) ? run.start + 1 : run.start;
    const length = run.end - start;
    const later = starts.get(length) ?? [];
    while ((later.at(-1) ?? run.end) < run.end) later.pop();
    const close = later.at(-1);
    if (length === 0 || close === undefined) continue;
    at = close + length;
    yield { start, end: at };
  }
}

/** Where the runs of each length begin, the last one first. */
function startsByLength(runs: Stretch[]): Map<number, number[]> {
  const starts = new Map<number, number[]>();
  for (const { start, end } of runs.toReversed()) {
    const others = starts.get(end - start);
    if (others) others.push(start);
    else starts.set(end - start, [start]);
  }
  return starts;
}

function backtickRuns(text: string): Stretch[] {
  return Array.from(text.matchAll(/`+/g), ({ index, 0: run }) => ({ start: index, end: index + run.length }));
}

/** Whether an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}
