import type { BuildPayload, BuildVariable } from '../../shared/protocol/build.ts';
import { ExecutorError } from '../executor/executor-error.ts';
import { choiceVariable, numberVariable, wordsVariable } from './control-variables.ts';

export type Strategy = 'clone' | 'fetch' | 'none';

/** How the job wants its sources. */
export interface SourceSettings {
  strategy: Strategy;
  /** Commits of history; 0 means all. */
  depth: number;
  submodules: 'none' | 'normal' | 'recursive';
  /** Without it the working copy stays as it is. */
  checksOut: boolean;
  /** For `git clean`; null leaves everything where it is. */
  cleanFlags: string[] | null;
  fetchFlags: string[];
}

export interface SourceSettingsRequest {
  build: Pick<BuildPayload, 'allow_git_fetch'>;
  variables: BuildVariable[];
  warn(text: string): void;
}

/**
 * Reads the variables of the job.
 *
 * @throws ExecutorError of the job for a value that cannot be.
 */
export function sourceSettings(request: SourceSettingsRequest): SourceSettings {
  const { variables, warn } = request;
  const read = { variables, warn };
  const modes = ['none', 'normal', 'recursive'] as const;
  const cleanFlags = wordsVariable(variables, 'GIT_CLEAN_FLAGS') ?? ['-ffdx'];
  return {
    strategy: gitStrategy(request),
    depth: numberVariable({ ...read, key: 'GIT_DEPTH' }, { fallback: 0, min: 0, max: 999_999_999 }),
    submodules: choiceVariable({ variables, key: 'GIT_SUBMODULE_STRATEGY' }, modes) ?? 'none',
    checksOut: choiceVariable({ variables, key: 'GIT_CHECKOUT' }, ['true', 'false']) !== 'false',
    cleanFlags: cleanFlags.length > 0 ? cleanFlags : null,
    fetchFlags: fetchFlags(variables),
  };
}

/** How the sources are to be brought: the job's variable, else the project's setting. */
export function gitStrategy({ build, variables }: Omit<SourceSettingsRequest, 'warn'>): Strategy {
  const choices = ['clone', 'fetch', 'none'] as const;
  const wanted = choiceVariable({ variables, key: 'GIT_STRATEGY' }, choices);
  return wanted ?? (build.allow_git_fetch ? 'fetch' : 'clone');
}

const switches = new Set([
  ...['atomic', 'force', 'ipv4', 'ipv6', 'keep', 'progress', 'prune', 'prune-tags', 'quiet', 'refetch'],
  ...['show-forced-updates', 'tags', 'update-shallow', 'verbose'].flatMap((name) => [name, `no-${name}`]),
  ...['no-auto-gc', 'no-auto-maintenance', 'no-progress', 'no-prune', 'no-prune-tags'],
  'no-recurse-submodules',
]);
const settings = new Set(['deepen', 'depth', 'jobs', 'shallow-exclude', 'shallow-since']);

/**
 * Options for `git fetch` that the job adds. Only those that are known to change nothing but the fetch: others run
 * programs on this host, or fetch from elsewhere. What is no option would be taken for an address.
 */
function fetchFlags(variables: BuildVariable[]): string[] {
  const words = wordsVariable(variables, 'GIT_FETCH_EXTRA_FLAGS') ?? [];
  const refused = words.find((word) => !isHarmless(word));
  if (refused === undefined) return words;
  throw new ExecutorError('user', `GIT_FETCH_EXTRA_FLAGS must not hold "${refused}"`);
}

function isHarmless(word: string): boolean {
  if (/^-([pPtnfkqv46]+|j\d+)$/.test(word)) return true;
  const [, name = '', value] = /^--([a-z0-9-]+)(=.+)?$/.exec(word) ?? [];
  return (value === undefined ? switches : settings).has(name);
}
