import { type CiNode, describe, isNull, type MapNode, quote } from './node.ts';
import type { Place } from './problems.ts';
import { nearest } from './suggest.ts';

/** Reads a value that is not null. Undefined: the fault has been reported. */
export type Reader<T> = (node: CiNode, at: Place) => T | undefined;

/** One row of a table of keys; `fallback` stands when the key is absent or null. */
export interface Keyword<T> {
  read: Reader<T>;
  fallback: T;
}

export type KeywordTable = Record<string, Keyword<unknown>>;

export type ValuesOf<T extends KeywordTable> = { [K in keyof T]: T[K] extends Keyword<infer V> ? V : never };

export function optional<T>(read: Reader<T>): Keyword<T | null> {
  return { read, fallback: null };
}

export function withDefault<T>(read: Reader<T>, fallback: T): Keyword<T> {
  return { read, fallback };
}

/** A key that would change what runs, or with which rights: skipping it silently would be dangerous. */
export function unsupported(hint: string): Keyword<null> {
  return { read: (node, at) => reject(node, at, hint), fallback: null };
}

function reject(node: CiNode, at: Place, hint: string): undefined {
  const key = at.path.slice(at.path.lastIndexOf(':') + 1);
  at.error('key.unsupported', node, `"${key}" is not supported by this server (${hint})`);
}

/** A key that only affects display or speed: the pipeline runs without it. */
export function ignored(hint: string): Keyword<null> {
  return optional((node, at) => {
    at.warn('key.ignored', node, `is ignored: ${hint}`);
    return null;
  });
}

interface MappingRequest<T extends KeywordTable> {
  node: MapNode;
  table: T;
  at: Place;
  /** Kind of the fault for a key that is not in the table. */
  unknownKind: string;
}

/** Reads every key of a mapping by its row of the table. */
export function readMapping<T extends KeywordTable>(request: MappingRequest<T>): ValuesOf<T> {
  const { node, table, at, unknownKind } = request;
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(table)) values[key] = row.fallback;
  for (const key of node.duplicates)
    at.child(key.text).warn('key.duplicate', key, 'is given twice, the last one counts');
  for (const [key, entry] of node.entries) {
    const row = Object.hasOwn(table, key) ? table[key] : undefined;
    if (at.problems.isFull) break;
    if (entry.key.isCollection) at.error('yaml.key', entry.key, 'a key must be text');
    else if (!row) at.error(unknownKind, entry.key, unknownKey(key, Object.keys(table)));
    else if (!isNull(entry.value)) values[key] = row.read(entry.value, at.child(key)) ?? row.fallback;
  }
  return values as ValuesOf<T>;
}

/** Text for a key that no table knows, with the known key that was probably meant. */
export function unknownKey(key: string, known: string[]): string {
  if (key === '<<') return '"<<" needs a mapping or a list of mappings';
  const meant = nearest(key, known);
  return `unknown key ${quote(key)}${meant ? `, did you mean "${meant}"?` : ''}`;
}

/** A mapping whose keys are those of `table`. Faults: `<kind>.type`, `<kind>.key.unknown`. */
export function mapping<T extends KeywordTable>(kind: string, table: T): Reader<ValuesOf<T>> {
  return (node, at) => {
    if (node.kind === 'map') return readMapping({ node, table, at, unknownKind: `${kind}.key.unknown` });
    return wrongType({ kind: `${kind}.type`, wanted: 'a mapping', node, at });
  };
}

export function wrongType(fault: { kind: string; wanted: string; node: CiNode; at: Place }): undefined {
  const { kind, wanted, node, at } = fault;
  at.error(kind, node, `must be ${wanted}, not ${describe(node)}`);
}

export function text(kind: string): Reader<string> {
  return (node, at) => {
    if (node.kind === 'scalar' && typeof node.value === 'string') return node.value;
    return wrongType({ kind, wanted: 'text', node, at });
  };
}

/** Text, or a number taken as it is written. */
export function textOrNumber(kind: string): Reader<string> {
  return (node, at) => {
    if (node.kind === 'scalar' && (typeof node.value === 'string' || typeof node.value === 'number'))
      return node.text;
    return wrongType({ kind, wanted: 'text', node, at });
  };
}

const flagWords = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
]);

/** A boolean, also in the words of YAML 1.1, which other readers take as text. */
export function flag(kind: string): Reader<boolean> {
  return (node, at) => {
    if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value;
    const word = node.kind === 'scalar' && node.plain ? flagWords.get(node.text.toLowerCase()) : undefined;
    return word ?? wrongType({ kind, wanted: 'true or false', node, at });
  };
}

export function choice<T extends string>(kind: string, allowed: readonly T[]): Reader<T> {
  return (node, at) => {
    const value = node.kind === 'scalar' ? node.value : null;
    const found = allowed.find((word) => word === value);
    if (found === undefined) at.error(kind, node, `must be one of ${allowed.join(', ')}`);
    return found;
  };
}

interface ListOptions<T> {
  kind: string;
  read: Reader<T>;
  /** What to do with a text that stands alone. */
  single?: 'accept' | 'warn' | 'reject';
}

/** A list; undefined when one of its items is faulty, after all have been looked at. */
export function listOf<T>({ kind, read, single = 'reject' }: ListOptions<T>): Reader<T[]> {
  return (node, at) => {
    const isAlone = node.kind === 'scalar' && typeof node.value === 'string' && single !== 'reject';
    if (isAlone && single === 'warn') at.warn(kind, node, 'is text, taken as a list of one item');
    if (node.kind !== 'list' && !isAlone) return wrongType({ kind, wanted: 'a list of text', node, at });
    const items = node.kind === 'list' ? node.items : [node];
    const values: T[] = [];
    for (const item of items) {
      const value = read(item, at);
      if (value !== undefined) values.push(value);
    }
    return values.length === items.length ? values : undefined;
  };
}

/** A list of text; every fault has the same kind. */
export function textList(kind: string): Reader<string[]> {
  return listOf({ kind, read: text(kind) });
}
