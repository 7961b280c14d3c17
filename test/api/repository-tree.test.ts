import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { type Answer, withApp } from '../support/app.ts';
import type { MadeProject } from '../support/make.ts';
import { commitTree, emptyBlob as empty, submodule, writeTree } from '../support/trees.ts';

const holder = withApp();

interface Entry {
  name: string;
  type: string;
  mode: string;
  id: string;
  path: string;
}

interface Scene {
  project: MadeProject;
  dir: string;
  tree(query?: Record<string, string>): Promise<Answer<Entry[]>>;
  /** `mode type path` of each. */
  shown(query?: Record<string, string>): Promise<string[]>;
}

async function scene(): Promise<Scene> {
  const project = await holder.app.make.project({ columns: { default_branch: 'master' } });
  const tree: Scene['tree'] = (query = {}) =>
    holder.app.call('GET', `/api/v3/projects/${project.id}/repository/tree`, {
      as: project.owner.token,
      query,
    });
  return {
    project,
    dir: repositoryDir(holder.app.services.repositoriesDir, project.id),
    tree,
    shown: async (query) =>
      (await tree({ per_page: '100', ...query })).body.map(
        ({ mode, type, path }) => `${mode} ${type} ${path}`,
      ),
  };
}

/** Commits a tree on a branch, by default master. */
async function commit(dir: string, lines: string[], ref?: string): Promise<string> {
  return commitTree(dir, await writeTree(dir, lines), ref);
}

test('a folder shows folders first, then files, then submodules, with modes of six digits', async (t) => {
  const at = await scene();
  const inner = await writeTree(at.dir, [`100644 blob ${empty}\tmain.ts`]);
  await commit(at.dir, [
    `100755 blob ${empty}\trun`,
    `040000 tree ${inner}\tsrc`,
    `120000 blob ${empty}\tlink`,
    `160000 commit ${submodule}\tmodule`,
    `100644 blob ${empty}\tREADME`,
  ]);
  const { status, body, headers } = await at.tree();
  t.is(status, 200);
  t.deepEqual(body, [
    { name: 'src', type: 'tree', mode: '040000', id: inner, path: 'src' },
    { name: 'README', type: 'blob', mode: '100644', id: empty, path: 'README' },
    { name: 'link', type: 'blob', mode: '120000', id: empty, path: 'link' },
    { name: 'run', type: 'blob', mode: '100755', id: empty, path: 'run' },
    { name: 'module', type: 'commit', mode: '160000', id: submodule, path: 'module' },
  ]);
  t.is(headers.get('x-total'), '5');
  t.deepEqual(await at.shown({ path: 'src' }), ['100644 blob src/main.ts']);
  t.deepEqual(await at.shown({ recursive: 'true' }), [
    '100644 blob README',
    '120000 blob link',
    '160000 commit module',
    '100755 blob run',
    '040000 tree src',
    '100644 blob src/main.ts',
  ]);
  t.deepEqual(await at.shown({ recursive: 'true', path: 'src' }), ['100644 blob src/main.ts']);
});

test('slashes around a path mean nothing, and what is no folder has nothing in it', async (t) => {
  const at = await scene();
  const inner = await writeTree(at.dir, [`100644 blob ${empty}\tfile`]);
  await commit(at.dir, [`040000 tree ${inner}\tdir`, `160000 commit ${submodule}\tmodule`]);
  for (const path of ['dir', '/dir', 'dir/', '//dir//']) {
    t.deepEqual(await at.shown({ path }), ['100644 blob dir/file'], path);
  }
  for (const path of ['/', '', ' ']) t.is((await at.shown({ path })).length, 2, path);
  for (const path of [
    'nowhere',
    'dir/file',
    'module',
    '..',
    'dir/..',
    '.',
    'dir/../dir',
    'DIR',
    ':dir',
    'di*',
  ]) {
    for (const recursive of ['true', 'false']) {
      const { status, body, headers } = await at.tree({ path, recursive });
      t.deepEqual([status, body, headers.get('x-total')], [200, [], '0'], path);
    }
  }
});

test('equal folders are shown under their own paths, page by page, as often as they are asked for', async (t) => {
  const [at, other] = [await scene(), await scene()];
  for (const { dir } of [at, other]) {
    const inner = await writeTree(
      dir,
      ['a', 'b', 'c'].map((name) => `100644 blob ${empty}\t${name}`),
    );
    await commit(dir, [`040000 tree ${inner}\tone`, `040000 tree ${inner}\ttwo`]);
  }
  for (const { shown } of [at, at, other]) {
    for (const path of ['one', 'two']) {
      const file = (name: string) => `100644 blob ${path}/${name}`;
      t.deepEqual(await shown({ path, per_page: '2' }), [file('a'), file('b')]);
      t.deepEqual(await shown({ path, per_page: '2', page: '2' }), [file('c')]);
      t.deepEqual(await shown({ path }), [file('a'), file('b'), file('c')]);
    }
  }
  await commit(at.dir, [`100644 blob ${empty}\tone`]);
  t.deepEqual(await at.shown({ path: 'one' }), []);
  t.is((await other.shown({ path: 'one' })).length, 3);
});

test('a folder that one repository has lost is shown to another that has it', async (t) => {
  const [lost, whole] = [await scene(), await scene()];
  const inner = await writeTree(whole.dir, [`100644 blob ${empty}\tkept`]);
  await commit(whole.dir, [`040000 tree ${inner}\tdir`]);
  await commitTree(lost.dir, await writeTree(lost.dir, [`040000 tree ${inner}\tdir`]));
  t.deepEqual(await lost.shown({ path: 'dir' }), []);
  t.deepEqual(await whole.shown({ path: 'dir' }), ['100644 blob dir/kept']);
});

