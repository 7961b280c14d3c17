import { quote } from './node.ts';

export interface PushOptions {
  /** The refs of the push start no builds. */
  skipCi: boolean;
  /** Options about pipelines that mean nothing here; their author should hear of it. */
  unknown: string[];
}

/** Reads what `git push -o …` sent. Options that are not about pipelines are somebody else's. */
export function readPushOptions(options: string[]): PushOptions {
  const ours = options.filter((option) => option.startsWith('ci.'));
  const unknown = ours
    .filter((option) => option !== 'ci.skip')
    .map((option) => option.split('=')[0] ?? option);
  return { skipCi: ours.includes('ci.skip'), unknown: unknown.map(quote) };
}
