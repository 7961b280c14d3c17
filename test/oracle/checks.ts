import type { CiConfig, CiProblem } from '../../server/ci/config.ts';
import { jobsForRef } from '../../server/ci/only-except.ts';
import { parseCiConfig } from '../../server/ci/parse.ts';
import { formatProblem } from '../../server/ci/problems.ts';
import { DurationError, parseDuration } from '../../shared/duration.ts';
import { difference, readAccepted } from './accepted.ts';
import { judgeRejected } from './rejected.ts';
import { LiteralReader } from './ruby-literal.ts';

/**
 * Kinds of error for files that the old processor took, on purpose: a duration it would have failed on only when
 * artifacts came; an expression that a linear-time engine cannot run; and limits against hostile files.
 */
const stricterOnPurpose =
  /^(duration\.parse|(only|except)\.regex|tags\.limit|jobs\.limit|file\.size|yaml\.(depth|aliases|character))$/;

export interface CaseRecord {
  name: string;
  yaml: string;
  v8_9: string;
}

/** What is wrong with our verdict on one small file; null when nothing is. */
export function checkCase({ yaml, v8_9: verdict }: CaseRecord): string | null {
  const result = parseCiConfig(yaml);
  const kinds = 'errors' in result ? result.errors.map(({ kind }) => kind) : [];
  if (!verdict.startsWith('OK ')) return judgeRejected(verdict, kinds);
  if ('errors' in result) return stricterError(result.errors);
  return difference(result.config, readAccepted(verdict));
}

function stricterError(errors: CiProblem[]): string | null {
  const wrong = errors.filter(({ kind }) => !stricterOnPurpose.test(kind));
  return wrong.length > 0 ? `refused: ${wrong.map(formatProblem).join('; ')}` : null;
}

export interface FileRecord {
  file: string;
  repo: string;
  real_8_9: string;
}

/** As `checkCase`, for a whole file of which only counts are known. */
export function checkFile({ repo, real_8_9: verdict }: FileRecord, text: string): string | null {
  const result = parseCiConfig(text);
  if ('errors' in result) {
    if (verdict.startsWith('OK ')) return stricterError(result.errors);
    // What later files need and this version does not do is the only reason to refuse one.
    const other = result.errors.filter(({ kind }) => kind !== 'key.unsupported');
    return other.length > 0 ? `refused: ${other.map(formatProblem).join('; ')}` : null;
  }
  if (!verdict.startsWith('OK ')) return null;
  const got = countsOf(result.config, repo);
  return verdict === `OK ${got}` ? null : `got ${got}, wanted ${verdict}`;
}

function countsOf({ jobs, stages }: CiConfig, projectPath: string): string {
  const on = (ref: string, tag: boolean) =>
    jobsForRef({ jobs }, { ref, tag, trigger: false, projectPath }).length;
  const counts = `onmaster=${on('master', false)} ontag=${on('v1.0', true)}`;
  return `jobs=${jobs.length} stages=${stages.length} ${counts}`;
}

/** Of a line `"<text>" => <seconds>`, `nil` for nothing, or ERROR. */
export function checkDuration(line: string): string | null {
  const { text, rest } = readRow(line);
  const got = secondsOf(text);
  const wanted = rest === 'nil' ? null : rest.startsWith('ERROR') ? 'ERROR' : Number(rest);
  return got === wanted ? null : `${line}: got ${got}`;
}

function secondsOf(text: string): number | null | 'ERROR' {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) return 'ERROR';
    throw error;
  }
}

/**
 * Of a line `"<scalar>" => <value> (<class>)`. Where a text is wanted, texts and symbols are taken; numbers with
 * separators or colons, the words for booleans, and dates are too, as they are written, on purpose. Where a boolean
 * is wanted, only booleans are.
 */
export function checkScalar(line: string): string | null {
  const { text, rest } = readRow(line);
  const type = /\((\w+)\)$/.exec(rest)?.[1] ?? (/Syntax/.test(rest) ? 'Syntax' : 'Error');
  const image = parseCiConfig(`job:\n  script: x\n  image: ${text}\n`);
  const flag = parseCiConfig(`job:\n  script: x\n  allow_failure: ${text}\n`);
  const got = 'config' in image ? (image.config.jobs[0]?.image ?? null) : 'refused';
  const word = 'config' in flag ? String(flag.config.jobs[0]?.allowFailure) : 'refused';
  const wantedFlag = /^(true|false)/.exec(rest)?.[0] ?? (type === 'NilClass' ? 'false' : 'refused');
  if (word !== wantedFlag) return `${line}: as a flag ${word}`;
  return textsFor(type, text).includes(got) ? null : `${line}: as a text ${got}`;
}

function textsFor(type: string, text: string): (string | null)[] {
  if (type === 'NilClass') return [null];
  if (type === 'Syntax') return ['refused'];
  if (type === 'String' || type === 'Error') return [text];
  if (type === 'Symbol') return [text.slice(1)];
  const isLoose = /^[\d,_:]+$/.test(text) || /^0b[01]+$/.test(text) || /^(yes|no|on|off)$/i.test(text);
  return isLoose ? ['refused', text] : ['refused'];
}

function readRow(line: string): { text: string; rest: string } {
  const reader = new LiteralReader(line);
  const text = String(reader.read());
  return { text, rest: line.slice(reader.position).replace(/^ => /, '') };
}
