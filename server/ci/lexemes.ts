import { Lexer } from 'yaml';

/** What the lexer keeps to itself, but has to be told here. */
interface LexerState {
  buffer: string;
  pos: number;
  flowLevel: number;
  /** Spaces a line needs to continue what is open. */
  indentNext: number;
}

/**
 * Cuts a text as the lexer does, but lets lists in brackets and quoted text go on in lines of any indentation.
 * Standard YAML wants them indented more than the key before them; the parser that CI files were written for
 * never did.
 */
export function lenientLexemes(text: string): Iterable<string> {
  const lexer = new Lexer();
  const state = lexer as unknown as LexerState;
  let asked = state.indentNext;
  Object.defineProperty(lexer, 'indentNext', {
    get: () => (state.flowLevel > 0 || isQuote(state.buffer[state.pos]) ? 0 : asked),
    set: (spaces: number) => {
      asked = spaces;
    },
  });
  return lexer.lex(text);
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}
