import type { CiProblem } from './config.ts';
import { limits } from './limits.ts';

/** Translates an offset in the text into a line and column that count from 1. */
export interface LinePositions {
  linePos(offset: number): { line: number; col: number };
}

export interface Fault {
  kind: string;
  path: string;
  message: string;
  offset: number;
}

/** Collects the faults of one file, up to a limit, and knows where in the text they are. */
export class Problems {
  readonly errors: CiProblem[] = [];
  readonly warnings: CiProblem[] = [];
  private readonly positions: LinePositions;

  constructor(positions: LinePositions) {
    this.positions = positions;
  }

  /** True when no further error would be kept, so that looking for more is a waste. */
  get isFull(): boolean {
    return this.errors.length >= limits.errors;
  }

  error(fault: Fault): void {
    if (!this.isFull) this.errors.push(this.locate(fault));
  }

  warn(fault: Fault): void {
    if (this.warnings.length < limits.warnings) this.warnings.push(this.locate(fault));
  }

  private locate({ kind, path, message, offset }: Fault): CiProblem {
    const { line, col } = this.positions.linePos(offset);
    // An empty file has no line; it is reported at its start.
    return { kind, path, message, line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

/**
 * A path in the file, handed down to readers so that they can report faults without knowing where they are.
 */
export class Place {
  readonly path: string;
  readonly problems: Problems;

  constructor(path: string, problems: Problems) {
    this.path = path;
    this.problems = problems;
  }

  child(key: string): Place {
    return new Place(this.path ? `${this.path}:${key}` : key, this.problems);
  }

  error(kind: string, node: { offset: number }, message: string): void {
    this.problems.error({ kind, path: this.path, message, offset: node.offset });
  }

  warn(kind: string, node: { offset: number }, message: string): void {
    this.problems.warn({ kind, path: this.path, message, offset: node.offset });
  }
}

const longestPath = 300;
const longestMessage = 500;

/**
 * One line of text: `jobs:<job>:<key>: <problem> (line N)`. Names from the file stand in it, which may be long and
 * hold line breaks.
 */
export function formatProblem({ path, message, line }: CiProblem): string {
  const place = path ? `${oneLine(path, longestPath)}: ` : '';
  return `${place}${oneLine(message, longestMessage)} (line ${line})`;
}

function oneLine(text: string, longest: number): string {
  const line = text.slice(0, longest).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
  return text.length > longest ? `${line}…` : line;
}
