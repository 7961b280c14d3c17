import type { CacheOptions } from '../../shared/protocol/build.ts';
import { flag, ignored, mapping, optional, type Reader, textList, textOrNumber } from './readers.ts';

const readKey = textOrNumber('cache.key.type');

const key: Reader<string | null> = (node, at) => {
  if (node.kind !== 'map') return readKey(node, at);
  at.warn(
    'key.ignored',
    node,
    'is ignored: keys made from files are not supported yet, the default key is used',
  );
  return null;
};

const form = mapping('cache', {
  key: optional(key),
  untracked: optional(flag('cache.untracked.type')),
  paths: optional(textList('cache.paths.type')),
  policy: ignored('the cache is both fetched and saved'),
  when: ignored('the cache is saved after success'),
  fallback_keys: ignored('only the own key is looked up'),
  unprotect: ignored('all refs share the cache'),
});

/** `cache` of the file or of a job: one mapping, also as the only item of a list. Empty means: none. */
export const cache: Reader<CacheOptions> = (node, at) => {
  const [first, ...more] = node.kind === 'list' ? node.items : [node];
  if (!first) return {};
  if (more.length > 0 && first.kind === 'map') {
    at.error('key.unsupported', node, 'several caches are not supported by this server (use one)');
    return undefined;
  }
  const values = form(first, at);
  if (!values) return undefined;
  return {
    ...(values.key !== null && { key: values.key }),
    ...(values.untracked !== null && { untracked: values.untracked }),
    ...(values.paths !== null && { paths: values.paths }),
  };
};
