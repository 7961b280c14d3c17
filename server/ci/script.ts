import { limits } from './limits.ts';
import { type CiNode, isNull, type ScalarNode } from './node.ts';
import type { Place } from './problems.ts';
import { type Reader, wrongType } from './readers.ts';

/** Commands: text or a list of text, lists inside lists flattened, items kept verbatim. */
export const script: Reader<string[]> = (node, at) => {
  if (node.kind === 'scalar' && typeof node.value === 'string') return [node.value];
  if (node.kind !== 'list')
    return wrongType({ kind: 'script.type', wanted: 'text or a list of text', node, at });
  const commands: string[] = [];
  const isGood = collect({ items: node.items, at, commands, nesting: 0 });
  return isGood ? commands : undefined;
};

interface Collection {
  items: CiNode[];
  at: Place;
  commands: string[];
  nesting: number;
}

function collect({ items, at, commands, nesting }: Collection): boolean {
  if (nesting > limits.scriptNesting) {
    at.error(
      'script.depth',
      items[0] ?? { offset: 0 },
      `lists nested more than ${limits.scriptNesting} levels`,
    );
    return false;
  }
  let isGood = true;
  for (const item of items) {
    if (item.kind === 'list') {
      isGood = collect({ items: item.items, at, commands, nesting: nesting + 1 }) && isGood;
    } else if (item.kind === 'scalar' && !isNull(item)) {
      commands.push(command(item, at));
    } else {
      isGood = false;
      reportItem(item, at);
    }
  }
  return isGood;
}

function command(item: ScalarNode, at: Place): string {
  if (typeof item.value !== 'string')
    at.warn('script.item.type', item, `is a ${typeof item.value}, taken as text`);
  return item.text;
}

function reportItem(item: CiNode, at: Place): void {
  if (item.kind === 'map') {
    at.error('script.map', item, 'item was read as a mapping because it contains ": ", quote the whole line');
    return;
  }
  wrongType({ kind: 'script.type', wanted: 'text or a list of text', node: item, at });
}
