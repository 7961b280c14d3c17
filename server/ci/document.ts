import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from 'yaml';
import { convertTree } from './convert.ts';
import { limits } from './limits.ts';
import type { CiNode } from './node.ts';
import { Problems } from './problems.ts';

interface ReadDocument {
  /** Null when there are errors that leave nothing to look at. */
  root: CiNode | null;
  problems: Problems;
}

/**
 * Reads the first document of a YAML text into nodes with places. Faults of syntax and size end up in
 * `problems`.
 */
export function readDocument(text: string): ReadDocument {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const problems = new Problems(lines);
  const root = Buffer.byteLength(text) > limits.fileBytes ? tooLarge(problems) : read(text, lines, problems);
  return { root: problems.errors.length > 0 ? null : root, problems };
}

function read(text: string, lines: LineCounter, problems: Problems): CiNode | null {
  const tokens = firstDocument(text, lines, problems);
  if (problems.errors.length > 0) return null;
  const composer = new Composer({ uniqueKeys: false, merge: false, prettyErrors: false, logLevel: 'silent' });
  const [document] = composer.compose(tokens);
  if (!document?.contents) return reportEmpty(document, problems);
  reportSyntax(document, problems);
  return problems.errors.length > 0 ? null : convertTree(document.contents, problems);
}

/**
 * The tokens of the first document. Depth is watched here, while the token stack is a plain list: composing a
 * deeply nested text recurses, and can take the whole process down.
 */
function firstDocument(text: string, lines: LineCounter, problems: Problems): CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let seen = 0;
  let isComplete = false;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token);
      isComplete ||= token.type === 'document';
    }
    seen += 1;
    if (isBeyondLimits(parser, seen, problems)) return [];
    if (isComplete && parser.stack.length > 0) {
      const message = 'only the first document is used';
      problems.warn({ kind: 'yaml.documents', path: '', message, offset: parser.offset });
      return tokens;
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function isBeyondLimits(parser: Parser, seen: number, problems: Problems): boolean {
  const offset = parser.offset;
  if (parser.stack.length > limits.depth + 2) {
    const message = `nested more than ${limits.depth} levels deep`;
    problems.error({ kind: 'yaml.depth', path: '', message, offset });
    return true;
  }
  if (seen > limits.tokens) {
    const message = `has more than ${limits.tokens} tokens`;
    problems.error({ kind: 'file.size', path: '', message, offset });
    return true;
  }
  return false;
}

function tooLarge(problems: Problems): null {
  const message = `file is larger than ${limits.fileBytes} bytes`;
  problems.error({ kind: 'file.size', path: '', message, offset: 0 });
  return null;
}

function reportEmpty(document: Document.Parsed | undefined, problems: Problems): null {
  if (document) reportSyntax(document, problems);
  if (problems.errors.length > 0) return null;
  problems.error({ kind: 'file.empty', path: '', message: 'file is empty', offset: 0 });
  return null;
}

function reportSyntax(document: Document.Parsed, problems: Problems): void {
  for (const error of document.errors) {
    const offset = error.pos[0];
    const message = error.message.trim();
    problems.error({ kind: 'yaml.syntax', path: '', message, offset });
  }
  for (const problem of problems.errors) problem.message += ` at ${problem.line}:${problem.column}`;
}
