import { type CiNode, isNull, type MapNode } from './node.ts';
import type { Place } from './problems.ts';
import { flag, ignored, mapping, optional, type Reader, wrongType } from './readers.ts';

const form = mapping('variables', {
  value: optional(scalarText),
  expand: optional(flag('variables.expand.type')),
  description: optional(anything),
  options: ignored('forms for starting a pipeline by hand are not shown'),
});

/** A mapping of names to texts; numbers and booleans count as they are written. */
export const variables: Reader<Record<string, string>> = (node, at) => {
  if (node.kind !== 'map')
    return wrongType({ kind: 'variables.type', wanted: 'a mapping of names to text', node, at });
  reportDuplicates(node, at);
  const values: Record<string, string> = Object.create(null);
  for (const [name, { key, value }] of node.entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      at.child(name).warn(
        'variables.name',
        key,
        'a name consists of letters, digits and _, and starts with no digit',
      );
    }
    const text = value.kind === 'map' ? formValue(value, at.child(name)) : scalarText(value, at.child(name));
    if (text !== undefined) values[name] = text;
  }
  return values;
};

function reportDuplicates(node: MapNode, at: Place): void {
  for (const key of node.duplicates)
    at.child(key.text).warn('key.duplicate', key, 'is given twice, the last one counts');
}

function scalarText(node: CiNode, at: Place): string | undefined {
  if (node.kind !== 'scalar') return wrongType({ kind: 'variables.value.type', wanted: 'text', node, at });
  return isNull(node) ? '' : node.text;
}

function formValue(node: MapNode, at: Place): string | undefined {
  const values = form(node, at);
  if (!values) return undefined;
  const value = values.value ?? '';
  // Runners expand every value once; doubling the sign is how a value asks not to be.
  return values.expand === false ? value.replaceAll('$', '$$$$') : value;
}

function anything(): null {
  return null;
}
