/**
 * Values of the file with their place, after aliases and merge keys are resolved. Nodes are shared, never
 * changed.
 */
export type CiNode = ScalarNode | ListNode | MapNode;

/** What a node amounts to when every alias below it is written out. */
export interface Measure {
  size: number;
  aliases: number;
  depth: number;
}

export interface ScalarNode {
  kind: 'scalar';
  offset: number;
  value: string | number | boolean | null;
  /** As written, so that `3.10` and `0755` keep their digits. */
  text: string;
  /** Neither quoted nor a block: only then is `yes` a boolean. */
  plain: boolean;
  /** True for a key that is a list or mapping, which only hidden jobs may have. */
  isCollection?: true;
  measure: Measure;
}

export interface ListNode {
  kind: 'list';
  offset: number;
  items: CiNode[];
  measure: Measure;
}

export interface Entry {
  key: ScalarNode;
  value: CiNode;
}

export interface MapNode {
  kind: 'map';
  offset: number;
  entries: Map<string, Entry>;
  /** Keys written again in the same mapping; the last one counts. */
  duplicates: ScalarNode[];
  measure: Measure;
}

export function isNull(node: CiNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** The kind of value in words, for messages. */
export function describe(node: CiNode): string {
  if (node.kind === 'list') return 'a list';
  if (node.kind === 'map') return 'a mapping';
  if (node.value === null) return 'empty';
  if (typeof node.value === 'string') return 'text';
  return `a ${typeof node.value}`;
}

/** User text for a message: quoted, and cut so that a long name does not fill the screen. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
