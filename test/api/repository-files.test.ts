import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { type Answer, withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';
import { commitTree, emptyBlob, submodule, writeBlob, writeTree } from '../support/trees.ts';

const holder = withApp();

interface File {
  file_name: string;
  content: string;
  last_commit_id: string;
}

interface Scene {
  project: MadeProject;
  dir: string;
  file(query: Record<string, string>): Promise<Answer<File>>;
}

async function scene(): Promise<Scene> {
  const project = await holder.app.make.project({ columns: { default_branch: 'master' } });
  return {
    project,
    dir: repositoryDir(holder.app.services.repositoriesDir, project.id),
    file: (query) =>
      holder.app.call('GET', `/api/v3/projects/${project.id}/repository/files`, {
        as: project.owner.token,
        query,
      }),
  };
}

test('a file with its contents, and where it comes from', async (t) => {
  const at = await scene();
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
  const blob = await writeBlob(at.dir, bytes);
  const inner = await writeTree(at.dir, [`100644 blob ${blob}\tdata.bin`]);
  const first = await commitTree(at.dir, await writeTree(at.dir, [`040000 tree ${inner}\tdir`]));
  const tip = await commitTree(
    at.dir,
    await writeTree(at.dir, [`040000 tree ${inner}\tdir`, `100644 blob ${emptyBlob}\tlater`]),
  );
  for (const file_path of ['dir/data.bin', '/dir/data.bin', '///dir/data.bin']) {
    const { status, body } = await at.file({ file_path, ref: 'master' });
    t.is(status, 200);
    t.deepEqual(body as unknown, {
      file_name: 'data.bin',
      file_path: 'dir/data.bin',
      size: 1000,
      encoding: 'base64',
      content: bytes.toString('base64'),
      ref: 'master',
      blob_id: blob,
      commit_id: tip,
      last_commit_id: first,
    });
  }
  const old = await at.file({ file_path: 'dir/data.bin', ref: first.slice(0, 10) });
  t.like(old.body, { ref: first.slice(0, 10), commit_id: first, last_commit_id: first });
});

test('faults of a request for a file', async (t) => {
  const at = await scene();
  const inner = await writeTree(at.dir, [`100644 blob ${emptyBlob}\tx`]);
  await commitTree(
    at.dir,
    await writeTree(at.dir, [
      `040000 tree ${inner}\tdir`,
      `160000 commit ${submodule}\tmodule`,
      `100644 blob ${'2'.repeat(40)}\tlost`,
    ]),
  );
  const faults: [Record<string, string>, number, unknown][] = [
    [{}, 400, '400 (Bad request) "file_path" not given'],
    [{ ref: 'master' }, 400, '400 (Bad request) "file_path" not given'],
    [{ file_path: 'x' }, 400, '400 (Bad request) "ref" not given'],
    [{ file_path: 'x', ref: 'nowhere' }, 404, '404 Commit Not Found'],
    [{ file_path: 'x', ref: 'master^' }, 404, '404 Commit Not Found'],
    [{ file_path: 'x\0', ref: 'master' }, 400, { file_path: ['is invalid'] }],
  ];
  for (const file_path of [
    'nothing',
    'dir',
    'dir/',
    'dir//x',
    'module',
    'lost',
    '../x',
    './dir/x',
    '/',
    ':(top)dir/x',
  ]) {
    faults.push([{ file_path, ref: 'master' }, 404, '404 File Not Found']);
  }
  for (const [query, status, message] of faults) {
    const answer = await at.file(query);
    t.deepEqual([answer.status, answer.body as unknown], [status, { message }], JSON.stringify(query));
  }
});

test('a file that is too large for JSON is refused with the way to get it', async (t) => {
  const at = await scene();
  const size = 16 * 1024 * 1024;
  const fitting = await writeBlob(at.dir, Buffer.alloc(size));
  const large = await writeBlob(at.dir, Buffer.alloc(size + 1));
  await commitTree(
    at.dir,
    await writeTree(at.dir, [`100644 blob ${fitting}\tfitting`, `100644 blob ${large}\tlarge`]),
  );
  const { status, body } = await at.file({ file_path: 'large', ref: 'master' });
  const message = `The file has 16777217 bytes, and this answer takes 16777216: get it from repository/raw_blobs/${large}`;
  t.deepEqual([status, body as unknown], [422, { message }]);
  const other = await at.file({ file_path: 'fitting', ref: 'master' });
  t.is(Buffer.from(other.body.content, 'base64').length, size);
});

test('the last commit of a path is that of this path alone, whatever it is called', async (t) => {
  const at = await scene();
  const raw = (text: string) => Buffer.from(text).toString('latin1');
  // Each is a pattern, or looks alike when shown, for one that comes before or after it.
  const names: [shown: string, bytes: string][] = [
    ['*', '*'],
    ['abc', 'abc'],
    ['a?c', 'a?c'],
    ['[ab]*', '[ab]*'],
    ['a*', 'a*'],
    ['back\\*', 'back\\*'],
    ['-n', '-n'],
    ['--', '--'],
    [':(exclude)x', ':(exclude)x'],
    [':!x', ':!x'],
    ['#x', '#x'],
    ['"q"', '"q"'],
    ['line\nbreak', 'line\nbreak'],
    ['end\r', 'end\r'],
    ['end', 'end'],
    [' x ', ' x '],
    ['x', 'x'],
    ['caf\u00e9', raw('caf\u00e9')],
    ['cafe\u0301', raw('cafe\u0301')],
    ['na\u00efve', 'na\u00efve'],
    ['na\nb\u00efve', 'na\nb\u00efve'],
    ['ABC', 'ABC'],
  ];
  const lines: string[] = [];
  const made: string[] = [];
  for (const [, bytes] of names) {
    lines.push(`100644 blob ${await writeBlob(at.dir, bytes)}\t${bytes}`);
    const inner = await writeTree(at.dir, lines);
    made.push(await commitTree(at.dir, await writeTree(at.dir, [`040000 tree ${inner}\tdir`])));
  }
  for (const [index, [shown]] of names.entries()) {
    const { status, body } = await at.file({ file_path: `dir/${shown}`, ref: 'master' });
    t.is(status, 200, shown);
    t.is(body.file_name, shown);
    t.is(body.last_commit_id, made[index] ?? '', shown);
  }
});

test('the last commit of a file that came in by a merge is the one that made it', async (t) => {
  const at = await scene();
  const blob = await writeBlob(at.dir, 'a');
  const base = await commitTree(at.dir, await writeTree(at.dir, []));
  await git(at.dir, 'update-ref', 'refs/heads/side', base);
  const both = await writeTree(at.dir, [`100644 blob ${blob}\ta`, `100644 blob ${blob}\tb`]);
  const side = await commitTree(
    at.dir,
    await writeTree(at.dir, [`100644 blob ${blob}\ta`]),
    'refs/heads/side',
  );
  const main = await commitTree(at.dir, await writeTree(at.dir, [`100644 blob ${blob}\tb`]));
  const merge = await git(at.dir, 'commit-tree', '-p', main, '-p', side, '-m', 'Merge', both);
  const { body } = await at.file({ file_path: 'a', ref: merge });
  t.is(body.last_commit_id, side);
  t.is((await at.file({ file_path: 'b', ref: merge })).body.last_commit_id, main);
});
