export interface DiffLine {
  kind: 'old' | 'new' | 'same';
  /** The line's number before and after, from 1. On the side that lacks the line, the number of the next one. */
  oldLine: number;
  newLine: number;
  /** Without the sign before it. */
  text: string;
}

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines of one file's diff that are in a file; nothing for what is no text. */
export function* diffLines(diff: string): Generator<DiffLine> {
  let [oldLine, newLine] = [0, 0];
  let isInside = false;
  for (const line of diff.split('\n')) {
    const start = hunk.exec(line);
    const kind = isInside ? kindOf(line) : null;
    if (start) {
      isInside = true;
      [oldLine, newLine] = [firstOf(start[1], line, '-'), firstOf(start[2], line, '+')];
    } else if (kind !== null) {
      yield { kind, oldLine, newLine, text: line.slice(1) };
      if (kind !== 'new') oldLine += 1;
      if (kind !== 'old') newLine += 1;
    }
  }
}

/** A side without lines in a hunk is counted by the line before it. */
function firstOf(number: string | undefined, line: string, side: '-' | '+'): number {
  const isEmpty = line.slice(3, line.indexOf(' @@')).includes(`${side}${number},0`);
  return Number(number) + (isEmpty ? 1 : 0);
}

function kindOf(line: string): DiffLine['kind'] | null {
  if (line.startsWith('+')) return 'new';
  if (line.startsWith('-')) return 'old';
  return line.startsWith(' ') ? 'same' : null;
}

/** The line of a diff that was added (`new`) or taken away (`old`) and has this number on that side, or null. */
export function findChangedLine(
  diff: string,
  { kind, line }: { kind: 'old' | 'new'; line: number },
): DiffLine | null {
  for (const found of diffLines(diff)) {
    if (found.kind === kind && (kind === 'new' ? found.newLine : found.oldLine) === line) return found;
  }
  return null;
}
