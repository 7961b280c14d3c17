import test from 'ava';
import fc from 'fast-check';
import { CatFile } from '../../server/git/cat-file.ts';
import { parseCommit } from '../../server/git/commit.ts';
import { git, gitWithInput, makeBench } from './real-git.ts';

const bench = await makeBench();
const objects = new CatFile();
test.after.always(async () => {
  objects.close();
  await bench.clean();
});

const sha = '1'.repeat(40);

function parse(...lines: (string | Buffer)[]) {
  return parseCommit(sha, Buffer.concat(lines.map((line) => Buffer.from(line))));
}

test('a commit is read with the dates in its authors’ own offsets', async (t) => {
  const { dir, tree } = await bench.filled();
  const parent = await git(tree, 'rev-parse', 'HEAD');
  await git(tree, 'commit', '--quiet', '--allow-empty', '-m', 'Fix ü', '-m', 'Second paragraph');
  await git(tree, 'push', '--quiet', dir, 'master');
  const tip = await git(tree, 'rev-parse', 'HEAD');
  t.deepEqual(await objects.readCommit(dir, 'refs/heads/master'), {
    sha: tip,
    treeId: await git(tree, 'rev-parse', 'HEAD^{tree}'),
    parentIds: [parent],
    message: 'Fix ü\n\nSecond paragraph\n',
    title: 'Fix ü',
    authorName: 'Ada Lovelace',
    authorEmail: 'ada@example.org',
    authoredDate: '2016-06-03T12:41:42+05:30',
    committerName: 'Grace Hopper',
    committerEmail: 'grace@example.org',
    committedDate: '2016-06-03T03:43:20-03:30',
  });
});

test('latin-1 commits are read, with and without saying so', async (t) => {
  const { dir } = await bench.filled();
  const tree = await git(dir, 'rev-parse', 'master^{tree}');
  for (const header of ['', 'encoding ISO-8859-1\n', 'encoding no-such-thing\n', 'encoding UTF-8\n']) {
    const text = `tree ${tree}\nauthor J\xfcrgen <j@x> 1 +0000\ncommitter J\xfcrgen <j@x> 1 +0000\n${header}\nGr\xfc\xdfe\n`;
    const args = ['hash-object', '-w', '-t', 'commit', '--stdin'];
    const id = (await gitWithInput(dir, args, Buffer.from(text, 'latin1'))).trim();
    const commit = await objects.readCommit(dir, id);
    t.is(commit?.title, 'Grüße');
    t.is(commit?.authorName, 'Jürgen');
  }
});

test('another encoding is followed', (t) => {
  const body = Buffer.from([0x93, 0xfa, 0x96, 0x7b]);
  t.is(parse('tree x\nencoding Shift_JIS\n\n', body).title, '日本');
});

test('signatures and merged tags are not taken for headers', (t) => {
  const commit = parse(
    `tree t\nparent ${sha}\nparent ${sha}\nauthor A <a> 1 +0000\ncommitter C <c> 2 +0000\n`,
    'gpgsig -----BEGIN\n author Evil <e> 3 +0000\n \n parent none\n -----END\n\nTitle\n',
  );
  t.is(commit.authorName, 'A');
  t.is(commit.parentIds.length, 2);
  t.is(commit.title, 'Title');
});

test('odd authors and dates do no harm', (t) => {
  const odd = (line: string) => parse(`tree t\nauthor ${line}\n\nx`);
  t.is(odd('<a@b> 1 +0000').authorName, '');
  t.is(odd('A <b> <c> 1 +0000').authorEmail, 'b> <c');
  t.is(odd('nobody').authorName, 'nobody');
  t.is(odd('A <a> 99999999999999999999 +0000').authoredDate.slice(0, 4), '9999');
  t.is(odd('A <a> 0 +051800').authoredDate, '1970-01-01T00:00:00+00:00');
  t.is(odd('A <a> -5 -0100').authoredDate, '1969-12-31T23:00:00-01:00');
  t.is(odd('A <a>').authoredDate, '1970-01-01T00:00:00+00:00');
});

test('any bytes can be read', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const start of ['', 'author ', 'author <> ', 'encoding ']) parse(start, Buffer.from(bytes));
    }),
  );
  t.pass();
});
