import type { Node } from 'yaml';
import { quote } from './node.ts';
import type { Problems } from './problems.ts';

const standard = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Tags that would make an object of another language, or that stand for a value copied from elsewhere, are
 * faults; any other tag of the user's own is skipped and its value kept.
 */
export function checkTag(node: Node, { offset, problems }: { offset: number; problems: Problems }): void {
  const { tag } = node;
  if (!tag || standard.has(tag) || tag === '!') return;
  if (tag === '!reference') {
    const message = '"!reference" is not supported by this server (use an anchor and an alias)';
    problems.error({ kind: 'key.unsupported', path: '', message, offset });
    return;
  }
  if (tag.startsWith('tag:') || tag.includes('/') || tag.includes('object')) {
    problems.error({ kind: 'yaml.tag', path: '', message: `tag ${quote(tag)} is not supported`, offset });
    return;
  }
  problems.warn({ kind: 'yaml.tag', path: '', message: `tag ${quote(tag)} is ignored`, offset });
}
