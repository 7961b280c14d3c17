const minValueLength = 8;
/** Shorter tokens would blot out ordinary text. */
const minTokenLength = 4;

/** Every form in which a token may turn up. */
export function tokenForms(token: string): string[] {
  return forms(tokenTexts(token));
}

/**
 * Every form in which the value of a variable may turn up, and each of its lines alone; none for a value too short
 * to be a secret.
 */
export function valueForms(value: string): string[] {
  const texts = valueTexts(value);
  return [...new Set([...forms(texts), ...linesOf(value), ...texts.flatMap(wrappedForms)])];
}

/** As `tokenForms`, for a search that sees through URL encoding by itself. */
export function tokenNeedles(token: string): string[] {
  return tokenTexts(token).flatMap(needles);
}

/** As `valueForms`, for a search that sees through URL encoding by itself. */
export function valueNeedles(value: string): string[] {
  return [...new Set([...valueTexts(value).flatMap(needles), ...linesOf(value)])];
}

function tokenTexts(token: string): string[] {
  return token.length >= minTokenLength ? [token] : [];
}

function valueTexts(value: string): string[] {
  return [...new Set([value, value.trim()])].filter((text) => text.length >= minValueLength);
}

function linesOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line.length >= minValueLength);
}

/** Columns after which the usual encoders begin a new line. */
const wrapColumns = [64, 76];

/** The lines of base64 of a text that is too long for one. */
function wrappedForms(text: string): string[] {
  const encoded = Buffer.from(text).toString('base64').replace(/=+$/, '');
  const lines = wrapColumns.flatMap((columns) => encoded.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []);
  return lines.filter((line) => line.length >= minValueLength);
}

function forms(texts: string[]): string[] {
  return [...new Set(texts.flatMap((text) => [...needles(text), ...urlForms(text)]))];
}

function needles(text: string): string[] {
  return [text, ...base64Forms(Buffer.from(text))];
}

/** Characters that the encoders of the usual languages leave as they are. */
const unescaped = [
  /[\w.~!*'()-]/,
  /[\w.~-]/,
  /[\w.~/-]/,
  /[\w.~;/?:@&=+$,#!*'()-]/,
  /[\w.*-]/,
  /[A-Za-z0-9]/,
  /(?!)/,
];

function urlForms(text: string): string[] {
  const bytes = [...Buffer.from(text)];
  const upper = unescaped.map((kept) => bytes.map((byte) => escaped(byte, kept)).join(''));
  const both = upper.flatMap((form) => [form, form.replace(/%../g, (code) => code.toLowerCase())]);
  return both.flatMap((form) => [form, form.replaceAll('%20', '+')]);
}

function escaped(byte: number, kept: RegExp): string {
  const char = String.fromCharCode(byte);
  return byte < 128 && kept.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
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
