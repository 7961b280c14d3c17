import test from 'ava';
import { readRef } from '../../server/git/refs.ts';
import { apiCalls, messageOf } from '../support/api-calls.ts';
import type { Answer } from '../support/app.ts';
import { gitWithInput, tryGit } from '../support/git.ts';
import { type Pushed, withPushes } from '../support/pushes.ts';

const { holder, trees, empty } = withPushes();
const call = apiCalls<Record<string, unknown>>(holder);

interface Scene extends Pushed {
  sha: string;
  /** A call about one file on master, as the owner unless told. */
  change(
    method: string,
    given: Record<string, unknown>,
    as?: string,
  ): Promise<Answer<Record<string, unknown>>>;
  git(...args: string[]): Promise<string>;
}

/** A project whose master has a file, one in a folder, an executable, a link and a submodule. */
async function scene(columns: Record<string, unknown> = {}): Promise<Scene> {
  const pushed = await empty();
  const { tree, project, url, dir } = pushed;
  await tree.commit({ 'a.txt': 'one\n', 'sub/b.txt': 'two\n', 'run.sh': 'true\n', '-odd "name"': 'x' });
  await tree.git('update-index', '--chmod=+x', 'run.sh');
  const target = (await gitWithInput(tree.dir, ['hash-object', '-w', '--stdin'], 'a.txt')).toString().trim();
  const commit = await tree.head();
  for (const [mode, sha, path] of [
    ['120000', target, 'link'],
    ['160000', commit, 'module'],
  ]) {
    await tree.git('update-index', '--add', '--cacheinfo', `${mode},${sha},${path}`);
  }
  await tree.git('commit', '--quiet', '--message', 'More');
  await tree.git('push', '--quiet', url, 'master');
  for (const [name, value] of Object.entries(columns)) {
    await holder.app.rows(`update projects set ${name} = $2 where id = $1`, [project.id, value]);
  }
  const git = async (...args: string[]) => {
    const ran = await tryGit(dir, args);
    if (ran.code !== 0) throw new Error(ran.stderr);
    return ran.stdout;
  };
  return {
    ...pushed,
    sha: await tree.head(),
    change: (method, given, as = project.owner.token) =>
      call(method, `/projects/${project.id}/repository/files`, as, {
        branch_name: 'master',
        commit_message: 'Change it',
        ...given,
      }),
    git,
  };
}

test('a file is made, changed and removed, each by a commit of the caller', async (t) => {
  const { change, git, sha, project } = await scene();
  const file_path = 'docs/new/Ä.md';
  const shown = { file_name: file_path, file_path, branch_name: 'master' };
  const made = await change('POST', { file_path, content: 'one\r\ntwo\r\n', commit_message: 'Make\r\nit' });
  t.is(made.status, 201);
  t.deepEqual(made.body, shown);
  t.is(await git('show', `master:${file_path}`), 'one\ntwo');
  const changed = await change('PUT', {
    file_path,
    content: Buffer.from('a\r\n\0b').toString('base64'),
    encoding: 'base64',
  });
  t.is(changed.status, 200);
  t.deepEqual(changed.body, shown);
  t.is(await git('show', `master:${file_path}`), 'a\r\n\0b');
  const removed = await change('DELETE', { file_path });
  t.is(removed.status, 200);
  t.deepEqual(removed.body, shown);
  t.is(await git('rev-parse', 'master^{tree}'), await git('rev-parse', `${sha}^{tree}`));
  const { username } = project.owner;
  const by = `Name of ${username} <${username}@example.com>`;
  t.is(
    await git(
      'log',
      '--reverse',
      '--format=%B|%an <%ae> %cn <%ce> %ad',
      '--date=format:%z',
      `${sha}..master`,
    ),
    `Make\nit|${by} ${by} +0000\nChange it|${by} ${by} +0000\nChange it|${by} ${by} +0000`,
  );
  t.is(await git('fsck', '--full', '--strict'), '');
});

test('a repository that has only tags takes a first file on a branch that it makes', async (t) => {
  const { project, tree, dir, url } = await empty();
  await tree.commit({ 'a.txt': 'one\n' });
  await tree.git('tag', 'v1');
  await tree.git('push', '--quiet', url, 'v1');
  const form = { branch_name: 'trunk', file_path: 'b.txt', content: 'b', commit_message: 'First' };
  const made = await call('POST', `/projects/${project.id}/repository/files`, project.owner.token, form);
  t.is(made.status, 201);
  t.not(await readRef(dir, 'refs/heads/trunk'), null);
});

test('the first file of an empty repository makes the branch, which becomes the default one', async (t) => {
  const { project, dir, url } = await empty();
  const path = `/projects/${project.id}/repository/files`;
  const given = { file_path: '/README', content: 'Hello', commit_message: 'Begin' };
  const bad = await call('POST', path, project.owner.token, { ...given, branch_name: 'a..b' });
  t.is(bad.status, 400);
  t.is(messageOf(bad), 'Branch name is invalid');
  const made = await call('POST', path, project.owner.token, { ...given, branch_name: 'feature/first' });
  t.is(made.status, 201);
  t.not(await readRef(dir, 'refs/heads/feature/first'), null);
  const copy = await trees.clone(url);
  t.is(await copy.git('symbolic-ref', '--short', 'HEAD'), 'feature/first');
  t.is(await copy.git('ls-files'), 'README');
});

