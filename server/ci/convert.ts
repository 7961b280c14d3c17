import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { limits } from './limits.ts';
import type { CiNode, Entry, ListNode, MapNode, Measure, ScalarNode } from './node.ts';
import type { Problems } from './problems.ts';
import { scalarValue } from './scalar-value.ts';
import { checkTag } from './tags.ts';

const mergeKey = '<<';

/** Turns a YAML syntax tree of `text` into nodes, following aliases and merge keys. Faults go to `problems`. */
export function convertTree(
  contents: unknown,
  { text, problems }: { text: string; problems: Problems },
): CiNode {
  const endsInLine = /\S/.test(text.slice(text.lastIndexOf('\n') + 1));
  return new Conversion(problems, endsInLine ? text.length : null).node(contents, 0);
}

/**
 * State of one walk: YAML lets an anchor be defined again, so aliases have to be resolved in document
 * order.
 */
class Conversion {
  private readonly problems: Problems;
  /** Where the text ends, if it does so within a line. */
  private readonly openEnd: number | null;
  /** Null while the anchored node itself is being walked. */
  private readonly anchors = new Map<string, CiNode | null>();
  private aliases = 0;
  private aliasedSize = 0;
  private stopped = false;

  constructor(problems: Problems, openEnd: number | null) {
    this.problems = problems;
    this.openEnd = openEnd;
  }

  node(source: unknown, parentOffset: number): CiNode {
    if (this.stopped) return scalar({ offset: parentOffset, value: null, text: '' });
    if (isAlias(source)) return this.alias(source);
    if (!isScalar(source) && !isMap(source) && !isSeq(source)) {
      return scalar({ offset: parentOffset, value: null, text: '' });
    }
    if (source.anchor) this.anchors.set(source.anchor, null);
    checkTag(source, { offset: offsetOf(source, parentOffset), problems: this.problems });
    const node = this.plainNode(source, offsetOf(source, parentOffset));
    if (source.anchor) this.anchors.set(source.anchor, node);
    if (node.measure.depth > limits.depth) {
      this.stop('yaml.depth', `nested more than ${limits.depth} levels deep`, node.offset);
    }
    return node;
  }

  private plainNode(source: Scalar | YAMLMap | YAMLSeq, offset: number): CiNode {
    if (isMap(source)) return this.map(source, offset);
    if (isSeq(source)) return this.list(source, offset);
    return this.scalar(source, offset);
  }

  private scalar(source: Scalar, offset: number): ScalarNode {
    const isOpen = source.type?.startsWith('BLOCK') && source.range?.[1] === this.openEnd;
    const read = scalarValue(source);
    // The parser ends every block with a line break, but one at the end of the text has only what stands there.
    const value = isOpen && typeof read === 'string' ? read.replace(/\n$/, '') : read;
    const text = typeof value === 'string' ? value : (source.source ?? '');
    // Neither a process environment nor the database can hold it.
    if (text.includes('\0')) this.fail('yaml.character', 'contains a NUL character', offset);
    return scalar({ offset, value, text, plain: source.type === 'PLAIN' });
  }

  private list(source: YAMLSeq, offset: number): ListNode {
    const items = source.items.map((item) => this.node(item, offset));
    return { kind: 'list', offset, items, measure: sum(items) };
  }

  private map(source: YAMLMap, offset: number): MapNode {
    const entries = new Map<string, Entry>();
    const duplicates: ScalarNode[] = [];
    const own = new Set<string>();
    let merges = 0;
    for (const pair of source.items) {
      const entry = this.entry(pair, offset);
      const name = entry.key.text;
      // Like an assignment where it stands: it overrides the keys above it, and those below override it.
      if (name === mergeKey && assign(entries, entry.value)) {
        merges += 1;
        continue;
      }
      if (own.has(name)) duplicates.push(entry.key);
      own.add(name);
      entries.set(name, entry);
    }
    const parts = [...entries.values()].flatMap(({ key, value }) => [key, value]);
    const measure = sum(parts);
    measure.aliases += merges;
    return { kind: 'map', offset, entries, duplicates, measure };
  }

  private entry(pair: Pair, offset: number): Entry {
    const given = this.node(pair.key, offset);
    const value = this.node(pair.value, given.offset);
    return { key: given.kind === 'scalar' ? given : complexKey(given), value };
  }

  private alias(source: Alias): CiNode {
    const offset = offsetOf(source, 0);
    const target = this.anchors.get(source.source);
    if (target) return this.follow(target, offset);
    const problem =
      target === null ? `alias ${source.source} contains itself` : `unknown alias ${source.source}`;
    this.fail('yaml.alias', problem, offset);
    return scalar({ offset, value: null, text: '' });
  }

  /**
   * Counts what an alias stands for, aliases inside it included, so that a few lines cannot grow without
   * bound.
   */
  private follow(target: CiNode, offset: number): CiNode {
    const measure = { ...target.measure, aliases: target.measure.aliases + 1 };
    this.aliases += measure.aliases;
    this.aliasedSize += measure.size;
    if (this.aliases > limits.aliases)
      this.stop('yaml.aliases', `uses more than ${limits.aliases} aliases`, offset);
    if (this.aliasedSize > limits.expandedSize) {
      this.stop('file.size', `grows beyond ${limits.expandedSize} characters with its aliases`, offset);
    }
    return { ...target, measure };
  }

  private stop(kind: string, message: string, offset: number): void {
    if (!this.stopped) this.fail(kind, message, offset);
    this.stopped = true;
  }

  private fail(kind: string, message: string, offset: number): void {
    this.problems.error({ kind, path: '', message, offset });
  }
}

/** Copies what a merge key brings. False when its value cannot be merged; it is then a key like any other. */
function assign(entries: Map<string, Entry>, value: CiNode): boolean {
  if (value.kind === 'map') {
    for (const [name, entry] of value.entries) entries.set(name, entry);
    return true;
  }
  if (value.kind !== 'list') return false;
  const maps = value.items.filter((item) => item.kind === 'map');
  if (maps.length !== value.items.length) return false;
  // Inside one list the earlier mapping wins.
  for (const map of maps.reverse()) assign(entries, map);
  return true;
}

/** Nobody knows a list or mapping as key, but hidden jobs may hold what they like. */
function complexKey({ offset, kind, measure }: CiNode): ScalarNode {
  const text = `${kind} at ${offset}`;
  return { kind: 'scalar', offset, value: null, text, plain: false, isCollection: true, measure };
}

function scalar(parts: Omit<ScalarNode, 'kind' | 'measure' | 'plain'> & { plain?: boolean }): ScalarNode {
  const measure = { size: parts.text.length + 1, aliases: 0, depth: 0 };
  return { kind: 'scalar', plain: true, ...parts, measure };
}

function sum(nodes: CiNode[]): Measure {
  const total = { size: 1, aliases: 0, depth: 0 };
  for (const { measure } of nodes) {
    total.size += measure.size;
    total.aliases += measure.aliases;
    total.depth = Math.max(total.depth, measure.depth);
  }
  total.depth += 1;
  return total;
}

function offsetOf(source: { range?: [number, number, number] | null | undefined }, fallback: number): number {
  return source.range?.[0] ?? fallback;
}
