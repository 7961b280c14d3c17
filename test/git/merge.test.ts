import test from 'ava';
import fc from 'fast-check';
import { GitError, GitTimeoutError } from '../../server/git/errors.ts';
import { mergeTrees } from '../../server/git/merge.ts';
import { withWorkTrees } from '../support/git.ts';
import { type ImportedCommit, importCommits } from '../support/import-commits.ts';

const trees = withWorkTrees();

interface File {
  mode: string;
  content: string;
}
type Files = Record<string, File>;

const paths = ['a', 'b', 'c', 'd', 'd/a', 'd/b', 'e/f/g', 'e/h', 'ü\n"'];
const path = fc.constantFrom(...paths);
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('line' as const), path, line: fc.nat(9), text: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), path, text: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), path }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('mode' as const),
      path,
      mode: fc.constantFrom('100644', '100755', '120000'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rename' as const), path, to: path }) },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** A commit on one of the two sides, perhaps one that says it merges the other. */
const step = fc.record({
  side: fc.constantFrom(0 as const, 1 as const),
  merges: fc.nat(4).map((n) => n === 0),
  changes: fc.array(change, { maxLength: 3 }),
});

function start(): Files {
  const content = (name: string) => Array.from({ length: 10 }, (_, index) => `${name} ${index}\n`).join('');
  return Object.fromEntries(
    ['a', 'b', 'd/a', 'e/h'].map((name) => [name, { mode: '100644', content: content(name) }]),
  );
}

function put(files: Files, name: string, file: File): void {
  for (const other of Object.keys(files)) {
    if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) delete files[other];
  }
  files[name] = file;
}

function apply(files: Files, given: Change): void {
  const file = files[given.path];
  if (given.kind === 'write') put(files, given.path, { mode: '100644', content: `text ${given.text}\n` });
  if (!file) return;
  if (given.kind === 'remove') delete files[given.path];
  if (given.kind === 'mode') file.mode = given.mode;
  if (given.kind === 'line') {
    const lines = file.content.split('\n');
    lines[Math.min(given.line, lines.length - 1)] = `other ${given.text}`;
    file.content = lines.join('\n');
  }
  if (given.kind === 'rename' && given.to !== given.path) {
    delete files[given.path];
    put(files, given.to, file);
  }
}

/** Commits that leave exactly these files, for both sides, and the number of each side's last one. */
function historyOf(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) {
  const states: [Files, Files] = [start(), start()];
  const tips: [number, number] = [0, 0];
  const commits: ImportedCommit[] = [{ files: start() }];
  for (const { side, merges, changes } of steps) {
    const files = structuredClone(states[side]);
    for (const one of changes) apply(files, one);
    const other = tips[side === 0 ? 1 : 0];
    const gone = Object.keys(states[side]).filter((name) => !(name in files));
    commits.push({
      parents: merges && other !== tips[side] ? [tips[side], other] : [tips[side]],
      files: { ...Object.fromEntries(gone.map((name) => [name, null])), ...structuredClone(files) },
    });
    states[side] = files;
    tips[side] = commits.length - 1;
  }
  return { commits, tips };
}

test('what comes out is what git itself makes of it in a work tree, whatever the histories', async (t) => {
  const tree = await trees.fresh();
  const dir = `${tree.dir}/.git`;
  const seen = { clean: 0, conflict: 0, contained: 0, unrelated: 0 };
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async (steps) => {
      count += 1;
      const { commits, tips } = historyOf(steps);
      const shas = await importCommits(dir, `case-${count}`, commits);
      const [ours = '', theirs = ''] = tips.map((tip) => shas[tip]);
      const outcome = await mergeTrees(dir, ours, theirs);
      seen[outcome.kind] += 1;
      await tree.git('checkout', '--quiet', '--force', '--detach', ours);
      await tree.git('clean', '--quiet', '-d', '-x', '--force', '--force');
      const merged = await tree.try('merge', '--no-ff', '--no-edit', theirs);
      if (outcome.kind === 'clean') {
        t.deepEqual([merged.code, await tree.git('rev-parse', 'HEAD^{tree}')], [0, outcome.treeId]);
        t.is(await tree.git('rev-parse', 'HEAD^2'), theirs);
      } else if (outcome.kind === 'contained') {
        t.is(await tree.head(), ours);
        t.regex(merged.stdout, /^Already up to date/);
      } else {
        t.is(merged.code, 1);
        await tree.git('reset', '--quiet', '--hard');
      }
    }),
    { numRuns: 120 },
  );
  t.true(seen.clean > 20 && seen.conflict > 4 && seen.contained > 2, JSON.stringify(seen));
});

test('histories that have nothing in common are told apart from a conflict', async (t) => {
  const tree = await trees.fresh();
  const dir = `${tree.dir}/.git`;
  const commits: ImportedCommit[] = [{ files: { a: 'a' } }, { files: { b: 'b' }, parents: [] }];
  const [one = '', other = ''] = await importCommits(dir, 'both', commits);
  t.deepEqual(await mergeTrees(dir, one, other), { kind: 'unrelated' });
});

test('what is no commit of the repository is an error, and so is what is no id', async (t) => {
  const tree = await trees.fresh();
  const sha = await tree.commit({ a: 'a' });
  const dir = `${tree.dir}/.git`;
  const fault = await t.throwsAsync(mergeTrees(dir, sha, '1'.repeat(40)), { instanceOf: GitError });
  t.false(fault instanceof GitTimeoutError);
  await t.throwsAsync(mergeTrees(dir, sha, '--help'), { instanceOf: GitError });
  await t.throwsAsync(mergeTrees(dir, 'master', sha), { instanceOf: GitError });
});

test('attributes in the files choose no way of merging', async (t) => {
  const tree = await trees.fresh();
  const first = await tree.commit({ '.gitattributes': '* merge=union\n', a: 'a\n' });
  const one = await tree.commit({ a: 'one\n' });
  await tree.git('checkout', '--quiet', '--detach', first);
  const other = await tree.commit({ a: 'other\n' });
  t.deepEqual(await mergeTrees(`${tree.dir}/.git`, one, other), { kind: 'conflict' });
});
