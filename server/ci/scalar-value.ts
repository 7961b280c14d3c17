import type { Scalar } from 'yaml';
import type { ScalarNode } from './node.ts';

const wholeNumber = /^[-+]?(?:0|[1-9][0-9]*|0[0-7]+|0x[0-9a-f]+)$/i;
const fraction = /^[-+]?(?:[0-9]*\.[0-9]+|[0-9]+\.)(?:e[-+][0-9]+)?$/i;
const unbounded = /^(?:-?\.inf|\.nan)$/i;

/**
 * The value of a scalar in the first version of YAML, by which these files were first read: `0755` is a number,
 * but `08`, `0o17` and `1e3` are text. Left as text are numbers with separators or colons, dates, and the words
 * `yes`, `no`, `on` and `off`: only readers that want a boolean take those for one.
 */
export function scalarValue({ value, type, tag }: Scalar): ScalarNode['value'] {
  const text = String(value ?? '');
  if (tag?.startsWith('tag:yaml.org,2002:')) return valueByTag(tag, text);
  if (type !== 'PLAIN' || tag) return text;
  if (text === '' || text === '~' || /^null$/i.test(text)) return null;
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  const isNumber = wholeNumber.test(text) || fraction.test(text) || unbounded.test(text);
  return isNumber ? Number(text) : withoutSymbolSign(text);
}

function valueByTag(tag: string, text: string): ScalarNode['value'] {
  if (tag.endsWith(':null')) return null;
  if (tag.endsWith(':bool')) return /^(?:true|yes|on)$/i.test(text);
  return tag.endsWith(':int') || tag.endsWith(':float') ? Number(text) : text;
}

/** Old files write names as `:image`, a notation of the language the first processor was written in. */
function withoutSymbolSign(text: string): string {
  return /^:./s.test(text) && !text.includes('\n') ? text.slice(1) : text;
}