test('a state is named by branch, tag, full ref or id, and one that is not there is a 404', async (t) => {
  const at = await scene();
  await commit(at.dir, [`100644 blob ${empty}\tmaster`]);
  await commit(at.dir, [`100644 blob ${empty}\ttopic`], 'refs/heads/topic/a.b');
  await commit(at.dir, [`100644 blob ${empty}\ttag`], 'refs/tags/v1');
  await commit(at.dir, [`100644 blob ${empty}\ttag`], 'refs/tags/master');
  const sha = await git(at.dir, 'rev-parse', 'refs/heads/topic/a.b');
  const named: [string, string][] = [
    ['master', 'master'],
    ['topic/a.b', 'topic'],
    ['v1', 'tag'],
    ['refs/tags/master', 'tag'],
    [sha, 'topic'],
    [sha.slice(0, 8), 'topic'],
  ];
  for (const [ref, name] of named) {
    t.deepEqual(await at.shown({ ref_name: ref }), [`100644 blob ${name}`], ref);
  }
  const faulty = [
    'nowhere',
    'master~0',
    'master^{tree}',
    '-h',
    '--',
    'a..b',
    `${sha}:`,
    'f'.repeat(40),
    '\u{1f600}',
  ];
  for (const ref of faulty) {
    const { status, body } = await at.tree({ ref_name: ref });
    t.deepEqual([status, body as unknown], [404, { message: '404 Tree Not Found' }], ref);
  }
});

test('an empty repository, one with tags only and one without its default branch have no tree', async (t) => {
  const at = await scene();
  const missing = { message: '404 Tree Not Found' };
  t.like(await at.tree(), { status: 404, body: missing });
  await commit(at.dir, [`100644 blob ${empty}\ta`], 'refs/tags/master');
  t.like(await at.tree(), { status: 404, body: missing });
  t.deepEqual(await at.shown({ ref_name: 'master' }), ['100644 blob a']);
  await holder.app.rows('update projects set default_branch = null where id = $1', [at.project.id]);
  t.like(await at.tree(), { status: 404, body: missing });
});

test('names of all kinds are shown and followed', async (t) => {
  const at = await scene();
  const inner = await writeTree(at.dir, [`100644 blob ${empty}\tx`]);
  const names = [
    'two words',
    '"quoted"',
    "it's",
    'line\nbreak',
    'tab\t',
    '-n',
    '--help',
    ':(glob)*',
    'a:b',
    'back\\slash',
    'master',
    'caf\u00e9',
    'cafe\u0301',
    '\u{1f600}',
    '\ufeffmark',
  ];
  const lines = names.map((name) => `040000 tree ${inner}\t${Buffer.from(name).toString('latin1')}`);
  await commit(at.dir, [...lines, `040000 tree ${inner}\tna\u00efve`]);
  const all = [...names, 'na\u00efve'];
  t.deepEqual((await at.shown()).sort(), all.map((name) => `040000 tree ${name}`).sort());
  for (const name of all) t.deepEqual(await at.shown({ path: name }), [`100644 blob ${name}/x`], name);
});

test('a folder of 20,000 files is given in pages, with exact numbers, as are 20,000 in many folders', async (t) => {
  const at = await scene();
  const files = Array.from(
    { length: 200 },
    (_, file) => `100644 blob ${empty}\tf${String(file).padStart(3, '0')}`,
  );
  const inner = await writeTree(at.dir, files);
  const folders = Array.from(
    { length: 100 },
    (_, folder) => `040000 tree ${inner}\td${String(folder).padStart(2, '0')}`,
  );
  await commit(at.dir, folders);
  const flat = Array.from(
    { length: 20_000 },
    (_, file) => `100644 blob ${empty}\tf${String(file).padStart(5, '0')}`,
  );
  await commit(at.dir, flat, 'refs/heads/flat');
  const last = await at.tree({ ref_name: 'flat', per_page: '100', page: '200' });
  t.deepEqual(
    last.body.map(({ name }) => name),
    flat.slice(-100).map((line) => line.split('\t')[1] ?? ''),
  );
  t.is(last.headers.get('x-total'), '20000');
  t.is(last.headers.get('x-total-pages'), '200');
  t.is(last.headers.get('x-next-page'), '');
  const middle = await at.tree({ recursive: '1', per_page: '3', page: '6701' });
  t.deepEqual(
    middle.body.map(({ path }) => path),
    [...Array(100).keys()]
      .flatMap((folder) => {
        const name = `d${String(folder).padStart(2, '0')}`;
        return [name, ...files.map((line) => `${name}/${line.split('\t')[1]}`)];
      })
      .slice(20_100, 20_103),
  );
  t.is(middle.headers.get('x-total'), '20100');
  t.deepEqual((await at.tree({ ref_name: 'flat', page: '1000000' })).body, []);
});

test('a tree that nobody could list is refused in words', async (t) => {
  const at = await scene();
  let id = await writeTree(at.dir, [`100644 blob ${empty}\tx`]);
  for (let depth = 0; depth < 9; depth += 1) {
    id = await writeTree(
      at.dir,
      Array.from({ length: 10 }, (_, name) => `040000 tree ${id}\td${name}`),
    );
  }
  await commit(at.dir, [`040000 tree ${id}\tbomb`]);
  t.deepEqual(await at.shown(), ['040000 tree bomb']);
  const { status, body } = await at.tree({ recursive: 'true' });
  t.is(status, 400);
  t.regex((body as unknown as { message: string }).message, /ask for a folder in it by "path"/);
});
