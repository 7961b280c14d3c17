import type { RE2JS } from 're2js';
import type { CiConfig, CiJob, RefPattern } from './config.ts';
import { compilePattern, type Pattern, PatternError } from './regex.ts';

export interface RefContext {
  /** Short name of the branch or tag. */
  ref: string;
  tag: boolean;
  /** True when the trigger API asked for the pipeline. */
  trigger: boolean;
  /** Full path with namespace; compared in its case. */
  projectPath: string;
}

/** The jobs of a file that run for a ref, in file order: `only` lets in, then `except` leaves out. */
export function jobsForRef(config: Pick<CiConfig, 'jobs'>, context: RefContext): CiJob[] {
  const matcher = new RefMatcher(context);
  return config.jobs.filter(({ only, except }) => {
    if (only !== null && !only.some((pattern) => matcher.matches(pattern))) return false;
    return !except?.some((pattern) => matcher.matches(pattern));
  });
}

/** Remembers its compiled expressions: anchors repeat the same list in many jobs. */
class RefMatcher {
  private readonly context: RefContext;
  private readonly results = new Map<string, boolean>();

  constructor(context: RefContext) {
    this.context = context;
  }

  matches({ text, regex, project }: RefPattern): boolean {
    const { ref, tag, trigger, projectPath } = this.context;
    if (project !== null && project !== projectPath) return false;
    if (text === ref) return true;
    if (text === 'branches') return !tag;
    if (text === 'tags') return tag;
    if (text === 'triggers') return trigger;
    if (text === 'pushes') return !trigger;
    return regex !== null && this.test(regex);
  }

  private test(regex: Pattern): boolean {
    const key = `${regex.ignoreCase}${regex.source}`;
    const known = this.results.get(key);
    if (known !== undefined) return known;
    const result = compile(regex)?.matcher(this.context.ref).find() ?? false;
    this.results.set(key, result);
    return result;
  }
}

/** Null for an expression that the parser would refuse: a plan stored by another version may hold one. */
function compile(regex: Pattern): RE2JS | null {
  try {
    return compilePattern(regex);
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}
