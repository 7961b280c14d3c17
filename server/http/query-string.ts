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

/**
 * Parameters from pairs of name and value; of two plain values the last one wins, but for lists. One level of
 * brackets, or two of a list of maps: `a[][key]`, where a key that comes again begins the next map, and `a[0][key]`.
 */
export function parametersOf(pairs: Iterable<[string, string]>, lists: ListNames): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  const maps = new Map<string, Record<string, unknown>>();
  for (const [name, value] of pairs) {
    const [, list, index, key] = /^([^[\]]+)\[(\d*)\]\[([^[\]]+)\]$/.exec(name) ?? [];
    const match = /^([^[\]]+)\[([^[\]]*)\]$/.exec(name);
    if (list && key) mapIn(result, maps, { list, index: index ?? '', key })[key] = value;
    else if (match?.[1]) addNested(result, match[1], { index: match[2] ?? '', value });
    else if (lists.has(name) && result[name] !== undefined) addRepeated(result, name, value);
    else if (name !== '') result[name] = value;
  }
  return result;
}

/** @returns the map of a list that is to get a key. */
function mapIn(
  result: Record<string, unknown>,
  maps: Map<string, Record<string, unknown>>,
  { list, index, key }: { list: string; index: string; key: string },
): Record<string, unknown> {
  const place = `${list}[${index}]`;
  const present = maps.get(place);
  if (present && !(index === '' && key in present)) return present;
  const map: Record<string, unknown> = Object.create(null);
  maps.set(place, map);
  const items = result[list];
  if (Array.isArray(items)) items.push(map);
  else result[list] = [map];
  return map;
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
