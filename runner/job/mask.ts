const replacement = Buffer.from('[MASKED]');
const minValueLength = 8;
/** Shorter tokens would blot out ordinary text. */
const minTokenLength = 4;

/**
 * Replaces secrets in a stream of bytes, also where they are spread over several chunks. Only bytes that may
 * be the start of a secret are held back. Secrets that overlap become one replacement.
 */
export class Masker {
  readonly #byFirstByte: Buffer[][] = Array.from({ length: 256 }, () => []);
  #held = Buffer.alloc(0);
  /** Bytes at the start of what is held that belong to a secret already replaced. */
  #covered = 0;

  constructor(secrets: Iterable<string>) {
    for (const text of new Set(secrets)) {
      const secret = Buffer.from(text);
      const first = secret[0];
      if (first !== undefined) this.#byFirstByte[first]?.push(secret);
    }
  }

  /** @returns what may be shown by now. */
  push(chunk: Buffer): Buffer {
    return this.#scan(chunk, false);
  }

  /** @returns what was held back; call at the end of the stream. */
  flush(): Buffer {
    return this.#scan(Buffer.alloc(0), true);
  }

  #scan(chunk: Buffer, isLast: boolean): Buffer {
    const data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const out: Buffer[] = [];
    let covered = this.#covered;
    let shown = covered;
    let position = 0;
    for (; position < data.length; position += 1) {
      const candidates = this.#byFirstByte[data[position] ?? 0] ?? [];
      if (candidates.length === 0) continue;
      const match = matchAt(data, position, candidates);
      if (match.mayGrow && !isLast) break;
      if (match.length === 0) continue;
      if (position >= covered) out.push(data.subarray(shown, position), replacement);
      covered = Math.max(covered, position + match.length);
      shown = covered;
    }
    if (shown < position) out.push(data.subarray(shown, position));
    this.#covered = Math.max(0, covered - position);
    this.#held = Buffer.from(data.subarray(position));
    return Buffer.concat(out);
  }
}

/** Longest secret at `position`, and whether a longer one could still come with more data. */
function matchAt(data: Buffer, position: number, candidates: Buffer[]): { length: number; mayGrow: boolean } {
  const rest = data.length - position;
  let length = 0;
  let mayGrow = false;
  for (const secret of candidates) {
    const compared = Math.min(rest, secret.length);
    // Most candidates end here, without the cost of a call.
    if (compared > 1 && secret[1] !== data[position + 1]) continue;
    if (data.compare(secret, 0, compared, position, position + compared) !== 0) continue;
    if (compared < secret.length) mayGrow = true;
    else length = Math.max(length, secret.length);
  }
  return { length, mayGrow };
}

/** Every form in which a token may turn up. */
export function tokenForms(token: string): string[] {
  return token.length >= minTokenLength ? forms(token) : [];
}

/** Every form in which the value of a variable may turn up; none for a value too short to be a secret. */
export function valueForms(value: string): string[] {
  return [...new Set([value, value.trim()])].filter((text) => text.length >= minValueLength).flatMap(forms);
}

function forms(text: string): string[] {
  const encoded = encodeURIComponent(Buffer.from(text).toString());
  const inUrl = encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const asForm = inUrl.replaceAll('%20', '+');
  return [text, encoded, inUrl, asForm, ...base64Forms(Buffer.from(text))];
}

/**
 * Base64 of the text alone, and the part of it that stays the same wherever the text stands inside a longer
 * one, such as `user:secret`.
 */
function base64Forms(bytes: Buffer): string[] {
  const inside = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return encoded.slice([0, 2, 3][shift], Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString('base64');
  const all = [whole, whole.replace(/=+$/, ''), ...inside].filter((text) => text.length >= minValueLength);
  return all.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}
