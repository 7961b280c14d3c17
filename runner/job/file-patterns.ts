import picomatch from 'picomatch';

/** Which files below the project directory an archive takes. */
export interface FileSelection {
  /** Directories and files from which all matches can be reached; see `JobEnvironment.exportFiles`. */
  roots: string[];
  includes(path: string): boolean;
  /** Patterns that have matched nothing so far. */
  unmatched(): string[];
}

/**
 * Reads the `paths` of artifacts or a cache: `*`, `?`, `[…]`, `{a,b}` and `**`, hidden files too. A pattern that
 * names a directory takes all below it.
 *
 * @param warn gets a line for every pattern that leads out of the project directory.
 */
export function selectFiles(
  patterns: string[],
  { projectDir, warn }: { projectDir: string; warn(text: string): void },
): FileSelection {
  const matchers: Matcher[] = [];
  for (const pattern of patterns) {
    const inside = insideProject(pattern, projectDir);
    if (inside === null) warn(`${pattern}: outside of the project directory, left out`);
    else matchers.push({ pattern, root: fixedPart(inside), matches: matcherOf(inside), hasMatched: false });
  }
  return {
    roots: outermost(matchers.map((matcher) => matcher.root)),
    includes: (path) => !isRepository(path) && mark(matchers, path),
    unmatched: () => matchers.filter((matcher) => !matcher.hasMatched).map((matcher) => matcher.pattern),
  };
}

interface Matcher {
  pattern: string;
  root: string;
  matches(path: string): boolean;
  hasMatched: boolean;
}

function matcherOf(pattern: string): (path: string) => boolean {
  if (pattern === '') return () => true;
  return picomatch(pattern, { dot: true, noextglob: true, nonegate: true, windows: false });
}

/** Asks all of them, so that each knows whether it has matched. */
function mark(matchers: Matcher[], path: string): boolean {
  const candidates = withParents(path);
  let isIncluded = false;
  for (const matcher of matchers) {
    if (!candidates.some((candidate) => matcher.matches(candidate))) continue;
    matcher.hasMatched = true;
    isIncluded = true;
  }
  return isIncluded;
}

/** `.git` holds the credentials of the build and is no work of the job. */
export function isRepository(path: string): boolean {
  return path === '.git' || path.startsWith('.git/');
}

function insideProject(pattern: string, projectDir: string): string | null {
  let text = pattern;
  if (text.startsWith('/')) {
    if (text !== projectDir && !text.startsWith(`${projectDir}/`)) return null;
    text = text.slice(projectDir.length);
  }
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? null : parts.join('/');
}

function fixedPart(pattern: string): string {
  const parts = pattern.split('/');
  const firstGlob = parts.findIndex((part) => /[*?[\]{}()\\]/.test(part));
  return (firstGlob === -1 ? parts : parts.slice(0, firstGlob)).join('/');
}

/** Without those that lie below another one, so that nothing is visited twice. */
function outermost(roots: string[]): string[] {
  const unique = [...new Set(roots)].sort();
  return unique.filter(
    (root) => !unique.some((other) => other !== root && (other === '' || root.startsWith(`${other}/`))),
  );
}

function withParents(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}
