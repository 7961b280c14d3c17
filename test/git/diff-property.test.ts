import test from 'ava';
import fc from 'fast-check';
import { CatFile } from '../../server/git/cat-file.ts';
import { commitLimits, diffOf, type FileDiff } from '../../server/git/diff.ts';
import { diffLines } from '../../server/git/diff-lines.ts';
import { DiffReader } from '../../server/git/diff-reader.ts';
import { gitWithInput, withWorkTrees } from '../support/git.ts';
import { importCommits } from '../support/import-commits.ts';

const trees = withWorkTrees();
const objects = new CatFile();
test.after.always(() => objects.close());
const limits = { ...commitLimits, lines: 100_000 };

const path = fc.constantFrom('a', 'b', 'd/a', 'd/b', 'd/e/f', '-x', 'sp ace', 'q"\n\\', 'ü', 'z\tz');
const line = fc.constantFrom(
  'one',
  'two',
  '-- a',
  '++ b',
  '@@ -1 +1 @@',
  'diff --git a b',
  '',
  'ü\r',
  '\\ x',
);
const content = fc.oneof(
  fc.tuple(fc.array(line, { maxLength: 12 }), fc.boolean()).map(([all, isEnded]) => {
    const text = all.join('\n');
    return isEnded && text !== '' ? `${text}\n` : text;
  }),
  // Long enough to be found again under another name.
  fc.integer({ min: 0, max: 3 }).map((n) => `${'same line\n'.repeat(8)}and ${n}\n`),
);
const mode = fc.constantFrom('100644', '100644', '100644', '100755', '120000');
const state = fc.dictionary(path, fc.record({ mode, content }), { maxKeys: 7 });

function usable(files: Record<string, { mode: string; content: string }>) {
  // A link leads somewhere.
  return Object.entries(files).filter(([, { mode: kind, content: to }]) => kind !== '120000' || to !== '');
}

test('the entries are those of git, and applied to the one state they give the other', async (t) => {
  const tree = await trees.fresh();
  const dir = `${tree.dir}/.git`;
  let count = 0;
  await fc.assert(
    fc.asyncProperty(state, state, async (before, after) => {
      count += 1;
      const gone = Object.fromEntries(Object.keys(before).map((name) => [name, null]));
      const commits = [
        { files: Object.fromEntries(usable(before)) },
        { files: gone },
        { files: Object.fromEntries(usable(after)) },
      ];
      const [from = '', , to = ''] = await importCommits(dir, `case-${count}`, commits);
      const { files, isIncomplete } = await diffOf(objects, { dir, from, to }, limits);
      t.false(isIncomplete);
      t.deepEqual(files.map(named), await namesByGit(tree.dir, from, to));
      await tree.git('read-tree', from);
      const patch = files.map(withHeader).join('');
      if (patch !== '')
        await gitWithInput(tree.dir, ['apply', '--cached', '--whitespace=nowarn', '-'], patch);
      t.is(await tree.git('write-tree'), await tree.git('rev-parse', `${to}^{tree}`));
      for (const { diff } of files) checkLines(t.is, diff);
    }),
    { numRuns: 60 },
  );
});

test('it makes no difference in which pieces the output arrives', async (t) => {
  const tree = await trees.fresh();
  const [from = '', to = ''] = await importCommits(`${tree.dir}/.git`, 'other', [
    { files: { a: 'x\n'.repeat(9), 'q"\nü': 'ü\n', l: 'l\n' } },
    { files: { a: null, b: `${'x\n'.repeat(9)}y`, 'q"\nü': 'é\n', l: { mode: '120000', content: 'b' } } },
  ]);
  const args = ['diff-tree', '-r', '-M', '--raw', '-p', '-z', from, to];
  const output = await gitWithInput(tree.dir, args, '');
  const whole = read([output]);
  t.is(whole.length, 4);
  fc.assert(
    fc.property(fc.array(fc.nat(output.length), { maxLength: 12 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), output.length];
      const pieces = places.slice(1).map((end, index) => output.subarray(places[index], end));
      t.deepEqual(read(pieces), whole);
    }),
  );
});

function read(pieces: Buffer[]): FileDiff[] {
  const reader = new DiffReader(limits);
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return reader.files(new Set());
}

function named(file: FileDiff): string {
  return [file.oldMode, file.newMode, file.oldPath, file.newPath].join(' ');
}

/** From what git says in its own words; a change of type is two of ours. */
async function namesByGit(cwd: string, from: string, to: string): Promise<string[]> {
  const output = await gitWithInput(cwd, ['diff-tree', '-r', '-M', '-z', from, to], '');
  const words = output.toString().split('\0').slice(0, -1);
  const names: string[] = [];
  while (words.length > 0) {
    const [oldMode = '', newMode = '', , , status = ''] = (words.shift() ?? '').slice(1).split(' ');
    const oldPath = words.shift() ?? '';
    const newPath = status.startsWith('R') ? (words.shift() ?? '') : oldPath;
    const [before, after] = [oldMode, newMode].map((given) => given.replace(/^000000$/, '0'));
    if (status === 'T') names.push(`${before} 0 ${oldPath} ${newPath}`, `0 ${after} ${oldPath} ${newPath}`);
    else names.push(`${before} ${after} ${oldPath} ${newPath}`);
  }
  return names;
}

/** What git needs beside the diff to apply it. */
function withHeader(file: FileDiff): string {
  const quote = (name: string) =>
    `"${name.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t')}"`;
  const lines = [`diff --git ${quote(`a/${file.oldPath}`)} ${quote(`b/${file.newPath}`)}`];
  if (file.isNew) lines.push(`new file mode ${file.newMode}`);
  else if (file.isDeleted) lines.push(`deleted file mode ${file.oldMode}`);
  else if (file.oldMode !== file.newMode) lines.push(`old mode ${file.oldMode}`, `new mode ${file.newMode}`);
  if (file.isRenamed) lines.push(`rename from ${quote(file.oldPath)}`, `rename to ${quote(file.newPath)}`);
  return `${lines.join('\n')}\n${file.diff}`;
}

/** The numbers at the beginning of each hunk continue those of the lines before it. */
function checkLines(is: (one: unknown, other: unknown) => unknown, diff: string): void {
  const all = [...diffLines(diff)];
  const [added, taken] = ['new', 'old'].map((kind) => all.filter((one) => one.kind === kind));
  is(new Set(added?.map(({ newLine }) => newLine)).size, added?.length);
  is(new Set(taken?.map(({ oldLine }) => oldLine)).size, taken?.length);
}
