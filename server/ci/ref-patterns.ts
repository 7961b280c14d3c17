import type { RefPattern } from './config.ts';
import { limits } from './limits.ts';
import type { Problems } from './problems.ts';
import { listOf, mapping, optional, type Reader, text, unsupported } from './readers.ts';
import { compilePattern, PatternError } from './regex.ts';

/** Words that stand for events which never start a pipeline here; kept so that their authors are told. */
const foreignSources = new Set([
  'schedules',
  'pipelines',
  'merge_requests',
  'external',
  'chat',
  'external_pull_requests',
]);

/**
 * Reads `only` or `except`: a list of refs, a single one, or a mapping with `refs`. Null when it lists
 * nothing.
 */
export function refPatterns(kind: 'only' | 'except'): Reader<RefPattern[] | null> {
  const refs = listOf({ kind: `${kind}.type`, read: refPattern(kind), single: 'accept' });
  const form = mapping(kind, {
    refs: optional(refs),
    variables: unsupported('use refs'),
    changes: unsupported('use refs'),
    kubernetes: unsupported('remove it'),
  });
  return (node, at) => {
    const patterns = node.kind === 'map' ? form(node, at)?.refs : refs(node, at);
    return patterns && patterns.length > 0 ? patterns : null;
  };
}

function refPattern(kind: string): Reader<RefPattern> {
  const readText = text(`${kind}.type`);
  return (node, at) => {
    const item = readText(node, at);
    if (item === undefined) return undefined;
    const pattern = parseRefPattern(item);
    if (pattern.project !== null && /^\/.*\/$/s.test(item)) {
      at.warn(`${kind}.at`, node, 'the expression ends at its first "@", write \\x40 instead');
    }
    if (foreignSources.has(pattern.text)) {
      at.warn(
        `${kind}.source`,
        node,
        `nothing starts a pipeline by "${pattern.text}", taken as the name of a ref`,
      );
    }
    const fault = pattern.regex ? faultOf(pattern.regex, at.problems) : null;
    if (fault) at.error(`${kind}.regex`, node, fault);
    return pattern;
  };
}

/** Splits `<ref or /expression/>[@<project path>]`. */
export function parseRefPattern(item: string): RefPattern {
  const at = item.indexOf('@');
  const text = at < 0 ? item : item.slice(0, at);
  const [, source, letter] = /^\/(.*)\/(i?)$/s.exec(text) ?? [];
  const regex = source === undefined ? null : { source, ignoreCase: letter === 'i' };
  return { text, regex, project: at < 0 ? null : item.slice(at + 1) };
}

/** Results per file: anchors make the same expression appear in many jobs. */
const faultsByFile = new WeakMap<Problems, Map<string, string | null>>();

function faultOf(regex: { source: string; ignoreCase: boolean }, problems: Problems): string | null {
  const faults = faultsByFile.get(problems) ?? new Map<string, string | null>();
  faultsByFile.set(problems, faults);
  const key = `${regex.ignoreCase}${regex.source}`;
  const known = faults.get(key);
  if (known !== undefined) return known;
  const fault =
    faults.size < limits.patterns ? tryCompile(regex) : `file has more than ${limits.patterns} expressions`;
  faults.set(key, fault);
  return fault;
}

function tryCompile(regex: { source: string; ignoreCase: boolean }): string | null {
  try {
    compilePattern(regex);
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}
