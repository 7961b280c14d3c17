/** What a file that the old processor refused may get from ours. */
interface Rule {
  /** Of the old message. */
  says: RegExp;
  /** Kinds of error that tell the same fault. */
  kinds: RegExp;
  /** Why ours may take the file instead; null when it must not. */
  mayTake: string | null;
}

const script = 'numbers and booleans count as they are written, lists may be nested, a text may stand alone';

/** In order: the first whose words are in the message holds. Specific ones come first. */
const rules: Rule[] = [
  { says: /^SYNTAX/, kinds: /^yaml\.|^file\./, mayTake: null },
  {
    says: /^CRASH/,
    kinds: /^(yaml\.(alias|tag)|cache\.|artifacts\.|key\.unsupported|file\.)/,
    mayTake:
      'it failed without a reason of its own: a date is text, a key of later files is skipped with a warning',
  },
  { says: /configuration format/, kinds: /^file\.(empty|type)$/, mayTake: null },
  { says: /at least one job/, kinds: /^jobs\.none$/, mayTake: null },
  { says: /job name/, kinds: /^(job\.name|yaml\.key)$/, mayTake: null },
  {
    says: /^Unknown parameter/,
    kinds: /^(key\.|job\.)/,
    mayTake: 'a key that only shows something is skipped with a warning',
  },
  {
    says: /cache unknown|artifacts unknown/,
    kinds: /^((cache|artifacts)\.key\.unknown|key\.unsupported|key\.ignored)$/,
    mayTake: 'keys of later files are read, or skipped with a warning',
  },
  {
    says: /unknown parameter/,
    kinds: /^(job\.key\.unknown|key\.unsupported)$/,
    mayTake: 'keys of later files are read, or skipped with a warning',
  },
  { says: /cache:key/, kinds: /^cache\.key\.type$/, mayTake: 'a number is text; keys of files are skipped' },
  { says: /cache/, kinds: /^(cache\.|key\.unsupported)/, mayTake: null },
  {
    says: /artifacts:expire_in/,
    kinds: /^duration\./,
    mayTake: 'a number counts seconds, and artifacts may be kept for ever',
  },
  { says: /artifacts/, kinds: /^(artifacts\.|key\.unsupported)/, mayTake: null },
  { says: /image/, kinds: /^(image\.|key\.unsupported)/, mayTake: 'a mapping with a name' },
  {
    says: /services/,
    kinds: /^(services\.|key\.unsupported)/,
    mayTake: 'a text alone, mappings with a name',
  },
  { says: /script/, kinds: /^(script\.|job\.script\.|key\.unsupported)/, mayTake: script },
  { says: /environment/, kinds: /^environment\./, mayTake: 'names of any characters, a mapping with a name' },
  { says: /dependenc/, kinds: /^dependencies\./, mayTake: null },
  { says: /stages/, kinds: /^stages\./, mayTake: null },
  { says: /stage|types/, kinds: /^(job\.stage\.|stages\.)/, mayTake: null },
  {
    says: /variables/,
    kinds: /^variables\./,
    mayTake: 'numbers, booleans and nothing are text; forms with a value',
  },
  { says: /tags/, kinds: /^tags\./, mayTake: null },
  {
    says: /only|except/,
    kinds: /^((only|except)\.|key\.unsupported)/,
    mayTake: 'a text alone, a mapping with refs',
  },
  { says: /allow_failure/, kinds: /^(allow_failure\.|key\.unsupported)/, mayTake: null },
  { says: /when/, kinds: /^when\./, mayTake: 'jobs may wait to be started by hand' },
];

/**
 * Judges what became of a file that the old processor refused.
 *
 * @param kinds of our errors; empty when the file was taken.
 * @returns what is wrong, or null.
 */
export function judgeRejected(verdict: string, kinds: string[]): string | null {
  // The name of a job may hold any of the words.
  const message = verdict.replace(/^VERR /, '').replace(/^.*? job: /, '');
  const rule = rules.find(({ says }) => says.test(message));
  if (!rule) return `no rule for ${verdict}`;
  if (kinds.length === 0) return rule.mayTake ? null : `taken, although ${verdict}`;
  return kinds.some((kind) => rule.kinds.test(kind))
    ? null
    : `refused for ${kinds.join(', ')}, not for ${verdict}`;
}
