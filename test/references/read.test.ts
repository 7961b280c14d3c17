import test from 'ava';
import fc from 'fast-check';
import { codeStretches } from '../../server/references/code.ts';
import { type Reference, readReferences } from '../../server/references/read.ts';
import { rewriteReferences } from '../../server/references/rewrite.ts';

/** `kind project name` of each. */
function read(text: string): string[] {
  return [...readReferences(text)].map(({ kind, project, name }) =>
    [kind, ...(project === null ? [] : [project]), name].join(' '),
  );
}

const samples: [text: string, ...found: string[]][] = [
  [''],
  ['@ada, @Bob-2 and @all.', 'user ada', 'user Bob-2', 'user all'],
  ['(@ada) **@bob**: "@eve"...@d.e_f...', 'user ada', 'user bob', 'user eve', 'user d.e_f'],
  ["@ada's", 'user ada'],
  ['ada@example.com @@ada a@b /@ada @ @. @...'],
  ['@types/node is none, @ada/@bob is one', 'user ada'],
  [`@${'a'.repeat(255)} @${'b'.repeat(256)}`, `user ${'a'.repeat(255)}`],
  ['#1, #23; (#4) !5 $6.', 'issue 1', 'issue 23', 'issue 4', 'merge_request 5', 'snippet 6'],
  ['#1a a#2 &#3; ##4 # 5 #12345678901 http://x/#6 #1.5', 'issue 1'],
  ['Fixes:#7,#8...#9-#10', 'issue 7', 'issue 8', 'issue 9', 'issue 10'],
  ['a/b#1 a.c/d-e!2,x_y/z$3', 'issue a/b 1', 'merge_request a.c/d-e 2', 'snippet x_y/z 3'],
  ['a/b/c#1 /a/b#2 http://a/b#3 ~/a/b#4 é/b#5'],
  ['see:a/b#1 (a/b#2)', 'issue a/b 1', 'issue a/b 2'],
  ['~1 ~bug. ~"two words" ~a/b', 'label 1', 'label bug', 'label two words', 'label a'],
  ['~~gone~~ ~ ~"" ~"a\nb" a~b'],
  ['%1 %v1.0. %"next one" 50% 50%1', 'milestone 1', 'milestone v1.0', 'milestone next one'],
  ['a/b~"c d" a/b%3', 'label a/b c d', 'milestone a/b 3'],
  [
    'abcdef1, 0123456789abcdef0123456789abcdef01234567',
    'commit abcdef1',
    `commit 0123456789abcdef0123456789abcdef01234567`,
  ],
  ['abcdef ABCDEF1 abcdefg1 0123456789abcdef0123456789abcdef012345678 550e8400-e29b-41d4-a716-446655440000'],
  ['a/b@abcdef1 a/b/c@abcdef1 x@abcdef1', 'commit a/b abcdef1'],
  ['`@ada` ``a ` #1`` @bob', 'user bob'],
  ['` #1 and ``#2`'],
  ['`` #1 `', 'issue 1'],
  ['\\`#1` `#2`', 'issue 1', 'issue 2'],
  ['\\\\`#1` #2', 'issue 2'],
  ['`#1\n#2` #3', 'issue 3'],
  ['`#1\n\n#2`', 'issue 1', 'issue 2'],
  ['```\n#1\n``\n#2\n```\n#3', 'issue 3'],
  ['~~~~ rb\n#1\n~~~\n```\n~~~~~\n#3', 'issue 3'],
  ['#1\n```\n#2', 'issue 1'],
  ['``` a`b\n#1', 'issue 1'],
  ['- ```\n  #1\n  ```\n- #2', 'issue 2'],
  ['> ```\n> #1\n#2\n\n> > ~~~\n> #3', 'issue 2', 'issue 3'],
  ['> #1\n>\n>     #2\n> #3', 'issue 1', 'issue 3'],
  ['a\n    #1\n\n    #2\n\t#3\n#4', 'issue 1', 'issue 4'],
  ['- a\n\n    #1\n\nb\n\n    #2', 'issue 1'],
  ['a\r\n\r\n```\r\n#1\r\n```\r\n#2\r\n', 'issue 2'],
];
for (const [text, ...found] of samples) {
  test(`names in ${JSON.stringify(text.slice(0, 80))}`, (t) => t.deepEqual(read(text), found));
}

const signs = [
  '@ada',
  '#1',
  '`',
  '``',
  '\n',
  '\n\n',
  ' ',
  '```',
  '~~~',
  '> ',
  '- ',
  '    ',
  'a/b',
  '~"',
  '"',
  '.',
  '\\',
  '/',
  '😀',
  '!2',
  '\t',
  'abcdef1',
  '\r',
];
const texts = fc.array(fc.constantFrom(...signs), { maxLength: 60 }).map((pieces) => pieces.join(''));

test('names stand where they are said to, one after the other and outside of code', (t) => {
  fc.assert(
    fc.property(texts, (text) => {
      const code = codeStretches(text);
      let last = 0;
      for (const { start, end } of code) {
        t.true(start >= last && end > start && end <= text.length);
        last = end;
      }
      last = 0;
      for (const { start, end, name, project } of readReferences(text)) {
        t.true(start >= last && end > start);
        last = end;
        t.true(text.slice(start, end).includes(name));
        t.true(text.slice(start, end).startsWith(project ?? ''));
        t.false(code.some((stretch) => stretch.start < end && start < stretch.end));
      }
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('a moved text names the things of its old project, and keeps the rest', (t) => {
  const text = '@ada: #1, x/y#2, `#1`, !3 costs $5, ~"two words" %v1.0. See abcdef1 or deadbee, a/b@abcdef1.';
  const isKnown = ({ name }: Reference) => !['5', 'deadbee'].includes(name);
  t.is(
    rewriteReferences(text, { from: 'g/p', isKnown }),
    '@ada: g/p#1, x/y#2, `#1`, g/p!3 costs $5, g/p~"two words" g/p%v1.0. See g/p@abcdef1 or deadbee, a/b@abcdef1.',
  );
  t.is(rewriteReferences('', { from: 'g/p', isKnown }), '');
});

test('what is rewritten is read as the same things of that project, and twice changes nothing more', (t) => {
  const isKnown = () => true;
  fc.assert(
    fc.property(texts, (text) => {
      const moved = rewriteReferences(text, { from: 'g/p', isKnown });
      t.is(rewriteReferences(moved, { from: 'h/q', isKnown }), moved);
      const names = (of: string) => [...readReferences(of)].map(({ kind, name }) => `${kind} ${name}`);
      t.deepEqual(names(moved), names(text));
    }),
    { numRuns: 2000 },
  );
});

const hostile = [
  'a\n\n',
  '@',
  '@a',
  '@.',
  '#',
  '#1',
  '#1 ',
  'a/',
  'a/b',
  'a/b#',
  '/',
  '~"',
  '~"a',
  '`',
  '` ',
  '``` ',
  '\\`',
  '`a``',
  '> ',
  '>',
  '- ',
  '    ',
  '\t',
  '\n',
  '\n```\n',
  '\n\n    ',
  'abcdef1',
  'abcdef1 ',
  '.',
  '-',
  '1. ',
  'a@',
  '%',
  '~~~\n',
  '\\',
  '\r\n',
  '😀',
  'é#',
];
test('a megabyte of anything is read in a moment', (t) => {
  for (const piece of hostile) {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    rewriteReferences(text, { from: 'g/p', isKnown: () => true });
  }
  const runs = Array.from({ length: 1400 }, (_, index) => '`'.repeat(index + 1)).join(' ');
  t.is([...readReferences(`${runs} #1`)].length, 1);
});
