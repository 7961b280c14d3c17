/** The object id that stands for "no such ref" on either side of an update. */
export const zeroSha = '0'.repeat(40);

/** Whether a text is a full object id, in lower case as git writes it. */
export function isSha(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

// The first class is the control characters of ASCII; git takes those above it as any other letter. The last is
// half of a surrogate pair, which has no bytes of its own on disk.
const forbidden = /[^\P{Cc}\u0080-\u009f]|[ ~^:?*[\\]|\.\.|@\{|\/\/|\.$|\p{Cs}/u;

/** Most names: nothing in them can be wrong, and that is seen at once. */
const plain = /^refs(?:\/[\w-]+)+$/;

/**
 * The id, or the beginning of one, that a text from outside stands for, in lower case as git writes it; null for a text
 * that git would not take for one.
 */
export function readShortSha(text: string): string | null {
  return /^[0-9a-f]{4,40}$/i.test(text) ? text.toLowerCase() : null;
}

/**
 * Whether git accepts a name for a ref: `full` starts with `refs/`, `short` is what follows `refs/heads/` or
 * `refs/tags/`. The one check that every name from outside passes before it reaches git or a path.
 */
export function checkRefName(name: string, form: 'full' | 'short' = 'full'): boolean {
  if (form === 'short') {
    // Commands would take these two for an option and for the current branch.
    return !name.startsWith('-') && name !== 'HEAD' && checkRefName(`refs/heads/${name}`);
  }
  if (plain.test(name)) return true;
  if (!name.startsWith('refs/') || name.endsWith('/') || forbidden.test(name)) return false;
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}

/** Characters of a full ref name; what builds and events keep has to fit into an index. */
export const longestRef = 255;

/**
 * Whether a branch or tag may have this full name. Beside what git refuses, one whose short name is itself that of
 * a ref is not taken: asked for that ref where there is none, git would find this one.
 */
export function isUsableRef(ref: string): boolean {
  const short = /^refs\/(?:heads|tags)\/(.*)$/.exec(ref)?.[1];
  if (short === undefined || ref.length > longestRef || short.startsWith('refs/')) return false;
  return checkRefName(ref) && checkRefName(short, 'short');
}