test('a file stays what it is: executable, or a link', async (t) => {
  const { change, git } = await scene();
  t.is((await change('PUT', { file_path: 'run.sh', content: 'false\n' })).status, 200);
  t.is((await change('PUT', { file_path: 'link', content: 'run.sh' })).status, 200);
  t.is(await git('ls-tree', '--format=%(objectmode)', 'master', 'run.sh', 'link'), '120000\n100755');
  t.is(await git('show', 'master:link'), 'run.sh');
});

test('a name that could not be made can be changed and removed', async (t) => {
  const { change, git } = await scene();
  const file_path = '-odd "name"';
  t.is((await change('PUT', { file_path, content: 'y' })).status, 200);
  t.is(await git('show', `master:${file_path}`), 'y');
  t.is((await change('DELETE', { file_path })).status, 200);
  t.is(await git('ls-tree', '--name-only', 'master', '--', file_path), '');
});

const failed = 'Your changes could not be committed because';
const refusals: [method: string, given: Record<string, unknown>, message: unknown][] = [
  ['POST', { branch_name: 'other' }, 'You can only create or edit files when you are on a branch'],
  ['POST', { branch_name: 'master~0' }, 'You can only create or edit files when you are on a branch'],
  ['POST', { branch_name: 'x'.repeat(300) }, 'You can only create or edit files when you are on a branch'],
  ['PUT', { branch_name: 'HEAD' }, 'You can only create or edit files when you are on a branch'],
  [
    'POST',
    { file_path: 'a/../b' },
    'Your changes could not be committed, because the file name cannot include directory traversal. ',
  ],
  [
    'POST',
    { file_path: 'a b' },
    "Your changes could not be committed, because the file name can contain only letters, digits, '_', '-', '@' and '.'. Separate directories with a '/'. ",
  ],
  ['POST', { file_path: '.git/config' }, 'Invalid path'],
  ['POST', { file_path: 'a.txt' }, `${failed} a file with the same name already exists`],
  ['POST', { file_path: 'link' }, `${failed} a file with the same name already exists`],
  ['POST', { file_path: 'module' }, `${failed} a file with the same name already exists`],
  ['POST', { file_path: 'sub' }, `${failed} a folder with the same name already exists`],
  ['POST', { file_path: 'a.txt/b' }, `${failed} a file is in the way of a folder`],
  ['POST', { file_path: 'link/b' }, `${failed} a file is in the way of a folder`],
  ['POST', { file_path: 'module/b/c' }, `${failed} a file is in the way of a folder`],
  ['PUT', { file_path: '../a.txt' }, 'Invalid path'],
  ['DELETE', { file_path: 'sub/../a.txt' }, 'Invalid path'],
  ['PUT', { file_path: 'nothing' }, `${failed} the file does not exist`],
  ['PUT', { file_path: 'a.txt/b' }, `${failed} the file does not exist`],
  ['PUT', { file_path: 'module/a' }, `${failed} the file does not exist`],
  ['DELETE', { file_path: 'nothing/a' }, `${failed} the file does not exist`],
  ['PUT', { file_path: 'sub' }, `${failed} there is no file but a folder`],
  ['DELETE', { file_path: 'sub' }, `${failed} there is no file but a folder`],
  ['PUT', { file_path: 'module' }, `${failed} there is no file but a folder`],
  ['DELETE', { file_path: 'module' }, `${failed} there is no file but a folder`],
  ['PUT', { file_path: 'a.txt', content: 'one\n' }, `${failed} they change nothing`],
  ['PUT', { file_path: 'a.txt', content: 'one\r\n' }, `${failed} they change nothing`],
  ['POST', { content: 'YQ=', encoding: 'base64' }, { content: ['is not valid base64'] }],
  ['POST', { content: 'a b=', encoding: 'base64' }, { content: ['is not valid base64'] }],
  ['POST', { content: '%%%%', encoding: 'base64' }, { content: ['is not valid base64'] }],
  ['POST', { encoding: 'utf-16' }, { encoding: ['is not included in the list'] }],
  ['POST', { content: '' }, '400 (Bad request) "content" not given'],
  ['PUT', { file_path: 'a.txt', content: null }, '400 (Bad request) "content" not given'],
  ['POST', { content: '\ud800' }, '400 (Bad request) the request is not valid UTF-8'],
  ['POST', { content: '', commit_message: '' }, '400 (Bad request) "content" not given'],
  ['POST', { commit_message: ' ' }, '400 (Bad request) "commit_message" not given'],
  ['POST', { branch_name: '', content: '' }, '400 (Bad request) "branch_name" not given'],
  ['DELETE', { file_path: '', branch_name: '' }, '400 (Bad request) "file_path" not given'],
  [
    'POST',
    { file_path: '.gitmodules', content: '[submodule "x"]\n\tpath = x\n\turl = -x\n' },
    'Something went wrong. Your changes were not committed',
  ],
];

