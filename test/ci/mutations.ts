/** Numbers in [0, 1) that follow from a seed alone. */
export type Random = () => number;

/** A generator of which every case is known by its seed and number. */
export function randomOf(seed: number, index: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Mutation = (text: string, random: Random) => string;

const words = [
  ...['script', 'stage', 'only', 'except', 'cache', 'artifacts', 'variables', 'stages', 'when', 'image'],
  ...['rules', 'extends', 'needs', '__proto__', 'constructor', 'master', 'tags', '/^v.*$/', '/(/', '3 days'],
  ...['yes', 'no', 'null', '~', '0755', '1e3', '.inf', '12:30', '2016-01-01', 'true', ':x', '-1', '""'],
];
const tokens = [
  ...[
    '- ',
    '? ',
    ': ',
    ':',
    ',',
    '[',
    ']',
    '{',
    '}',
    '|\n',
    '>-\n',
    '|2\n',
    '"',
    "'",
    '#',
    ' #',
    '&a ',
    '*a',
  ],
  ...[
    '<<: *a\n',
    '<<: [*a, *a]\n',
    '!!str ',
    '!x ',
    '!reference [a, b]',
    '%',
    '@',
    '`',
    '\t',
    '\0',
    '\r',
    '\r\n',
  ],
  ...[
    '---\n',
    '...\n',
    '--- ',
    '%YAML 1.1\n---\n',
    '\u2028',
    '\u0085',
    '\uFEFF',
    '\uD800',
    '🙂',
    '\\',
    '\\u0000',
  ],
];

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)] as T;
}

function below(limit: number, random: Random): number {
  return Math.floor(random() * limit);
}

function insert(text: string, added: string, random: Random): string {
  const at = below(text.length + 1, random);
  return text.slice(0, at) + added + text.slice(at);
}

/** Changes the lines of a text as a list. */
function onLines(change: (lines: string[], random: Random) => void): Mutation {
  return (text, random) => {
    const lines = text.split('\n');
    change(lines, random);
    return lines.join('\n');
  };
}

function flipBytes(text: string, random: Random): string {
  const bytes = Buffer.from(text);
  for (let count = 1 + below(3, random); count > 0 && bytes.length > 0; count -= 1) {
    const at = below(bytes.length, random);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8, random));
  }
  return bytes.toString();
}

const swapLines = onLines((lines, random) => {
  const [a, b] = [below(lines.length, random), below(lines.length, random)];
  [lines[a], lines[b]] = [lines[b] ?? '', lines[a] ?? ''];
});

const dropLines = onLines((lines, random) => {
  lines.splice(below(lines.length, random), 1 + below(3, random));
});

const repeatLines = onLines((lines, random) => {
  const start = below(lines.length, random);
  const part = lines.slice(start, start + 1 + below(4, random));
  lines.splice(below(lines.length, random), 0, ...part);
});

const indent = onLines((lines, random) => {
  const start = below(lines.length, random);
  const end = start + 1 + below(4, random);
  const pad = pick(['', ' ', '  ', '    ', '\t', ' - '], random);
  for (let at = start; at < Math.min(end, lines.length); at += 1) {
    const line = lines[at] ?? '';
    lines[at] = pad === '' ? line.replace(/^ {1,2}/, '') : pad + line;
  }
});

function insertToken(text: string, random: Random): string {
  return insert(text, pick(tokens, random), random);
}

/** Puts another word, alias or collection where one stands. */
function replaceWord(text: string, random: Random): string {
  const found = [...text.matchAll(/[\w./$-]+/g)];
  if (found.length === 0) return text;
  const { index, 0: word } = pick(found, random);
  const by = pick([...words, '*base', '[a, [b]]', '{a: b}', '[]', '{}', '- a'], random);
  return text.slice(0, index) + by + text.slice(index + word.length);
}

/** Renames, adds and moves what refers to another place. */
function tangle(text: string, random: Random): string {
  const names = [...text.matchAll(/[&*](\w+)/g)].map(([, name]) => name ?? 'a');
  const name = names.length > 0 ? pick(names, random) : 'a';
  const other = pick([...names, 'a', 'none'], random);
  const sign = pick(['&', '*'], random);
  if (random() < 0.4) return text.replace(`${sign}${name}`, `${pick(['&', '*'], random)}${other}`);
  const spaces = ' '.repeat(2 * below(3, random));
  const added = pick(
    [`${spaces}<<: *${name}`, `${spaces}<<: [*${name}, *${other}]`, `${spaces}k: &${name} *${other}`],
    random,
  );
  return onLines((lines) => lines.splice(below(lines.length + 1, random), 0, added))(text, random);
}

function nest(text: string, random: Random): string {
  const depth = random() < 0.005 ? 20_000 : 1 + below(random() < 0.2 ? 130 : 12, random);
  const [open, close] = pick(
    [
      ['[', ']'],
      ['{a: ', '}'],
      ['- ', ''],
      ['? ', ''],
      ['{[', ']}'],
    ] as const,
    random,
  );
  return insert(text, open.repeat(depth) + (random() < 0.5 ? close.repeat(depth) : ''), random);
}

function bloat(text: string, random: Random): string {
  const length = random() < 0.01 ? 1_100_000 : below(3000, random);
  return insert(
    text,
    pick(['x', ' ', '\n', '#', 'a,', '- ', '🙂', '*a ', '"'], random).repeat(length),
    random,
  );
}

/** An alias of aliases, which would grow without bound. */
function bomb(text: string, random: Random): string {
  const width = 2 + below(12, random);
  const levels = Array.from({ length: 1 + below(12, random) }, (_, level) => {
    const items = Array.from({ length: width }, () => `*l${level}`).join(', ');
    return `.l${level + 1}: &l${level + 1} ${random() < 0.5 ? `[${items}]` : `{<<: [${items}], k${level}: x}`}`;
  });
  return `.l0: &l0 {k: v}\n${levels.join('\n')}\n${text}\nlast: {script: *l${levels.length}}\n`;
}

function cut(text: string, random: Random): string {
  const at = below(text.length + 1, random);
  return random() < 0.5 ? text.slice(0, at) : text.slice(at);
}

const mutations: Mutation[] = [
  ...[flipBytes, flipBytes, swapLines, dropLines, repeatLines, indent, indent, insertToken, insertToken],
  ...[replaceWord, replaceWord, replaceWord, tangle, tangle, cut, nest],
];
const heavy: Mutation[] = [bloat, bomb];

/** One of the samples with one change, or up to three. */
export function mutate(samples: readonly string[], random: Random): string {
  let text = pick(samples, random);
  if (random() < 0.03) text = `${text}\n${pick(samples, random)}`;
  const changes = random() < 0.6 ? 1 : 2 + below(2, random);
  for (let count = changes; count > 0; count -= 1) {
    text = pick(random() < 0.01 ? heavy : mutations, random)(text, random);
  }
  return text;
}
