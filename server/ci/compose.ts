import { Composer, type CST, type ParsedNode } from 'yaml';
import type { Problems } from './problems.ts';

/** Ends the composing of a document in which enough faults were found. */
class EnoughFaults extends Error {}

type FaultSource = number | readonly number[] | { offset: number };
type FaultHandler = (source: FaultSource, code: string, message: string, isWarning?: boolean) => void;

/**
 * Makes a tree of the tokens of one document. Faults go to `problems`; the composer's own way, an error object
 * with a stack for each of them, takes seconds for a file that is nothing but faults.
 *
 * @returns null for an empty document, and when there are faults.
 */
export function composeTree(tokens: Iterable<CST.Token>, problems: Problems): ParsedNode | null {
  // All scalars come as text: what they stand for is settled by rules of our own.
  const composer = new Composer({
    schema: 'failsafe',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const onError: FaultHandler = (source, _code, message, isWarning) => {
    if (isWarning) return;
    reportSyntax(problems, { message, offset: offsetOf(source) });
    if (problems.isFull) throw new EnoughFaults();
  };
  Object.assign(composer, { onError });
  try {
    const [document] = composer.compose(tokens);
    return problems.errors.length > 0 ? null : (document?.contents ?? null);
  } catch (error) {
    if (error instanceof EnoughFaults) return null;
    throw error;
  }
}

/** The place stands in the text too, as parsers write it. */
export function reportSyntax(problems: Problems, fault: { message: string; offset: number }): void {
  const { message, offset } = fault;
  problems.error({ kind: 'yaml.syntax', path: '', message: message.trim(), offset });
  const last = problems.errors.at(-1);
  if (last) last.message = `${message.trim()} at ${last.line}:${last.column}`;
}

function offsetOf(source: FaultSource): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : (source[0] ?? 0);
}
