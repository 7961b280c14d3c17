import { type PlainView, withoutBreaks, withoutEscapes } from './plain-view.ts';
import { SecretSearch } from './secret-search.ts';

/** Looked at in one go: small chunks are gathered up to the one, large ones cut at the other. In bytes. */
const gathered = 64 * 1024;
const piece = 256 * 1024;

/**
 * Blacks out secrets in a stream of bytes with as many `x` as they are long, so that offsets keep their meaning.
 * Secrets that are spread over several chunks are found too, and those that are URL-encoded or broken into lines.
 */
export class Blackout {
  readonly #secrets: Secret[];
  /** Of a secret that may be waiting for its end. */
  readonly #reach: number;
  /** Bytes not given out yet, as they came and as they will be shown; both without those that wait. */
  #raw = Buffer.alloc(0);
  #shown = Buffer.alloc(0);
  #waiting: Buffer[] = [];
  #waitingSize = 0;

  constructor(secrets: readonly string[]) {
    this.#secrets = searchesFor(secrets);
    this.#reach = secretReach(secrets);
  }

  /** @returns what may be shown by now. */
  push(chunk: Buffer): Buffer {
    if (this.#secrets.length === 0) return chunk;
    const shown: Buffer[] = [];
    for (let at = 0; at < chunk.length; at += piece) {
      const part = chunk.subarray(at, at + piece);
      this.#waiting.push(part);
      this.#waitingSize += part.length;
      if (this.#waitingSize >= Math.max(gathered, this.#reach)) shown.push(this.#look());
    }
    return Buffer.concat(shown);
  }

  /** @returns what was held back; call at the end of the stream. */
  flush(): Buffer {
    const shown = this.#look();
    return Buffer.concat([shown, this.#give(this.#raw.length)]);
  }

  #look(): Buffer {
    this.#raw = Buffer.concat([this.#raw, ...this.#waiting]);
    this.#shown = Buffer.concat([this.#shown, ...this.#waiting]);
    this.#waiting = [];
    this.#waitingSize = 0;
    for (const view of viewsOf(this.#raw)) {
      for (const secret of this.#secrets) this.#cover(view, secret);
    }
    return this.#give(Math.max(0, this.#raw.length - this.#reach));
  }

  #cover({ bytes, starts, ends }: PlainView, { length, search }: Secret): void {
    let covered = 0;
    search.in(bytes, (at) => {
      const start = starts[at] ?? 0;
      const end = ends[at + length - 1] ?? 0;
      // Wider ones would be found or not by where the chunks begin and end.
      if (end - start > this.#reach) return;
      this.#shown.fill('x', Math.max(start, covered), end);
      covered = end;
    });
  }

  #give(length: number): Buffer {
    const given = this.#shown.subarray(0, length);
    this.#raw = this.#raw.subarray(length);
    this.#shown = this.#shown.subarray(length);
    return given;
  }
}

/** How many bytes of a text the longest of the secrets may take: each of its bytes encoded, and some line breaks. */
export function secretReach(secrets: readonly string[]): number {
  return 4 * Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)));
}

/** Fewer letters of a secret tell nothing. */
const shortestPart = 4;

/** Bytes at the end of `tail` that are the beginning of a secret whose rest has not come yet; 0 when there are none. */
export function unfinishedSecret(secrets: readonly string[], tail: Buffer): number {
  const searches = searchesFor(secrets);
  let start = tail.length;
  for (const { bytes, starts } of viewsOf(tail.subarray(0, tail.length - unfinishedEscape(tail)))) {
    for (const { search } of searches) {
      const length = search.in(bytes, () => undefined);
      if (length >= shortestPart) start = Math.min(start, starts[bytes.length - length] ?? start);
    }
  }
  return tail.length - start;
}

/** The first one or two bytes of three that would stand for one. */
function unfinishedEscape(tail: Buffer): number {
  const end = tail.toString('latin1', Math.max(0, tail.length - 2));
  return /%[0-9A-Fa-f]?$/.exec(end)?.[0].length ?? 0;
}

function viewsOf(text: Buffer): PlainView[] {
  const decoded = withoutEscapes(text);
  return decoded ? [withoutBreaks(text), decoded] : [withoutBreaks(text)];
}

interface Secret {
  length: number;
  search: SecretSearch;
}

/** For the secrets as they read in a view; a form puts `+` in place of a blank. */
function searchesFor(secrets: readonly string[]): Secret[] {
  const unbroken = secrets.map((secret) => secret.replace(/[\r\n]/g, ''));
  const all = unbroken.flatMap((secret) => [secret, secret.replaceAll(' ', '+')]);
  const bytes = [...new Set(all)].filter((secret) => secret !== '').map((secret) => Buffer.from(secret));
  return bytes.map((secret) => ({ length: secret.length, search: new SecretSearch(secret) }));
}