test('what cannot be done is refused with its reason, and changes nothing', async (t) => {
  const { change, dir, sha } = await scene();
  for (const [method, given, message] of refusals) {
    const refused = await change(method, { file_path: 'new.txt', content: 'new', ...given });
    t.is(refused.status, 400, JSON.stringify([method, given]));
    t.deepEqual(messageOf(refused), message);
  }
  t.is(await readRef(dir, 'refs/heads/master'), sha);
});

test('base64 may come in lines', async (t) => {
  const { change, git } = await scene();
  const lines = Buffer.from('x'.repeat(200)).toString('base64').replace(/.{60}/g, '$&\n');
  t.is((await change('POST', { file_path: 'x', content: `${lines}\n`, encoding: 'base64' })).status, 201);
  t.is(await git('show', 'master:x'), 'x'.repeat(200));
});

test('with last_commit_id, only a file that is still as it was there changes', async (t) => {
  const { change, git, sha, tree } = await scene();
  const first = await tree.git('rev-parse', 'HEAD~1');
  await change('PUT', { file_path: 'sub/b.txt', content: 'else' });
  t.is((await change('PUT', { file_path: 'a.txt', content: '2', last_commit_id: first })).status, 200);
  for (const method of ['PUT', 'DELETE']) {
    for (const last_commit_id of [sha, 'no-such-commit']) {
      const refused = await change(method, { file_path: 'a.txt', content: '3', last_commit_id });
      t.is(refused.status, 400);
      t.is(messageOf(refused), `${failed} the file has changed since the commit that last_commit_id names`);
    }
  }
  const head = await git('rev-parse', 'master');
  t.is((await change('DELETE', { file_path: 'a.txt', last_commit_id: head })).status, 200);
});

test('another author can be named', async (t) => {
  const { change, git, project } = await scene();
  const author = { author_name: 'Ada <Lovelace>', author_email: 'ada@example.org' };
  t.is((await change('POST', { file_path: 'x', content: 'x', ...author })).status, 201);
  const shown = `Ada Lovelace <ada@example.org> Name of ${project.owner.username}`;
  t.is(await git('log', '-1', '--format=%an <%ae> %cn', 'master'), shown);
});

test('a protected branch takes edits of masters, and of developers where its rule says so', async (t) => {
  const { change, project } = await scene();
  const developer = await holder.app.make.member(project, 'developer');
  const master = await holder.app.make.member(project, 'master');
  const edit = (content: string, as: string) => change('PUT', { file_path: 'a.txt', content }, as);
  const allow = (may: boolean) =>
    holder.app.rows('update protected_branches set developers_can_push = $2 where project_id = $1', [
      project.id,
      may,
    ]);
  await allow(false);
  const refused = await edit('by a developer', developer.token);
  t.is(refused.status, 400);
  t.is(messageOf(refused), 'You are not allowed to push into this branch');
  t.is((await edit('by a master', master.token)).status, 200);
  await allow(true);
  t.is((await edit('by a developer', developer.token)).status, 200);
});

test('reporters, and everybody in an archived project, may not; strangers do not find it', async (t) => {
  const { change, project } = await scene({ archived: true });
  const given = { file_path: 'x', content: 'x' };
  t.is((await change('POST', given)).status, 403);
  await holder.app.rows('update projects set archived = false where id = $1', [project.id]);
  t.is((await change('POST', given, (await holder.app.make.member(project, 'reporter')).token)).status, 403);
  t.is((await change('POST', given, (await holder.app.make.user()).token)).status, 404);
});

test('what an import is about to replace is not edited', async (t) => {
  const { change } = await scene({ import_status: 'started' });
  const refused = await change('POST', { file_path: 'x', content: 'x' });
  t.is(refused.status, 409);
  t.is(messageOf(refused), 'The project is being imported');
});

test('a large file comes in, and one that is too large does not', async (t) => {
  const { change, git } = await scene();
  const bytes = Buffer.alloc(12 * 1024 * 1024, 'large\0\xff', 'latin1');
  const content = bytes.toString('base64');
  const made = await change('POST', { file_path: 'large.bin', content, encoding: 'base64' });
  t.is(made.status, 201);
  t.is(await git('cat-file', '-s', 'master:large.bin'), String(bytes.length));
  const tooLarge = await change('POST', { file_path: 'x', content: 'x'.repeat(33 * 1024 * 1024) });
  t.is(tooLarge.status, 413);
});

test('a large body is not read for those who say nowhere else who they are', async (t) => {
  const { project } = await scene();
  const path = `/api/v3/projects/${project.id}/repository/files`;
  const json = {
    file_path: 'x',
    content: 'x'.repeat(3 * 1024 * 1024),
    branch_name: 'master',
    commit_message: 'm',
  };
  t.is((await holder.app.call('POST', path, { json })).status, 401);
  const reporter = await holder.app.make.member(project, 'reporter');
  t.is((await holder.app.call('POST', path, { json, as: reporter.token })).status, 403);
  const query = { private_token: project.owner.token };
  t.is((await holder.app.call('POST', path, { json, query })).status, 201);
});
