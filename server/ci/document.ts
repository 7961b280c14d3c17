import { type CST, Lexer, LineCounter, Parser } from 'yaml';
import { composeTree, reportSyntax } from './compose.ts';
import { convertTree } from './convert.ts';
import { lenientLexemes } from './lexemes.ts';
import { limits } from './limits.ts';
import { type CiNode, quote } from './node.ts';
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
  if (Buffer.byteLength(text) > limits.fileBytes) return tooLarge();
  // Same length, so that places stay where they are.
  const source = text.includes('\r') ? text.replace(/\r(?!\n)/g, '\n') : text;
  const strict = readLexemes(new Lexer().lex(source), source);
  if (!hasSyntaxFault(strict)) return strict;
  const lenient = readLexemes(lenientLexemes(source), source);
  // Faults are found nearer to their cause where indentation counts.
  return hasSyntaxFault(lenient) ? strict : lenient;
}

function tooLarge(): ReadDocument {
  const problems = new Problems(new LineCounter());
  const message = `file is larger than ${limits.fileBytes} bytes`;
  problems.error({ kind: 'file.size', path: '', message, offset: 0 });
  return { root: null, problems };
}

function hasSyntaxFault({ problems }: ReadDocument): boolean {
  return problems.errors.some(({ kind }) => kind === 'yaml.syntax');
}

function readLexemes(lexemes: Iterable<string>, text: string): ReadDocument {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const problems = new Problems(lines);
  const tokens = new FirstDocument(new Parser(lines.addNewLine), problems).read(lexemes);
  const tree = problems.errors.length > 0 ? null : composeTree(tokens, problems);
  if (!tree && problems.errors.length === 0) {
    problems.error({ kind: 'file.empty', path: '', message: 'file is empty', offset: 0 });
  }
  const root = tree && convertTree(tree, { text, problems });
  return { root: problems.errors.length > 0 ? null : root, problems };
}

/**
 * Collects the tokens of the first document. Depth is watched here, while the token stack is a plain list:
 * composing a deeply nested text recurses, and can take the whole process down.
 */
class FirstDocument {
  private readonly parser: Parser;
  private readonly problems: Problems;
  private readonly tokens: CST.Token[] = [];
  private isComplete = false;

  constructor(parser: Parser, problems: Problems) {
    this.parser = parser;
    this.problems = problems;
  }

  read(lexemes: Iterable<string>): CST.Token[] {
    let seen = 0;
    for (const lexeme of lexemes) {
      for (const token of this.parser.next(lexeme)) this.take(token);
      seen += 1;
      if (this.problems.isFull || this.isBeyondLimits(seen)) return [];
      if (!this.isComplete || this.parser.stack.length === 0) continue;
      const message = 'only the first document is used';
      this.problems.warn({ kind: 'yaml.documents', path: '', message, offset: this.parser.offset });
      return this.tokens;
    }
    for (const token of this.parser.end()) this.take(token);
    return this.tokens;
  }

  private take(token: CST.Token): void {
    const { problems, isComplete } = this;
    if (token.type === 'error') {
      const { message, source, offset } = token;
      reportSyntax(problems, { message: source ? `${message}: ${quote(source)}` : message, offset });
    } else if (!isComplete && token.type !== 'doc-end') this.tokens.push(token);
    this.isComplete ||= token.type === 'document';
  }

  private isBeyondLimits(seen: number): boolean {
    const { offset, stack } = this.parser;
    if (stack.length > limits.depth + 2) {
      const message = `nested more than ${limits.depth} levels deep`;
      this.problems.error({ kind: 'yaml.depth', path: '', message, offset });
      return true;
    }
    if (seen > limits.tokens) {
      const message = `has more than ${limits.tokens} tokens`;
      this.problems.error({ kind: 'file.size', path: '', message, offset });
      return true;
    }
    return false;
  }
}
