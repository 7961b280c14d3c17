import { isUtf8 } from 'node:buffer';
import { notText } from '../errors.ts';

/** Names of the parameters that can have several values. */
export type ListNames = ReadonlySet<string>;

const none: ListNames = new Set();

/**
 * Parameters of a query string or an urlencoded body: `a=1&b[]=2&b[]=3&c[key]=4` →
 * `{a: '1', b: ['2', '3'], c: {key: '4'}}`. Empty pairs and broken escapes do no harm.
 *
 * @param lists `b=2&b=3` is a list for these; of all others the last value counts.
 * @throws AppError 400 when what is escaped is no UTF-8: it would be changed without a word.
 */
export function parseQueryString(query: string, lists: ListNames = none): Record<string, unknown> {
  if (!isText(query)) throw notText();
  return parseLooseQueryString(query, lists);
}

/** As `parseQueryString`, with U+FFFD in place of what is no UTF-8. */
export function parseLooseQueryString(query: string, lists: ListNames = none): Record<string, unknown> {
  return parametersOf(new URLSearchParams(query), lists);
}

/** As `parseQueryString`, from pairs of name and value. One level of brackets. */
export function parametersOf(pairs: Iterable<[string, string]>, lists: ListNames): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, value] of pairs) {
    const match = /^([^[\]]+)\[([^[\]]*)\]$/.exec(key);
    if (match?.[1]) addNested(result, match[1], { index: match[2] ?? '', value });
    else if (lists.has(key) && result[key] !== undefined) addRepeated(result, key, value);
    else if (key !== '') result[key] = value;
  }
  return result;
}

/** A value that comes alone stays a text: it may hold several with commas between them. */
function addRepeated(result: Record<string, unknown>, name: string, value: string): void {
  const present = result[name];
  if (Array.isArray(present)) present.push(value);
  else result[name] = [present, value];
}

function addNested(
  result: Record<string, unknown>,
  name: string,
  { index, value }: { index: string; value: string },
): void {
  const present = result[name];
  if (index === '' || /^\d+$/.test(index)) {
    if (Array.isArray(present)) present.push(value);
    else result[name] = [value];
    return;
  }
  const map: Record<string, unknown> =
    typeof present === 'object' && present !== null && !Array.isArray(present)
      ? (present as Record<string, unknown>)
      : Object.create(null);
  map[index] = value;
  result[name] = map;
}

/** Whether the escaped bytes are UTF-8. What is not escaped says nothing of the bytes around it. */
function isText(query: string): boolean {
  if (!/%[89a-f]/i.test(query)) return true;
  const bytes = query
    .replace(/[^\0-\x7f]/g, ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return isUtf8(Buffer.from(bytes, 'latin1'));
}
