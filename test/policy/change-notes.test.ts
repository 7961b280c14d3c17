import test from 'ava';
import { changeNotes, type NoteableFacts } from '../../server/policy/change-notes.ts';

const issue: NoteableFacts = { title: 'Title', description: null, assignee: null, milestoneIid: null };
const request: NoteableFacts = { ...issue, targetBranch: 'master' };

function titled(from: NoteableFacts, before: string, after: string): string[] {
  return changeNotes({ ...from, title: before }, { ...from, title: after });
}

test('nothing is told of what stays', (t) => {
  t.deepEqual(changeNotes(issue, issue), []);
  t.deepEqual(changeNotes(request, { ...request }), []);
});

const titles: [before: string, after: string, note: string][] = [
  ['Fix it', 'Fix that', 'Changed title: **Fix {-i-}t** → **Fix {+tha+}t**'],
  ['Fix', 'Fix it', 'Changed title: **Fix** → **Fix{+ it+}**'],
  ['Do not fix', 'Do fix', 'Changed title: **Do {-not -}fix** → **Do fix**'],
  ['aa', 'aaa', 'Changed title: **aa** → **aa{+a+}**'],
  ['one', 'two', 'Changed title: **{-one-}** → **{+two+}**'],
  ['a 😀 b', 'a 😁 b', 'Changed title: **a {-😀-} b** → **a {+😁+} b**'],
];
for (const [before, after, note] of titles) {
  test(`the title ${before} becomes ${after}`, (t) => t.deepEqual(titled(issue, before, after), [note]));
}

test('a merge request that is not ready is told of as that', (t) => {
  const marked = 'Marked this merge request as a **Work In Progress**';
  const unmarked = 'Unmarked this merge request as a Work In Progress';
  t.deepEqual(titled(request, 'Fix', 'WIP: Fix'), [marked]);
  t.deepEqual(titled(request, '[wip] WIP Fix', 'Fix'), [unmarked]);
  t.deepEqual(titled(request, 'Fix', 'WIP: Fit'), [marked, 'Changed title: **Fi{-x-}** → **Fi{+t+}**']);
  t.deepEqual(titled(request, 'WIP: a', '[WIP] a'), ['Changed title: **{-WIP:-} a** → **{+[WIP]+} a**']);
  t.deepEqual(titled(issue, 'Fix', 'WIP: Fix'), ['Changed title: **Fix** → **{+WIP: +}Fix**']);
});

test('boxes that were ticked are told of, where they stood', (t) => {
  const described = (before: string, after: string) =>
    changeNotes({ ...issue, description: before }, { ...issue, description: after });
  const before = 'To do:\n- [ ] one\n* [x] two **2** \r\n  1. [ ] three\n- [] four\n[ ] five';
  t.deepEqual(described(before, before.replace('[ ] one', '[X] one').replace('[x] two', '[ ] two')), [
    'Marked the task **one** as completed',
    'Marked the task **two **2**** as incomplete',
  ]);
  t.deepEqual(described(before, before.replace('[ ] three', '[x] three')), [
    'Marked the task **three** as completed',
  ]);
  t.deepEqual(described(before, before.replace('[ ] one', '[x] another')), []);
  t.deepEqual(described(before, before.replace('[ ] five', '[x] five')), []);
  t.deepEqual(described(before, `- [x] one\n${before}`), ['Marked the task **one** as completed']);
  t.deepEqual(described('', before), []);
  t.deepEqual(changeNotes({ ...issue, description: '- [ ] a' }, issue), []);
});

test('of very many boxes only the first ones are told of', (t) => {
  const notes = changeNotes(
    { ...issue, description: '- [ ] a\n'.repeat(5000) },
    { ...issue, description: '- [x] a\n'.repeat(5000) },
  );
  t.is(notes.length, 50);
});

test('assignee, milestone and target branch', (t) => {
  const full = { ...request, assignee: 'ada', milestoneIid: 3, targetBranch: 'v`1' };
  t.deepEqual(changeNotes(request, full), [
    'Reassigned to @ada',
    'Milestone changed to %3',
    'Target branch changed from `master` to `v`1`',
  ]);
  t.deepEqual(changeNotes(full, { ...full, assignee: null, milestoneIid: null }), [
    'Assignee removed',
    'Milestone removed',
  ]);
  t.deepEqual(changeNotes(full, { ...full, assignee: 'bob', milestoneIid: 4 }), [
    'Reassigned to @bob',
    'Milestone changed to %4',
  ]);
});

test('a megabyte of anything is read in a moment', (t) => {
  for (const piece of ['- [ ] a\n', '- [ ', ' ', '1', '\n- [x] ', '[x] ', '- [ ] ', '\t']) {
    const description = piece.repeat(Math.ceil(1_000_000 / piece.length));
    t.deepEqual(changeNotes({ ...issue, description: '' }, { ...issue, description }), []);
  }
});
