export type Literal = string | number | boolean | null | Literal[] | { [key: string]: Literal };

/** Reads the printed values of the oracle: texts, symbols, numbers, true, false, nil, lists, and hashes by symbol. */
export class LiteralReader {
  position: number;
  private readonly text: string;

  constructor(text: string, position = 0) {
    this.text = text;
    this.position = position;
  }

  /** The value at the position, which then is behind it. */
  read(): Literal {
    if (this.takes('{')) return this.hash();
    if (this.takes('[')) return this.list();
    if (this.text[this.position] === '"') return this.quoted();
    const word = this.match(/:?[\w.+-]+/y);
    if (word.startsWith(':')) return word.slice(1);
    const known = new Map<string, Literal>([
      ['nil', null],
      ['true', true],
      ['false', false],
    ]);
    if (known.has(word)) return known.get(word) ?? null;
    return Number.isNaN(Number(word)) ? word : Number(word);
  }

  private hash(): Literal {
    const values: Record<string, Literal> = {};
    while (!this.takes('}')) {
      const key = String(this.read());
      this.match(/\s*=>\s*/y);
      values[key] = this.read();
      this.takes(', ');
    }
    return values;
  }

  private list(): Literal {
    const items: Literal[] = [];
    while (!this.takes(']')) {
      items.push(this.read());
      this.takes(', ');
    }
    return items;
  }

  private quoted(): string {
    const source = this.match(/"(?:[^"\\]|\\.)*"/sy);
    const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', e: '\x1b', '0': '\0', a: '\x07' };
    return source
      .slice(1, -1)
      .replace(/\\u(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))|\\(.)/gis, (_, braced, plain, single) =>
        single === undefined
          ? String.fromCodePoint(Number.parseInt(braced ?? plain, 16))
          : (escapes[single] ?? single),
      );
  }

  private takes(token: string): boolean {
    const isThere = this.text.startsWith(token, this.position);
    if (isThere) this.position += token.length;
    return isThere;
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) throw new Error(`cannot read at ${this.position}: ${this.text}`);
    this.position += found.length;
    return found;
  }
}
