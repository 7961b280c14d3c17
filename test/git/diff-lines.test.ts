import test from 'ava';
import { diffLines, findChangedLine } from '../../server/git/diff-lines.ts';

const diff = `--- a/x
+++ b/x
@@ -1,3 +1,4 @@
 one
--- two
+2
+++ 2b
 three
@@ -10 +12,0 @@ function
-ten
\\ No newline at end of file
`;

test('each line has its number on both sides', (t) => {
  t.deepEqual(
    [...diffLines(diff)].map(({ kind, oldLine, newLine, text }) => [kind, oldLine, newLine, text]),
    [
      ['same', 1, 1, 'one'],
      ['old', 2, 2, '-- two'],
      ['new', 3, 2, '2'],
      ['new', 3, 3, '++ 2b'],
      ['same', 3, 4, 'three'],
      ['old', 10, 13, 'ten'],
    ],
  );
});

test('what is no text has no lines', (t) => {
  t.deepEqual([...diffLines('')], []);
  t.deepEqual([...diffLines('Binary files a/x and b/x differ\n')], []);
});

test('a new file begins with its first line', (t) => {
  const [first] = diffLines('--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n');
  t.deepEqual(first, { kind: 'new', oldLine: 1, newLine: 1, text: 'a' });
});

test('a line is found by what happened to it and its number there', (t) => {
  t.is(findChangedLine(diff, { kind: 'new', line: 3 })?.text, '++ 2b');
  t.is(findChangedLine(diff, { kind: 'old', line: 10 })?.text, 'ten');
  t.is(findChangedLine(diff, { kind: 'new', line: 1 }), null);
  t.is(findChangedLine(diff, { kind: 'old', line: 3 }), null);
});
