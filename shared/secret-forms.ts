const minValueLength = 8;
/** Shorter tokens would blot out ordinary text. */
const minTokenLength = 4;

/** Every form in which a token may turn up, for a search that sees through URL encoding and line breaks by itself. */
export function tokenForms(token: string): string[] {
  return token.length >= minTokenLength ? forms(token) : [];
}

/**
 * Every form in which the value of a variable may turn up, likewise, and each of its lines alone; none for a value
 * too short to be a secret.
 */
export function valueForms(value: string): string[] {
  const texts = [value, value.trim()].filter((text) => text.length >= minValueLength);
  return [...new Set([...texts.flatMap(forms), ...linesOf(value)])];
}

function linesOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line.length >= minValueLength);
}

function forms(text: string): string[] {
  return [...new Set([text, ...base64Forms(Buffer.from(text))])];
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
