import test from 'ava';
import fc from 'fast-check';
import { readClosing } from '../../server/references/closing.ts';

const origin = 'https://forge.example.com:8080/at';

function closed(text: string): string[] {
  return readClosing(text, origin).map(({ project, iid }) => `${project ?? ''}#${iid}`);
}

const words = [
  ...['Close', 'Closes', 'Closed', 'Closing', 'close', 'closes', 'closed', 'closing'],
  ...['Fix', 'Fixes', 'Fixed', 'Fixing', 'fix', 'fixes', 'fixed', 'fixing'],
  ...['Resolve', 'Resolves', 'Resolved', 'Resolving', 'resolve', 'resolves', 'resolved', 'resolving'],
];

test('each of the words closes, with what may stand around it', (t) => {
  for (const word of words) {
    for (const text of [`${word} #12`, `${word}: #12`, `${word}   issue #12`, `Well (${word} issues #12).`]) {
      t.deepEqual(closed(text), ['#12'], text);
    }
  }
});

const several: [string, string[]][] = [
  ['Fixes: #4, #5 and team/api#6. See #7', ['#4', '#5', 'team/api#6']],
  ['fixes #4,#5', ['#4', '#5']],
  ['Closes issues #4 and issue #5', ['#4', '#5']],
  ['Closes #4 closes #5\nFixes #6', ['#4', '#5', '#6']],
  ['Fix #4 #5', ['#4']],
  ['Fixes #4, see #5', ['#4']],
  ['Fixes #4 and more, #5', ['#4']],
  ['Fixes #4, #4 and Team/Api#1, team/api#1', ['#4', 'team/api#1']],
  [
    `Closes ${origin}/team/api/issues/3, ${origin}/a.b/c-d/issues/4 and #5`,
    ['team/api#3', 'a.b/c-d#4', '#5'],
  ],
  [`Closes ${origin}/team/api/issues/3#note_5`, ['team/api#3']],
];

test('several are closed at once, each once', (t) => {
  for (const [text, expected] of several) t.deepEqual(closed(text), expected, text);
});

const none = [
  ...['#12', 'Closes 12', 'Closes#12', 'Closes:#12', 'Closes\n#12', 'CLOSES #12', 'Enclose #12', 'Fixer #12'],
  ...['Fixe #12', 'prefix #12', 'suffix_fix #12', 'Closes !12', 'Closes the #12', 'Closes #12a', 'Closes #0'],
  ...['Closes #99999999999', 'Closes #3000000000', 'Closes a#12', 'Closes a/b/c#12', 'Closes api/#12'],
  ...['Closes https://other.example.com/team/api/issues/3', `Closes ${origin}/team/api/merge_requests/3`],
  ...[
    `Closes ${origin}x/team/api/issues/3`,
    `Closes ${origin}/api/issues/3`,
    `Closes ${origin}/team/api/issues/3x`,
  ],
  ...['`Closes #12`', 'As in\n\n```\nCloses #12\n```\n', 'As in\n\n    Closes #12\n'],
];

test('nothing else closes', (t) => {
  for (const text of none) t.deepEqual(closed(text), [], text);
});

test('addresses are read as they are, not as patterns', (t) => {
  t.deepEqual(readClosing('Closes https://forgeXexample.com/a/b/issues/1', 'https://forge.example.com'), []);
});

test('any text can be read, and closes a hundred at most', (t) => {
  const piece = fc.constantFrom(
    'Fixes ',
    'fix: ',
    '#1',
    ', ',
    ' and ',
    'a/b',
    'issue ',
    '`',
    '\n',
    origin,
    '/issues/',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
      for (const { iid } of readClosing(pieces.join(''), origin)) t.true(Number.isInteger(iid) && iid > 0);
    }),
  );
  const many = Array.from({ length: 1000 }, (_, index) => `#${index + 1}`).join(', ');
  t.is(closed(`Closes ${many}`).length, 100);
});

const pieces = [
  'fix ',
  'Closes #1, ',
  'Closes issue ',
  'a/',
  'fix a.',
  'a-',
  ' ',
  'fix: a/',
  ' and ',
  '`',
  '#1,',
];

test('long texts of few letters are read in time', (t) => {
  // Were the time no longer in proportion, this would not end while anybody waits.
  for (const piece of [...pieces, `${origin}/a/`]) {
    t.true(closed(`Closes ${piece.repeat(1_000_000 / piece.length)}`).length <= 1, piece);
  }
});
