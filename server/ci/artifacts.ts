import { DurationError, parseDuration } from '../../shared/duration.ts';
import type { ArtifactOptions } from '../../shared/protocol/build.ts';
import {
  choice,
  flag,
  ignored,
  type Keyword,
  mapping,
  optional,
  type Reader,
  text,
  textList,
  textOrNumber,
  unsupported,
} from './readers.ts';

const readExpiry = textOrNumber('duration.type');

/** Text of a duration, or `never`. */
const expiry: Reader<string> = (node, at) => {
  const value = readExpiry(node, at);
  if (value === undefined || value === 'never') return value;
  try {
    if (parseDuration(value) !== null) return value;
    at.error('duration.parse', node, 'must be more than zero seconds');
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    at.error('duration.parse', node, error.message);
  }
  return undefined;
};

/** Reports are only shown, except for the one that hands variables on. */
const reports: Keyword<null> = optional((node, at) => {
  const dotenv = node.kind === 'map' ? node.entries.get('dotenv') : undefined;
  if (!dotenv) at.warn('key.ignored', node, 'is ignored: reports are not stored, list the files in paths');
  else
    at.child('dotenv').error(
      'key.unsupported',
      dotenv.key,
      '"dotenv" is not supported by this server (use a file)',
    );
  return null;
});

const form = mapping('artifacts', {
  name: optional(text('artifacts.name.type')),
  untracked: optional(flag('artifacts.untracked.type')),
  paths: optional(textList('artifacts.paths.type')),
  when: optional(choice('artifacts.when.value', ['on_success', 'on_failure', 'always'] as const)),
  expire_in: optional(expiry),
  reports,
  exclude: unsupported('name the wanted files in paths'),
  expose_as: ignored('merge requests show no links to artifacts'),
  public: ignored('artifacts are visible like the builds of the project'),
  access: ignored('artifacts are visible like the builds of the project'),
});

/** `artifacts` of a job; keys that were not given are absent. */
export const artifacts: Reader<ArtifactOptions> = (node, at) => {
  const values = form(node, at);
  if (!values) return undefined;
  const expireIn = values.expire_in === 'never' ? null : values.expire_in;
  return {
    ...(values.name !== null && { name: values.name }),
    ...(values.untracked !== null && { untracked: values.untracked }),
    ...(values.paths !== null && { paths: values.paths }),
    ...(values.when !== null && { when: values.when }),
    ...(expireIn !== null && { expire_in: expireIn }),
  };
};
