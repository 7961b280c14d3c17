import { isUtf8 } from 'node:buffer';
import { notText } from '../errors.ts';

/**
 * Parameters of a query string or an urlencoded body: `a=1&b[]=2&b[]=3&c[key]=4` →
 * `{a: '1', b: ['2', '3'], c: {key: '4'}}`. Empty pairs and broken escapes do no harm.
 *
 * @throws AppError 400 when what is escaped is no UTF-8: it would be changed without a word.
 */
export function parseQueryString(query: string): Record<string, unknown> {
  if (!isText(query)) throw notText();
  return parseLooseQueryString(query);
}

/** As `parseQueryString`, with U+FFFD in place of what is no UTF-8. */
export function parseLooseQueryString(query: string): Record<string, unknown> {
  return parametersOf(new URLSearchParams(query));
}

/** Parameters from pairs of name and value. One level of brackets; the last of two plain values wins. */
export function parametersOf(pairs: Iterable<[string, string]>): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, value] of pairs) {
    const match = /^([^[\]]+)\[([^[\]]*)\]$/.exec(key);
    if (match?.[1]) addNested(result, match[1], { index: match[2] ?? '', value });
    else if (key !== '') result[key] = value;
  }
  return result;
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
