import test from 'ava';
import { AppError } from '../../server/errors.ts';
import { readNewPath, readOldPath } from '../../server/policy/file-path.ts';

const traversal =
  'Your changes could not be committed, because the file name cannot include directory traversal. ';
const characters =
  "Your changes could not be committed, because the file name can contain only letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'. ";

const refusedNew: [path: string, text: string][] = [
  ['../a', traversal],
  ['a/../b', traversal],
  ['a/..', traversal],
  ['a b', characters],
  ['a\\b', characters],
  ['a\nb', characters],
  ['a:b', characters],
  ['\ud800', characters],
  ['a\u200cb', characters],
  ['/', 'Invalid path'],
  ['a//b', 'Invalid path'],
  ['a/', 'Invalid path'],
  ['./a', 'Invalid path'],
  ['.git/config', 'Invalid path'],
  ['sub/.GIT', 'Invalid path'],
  ['.git./config', 'Invalid path'],
  [`${'x'.repeat(256)}`, 'Invalid path'],
  [`${'ü'.repeat(128)}`, 'Invalid path'],
  [`${'x/'.repeat(100)}x`, 'Invalid path'],
  [`${`${'x'.repeat(250)}/`.repeat(16)}${'x'.repeat(200)}`, 'Invalid path'],
];

for (const [path, text] of refusedNew) {
  test(`no file is made at ${JSON.stringify(path.slice(0, 30))} of ${path.length}`, (t) => {
    const error = t.throws(() => readNewPath(path), { instanceOf: AppError });
    t.is(error?.status, 400);
    t.is(error?.body, text);
  });
}

test('files are made below folders, with letters of any script, and without slashes in front', (t) => {
  t.is(readNewPath('//docs/日本語/Ärger_1-@.txt'), 'docs/日本語/Ärger_1-@.txt');
  t.is(readNewPath('..a/b..'), '..a/b..');
  t.is(readNewPath('.gitlab-ci.yml'), '.gitlab-ci.yml');
});

test('a file that is there may have any name but one that leads elsewhere', (t) => {
  for (const path of ['a b', '-x', "it's\n", '"']) t.is(readOldPath(path), path);
  for (const path of ['..', 'a/../b', 'a/./b', 'a//b', '/', 'a/']) {
    t.is(t.throws(() => readOldPath(path), { instanceOf: AppError })?.body, 'Invalid path');
  }
});
