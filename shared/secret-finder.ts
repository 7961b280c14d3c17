import { type PlainView, withoutBreaks, withoutEscapes } from './plain-view.ts';
import { SecretSearch } from './secret-search.ts';

/** A part of a text, from one byte to before another. */
export interface Span {
  start: number;
  end: number;
}

export interface Found {
  /** In order; those that overlap are one. */
  spans: Span[];
  /** Where the text may end with the beginning of a secret whose rest has not come; its length when it does not. */
  rest: number;
}

export interface FindOptions {
  /** Nothing will follow the text. */
  isLast: boolean;
  /** Fewer letters of a secret are no beginning; 1 unless told. */
  shortest?: number;
}

interface Secret {
  length: number;
  search: SecretSearch;
  /** Letters that may be its beginning though their line has ended; fewer need not wait for the next line. */
  known: number;
}

/** Letters by which a secret is known, unless there are line breaks of its own among them. */
const known = 4;

/** Finds secrets in bytes also where they are URL-encoded, wholly or in part, or broken into lines. */
export class SecretFinder {
  readonly #secrets: Secret[];

  constructor(secrets: Iterable<string>) {
    const all = [...secrets].flatMap((secret) => [secret, secret.replaceAll(' ', '+')]);
    this.#secrets = [...new Set(all)].map((secret) => toSecret(secret));
    this.#secrets = this.#secrets.filter(({ length }) => length > 0);
  }

  get isEmpty(): boolean {
    return this.#secrets.length === 0;
  }

  find(text: Buffer, { isLast, shortest = 1 }: FindOptions): Found {
    const tail = isLast ? 0 : unfinishedEscape(text);
    const looked = text.subarray(0, text.length - tail);
    const spans: Span[] = [];
    // The first half of an escape may be the first letter of a secret.
    let rest = shortest === 1 ? looked.length : text.length;
    for (const view of viewsOf(looked)) {
      for (const secret of this.#secrets) {
        const matched = secret.search.in(view.bytes, (at) => {
          spans.push({ start: startOf(view, at), end: view.ends[at + secret.length - 1] ?? 0 });
        });
        rest = Math.min(rest, beginning(view, { secret, matched, shortest }));
      }
    }
    return { spans: merged(spans), rest: isLast ? text.length : rest };
  }
}

function toSecret(secret: string): Secret {
  const { bytes, starts } = withoutBreaks(Buffer.from(secret.replace(/^[\r\n]+|[\r\n]+$/g, '')));
  const isBrokenEarly = starts.subarray(0, Math.min(known, bytes.length)).some((start, at) => start !== at);
  return { length: bytes.length, search: new SecretSearch(bytes), known: isBrokenEarly ? 1 : known };
}

interface Beginning {
  secret: Secret;
  /** Letters of it at the end of the view. */
  matched: number;
  shortest: number;
}

/** Where the longest beginning of a secret starts that a view ends with; beyond every text when there is none. */
function beginning(view: PlainView, { secret, matched, shortest }: Beginning): number {
  for (let length = matched; length >= shortest; length = secret.search.shorterThan(length)) {
    const at = view.bytes.length - length;
    if (length >= secret.known || isInOneLine(view, at)) return startOf(view, at);
  }
  return Number.POSITIVE_INFINITY;
}

function isInOneLine(view: PlainView, at: number): boolean {
  for (let place = at; place < view.bytes.length; place += 1) {
    if (view.ends[place] !== startOf(view, place + 1)) return false;
  }
  return true;
}

function startOf(view: PlainView, at: number): number {
  return at < view.bytes.length ? (view.starts[at] ?? 0) : view.length;
}

function merged(spans: Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.sort((one, other) => one.start - other.start || other.end - one.end)) {
    const last = result.at(-1);
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
    else result.push({ ...span });
  }
  return result;
}

/** The first one or two bytes of three that would stand for one. */
function unfinishedEscape(text: Buffer): number {
  const end = text.toString('latin1', Math.max(0, text.length - 2));
  return /%[0-9A-Fa-f]?$/.exec(end)?.[0].length ?? 0;
}

function viewsOf(text: Buffer): PlainView[] {
  const decoded = withoutEscapes(text);
  return decoded ? [withoutBreaks(text), decoded] : [withoutBreaks(text)];
}
