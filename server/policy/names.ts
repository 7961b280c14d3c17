import transliterate from '@sindresorhus/transliterate';

/** First parts of paths below a project's own that the server answers itself. */
const reservedProjectPaths = new Set(['api', 'ci', 'groups', 'healthz', 'metrics', 'oauth', 'readyz', 'u']);

const longestPath = 255;

const nameForm = /^[\p{L}\p{N}_][\p{L}\p{N}\p{Pd}_. ]*$/u;
const pathForm = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;

/** What is wrong with the name of a project; empty when nothing is. */
export function projectNameFaults(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  if (name.length > 255) return ['is too long (maximum is 255 characters)'];
  if (nameForm.test(name)) return [];
  return [
    "can contain only letters, digits, '_', '.', dash and space. It must start with letter, digit or '_'.",
  ];
}

/** What is wrong with the path of a project; empty when nothing is. */
export function projectPathFaults(path: string): string[] {
  if (path === '') return ["can't be blank"];
  if (path.length > longestPath) return [`is too long (maximum is ${longestPath} characters)`];
  if (!pathForm.test(path) || /\.(?:git|atom)$/.test(path) || /^\.{1,2}$/.test(path)) {
    return [
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
    ];
  }
  return reservedProjectPaths.has(path.toLowerCase()) ? [`${path} is a reserved name`] : [];
}

/**
 * The path that a project gets from its name when none is given: in Latin letters, as far as the name has sounds that
 * these write. Empty when nothing is left of it.
 */
export function pathFromName(name: string): string {
  // Latin letters lose their marks, whatever a language makes of them; those of other scripts make other letters.
  const unmarked = name.normalize('NFKD').replace(/(\p{Script=Latin})\p{M}+/gu, '$1');
  return transliterate(unmarked.normalize('NFC'))
    .toLowerCase()
    .replace(/[^a-z0-9_.]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, longestPath)
    .replace(/[-.]+$/, '');
}
