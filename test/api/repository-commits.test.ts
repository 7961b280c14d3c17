import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git, gitWithInput } from '../git/real-git.ts';
import { rootToken, withApp } from '../support/app.ts';
import { type ImportedCommit, importCommits } from '../support/import-commits.ts';
import type { MadeProject } from '../support/make.ts';
import { commitTree, writeBlob, writeTree } from '../support/trees.ts';

const holder = withApp();

type Shown = Record<string, unknown> & { id: string; title: string };

interface Scene {
  project: MadeProject;
  dir: string;
  shas: string[];
  get<T = Shown[]>(
    path: string,
    query?: Record<string, string>,
    as?: string,
  ): ReturnType<typeof holder.app.call<T>>;
}

async function scene(commits: readonly ImportedCommit[]): Promise<Scene> {
  const { app } = holder;
  const project = await app.make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const shas = commits.length > 0 ? await importCommits(dir, 'master', commits) : [];
  const get: Scene['get'] = (path, query = {}, as = project.owner.token) =>
    app.call('GET', `/api/v3/projects/${project.id}/repository/commits${path}`, { as, query });
  return { project, dir, shas, get };
}

const ada = 'Ada <ada@example.org> 1464937902 +0530';
const grace = 'Grace <grace@example.org> 1464938000 -0330';

test('an item of the list in full', async (t) => {
  const at = await scene([{ message: 'First line\n\nThe rest\n', author: ada, committer: grace }]);
  const { status, body, headers } = await at.get('');
  t.is(status, 200);
  t.is(headers.get('x-total'), '1');
  t.deepEqual(body, [
    {
      id: at.shas[0] ?? '',
      short_id: at.shas[0]?.slice(0, 8),
      title: 'First line',
      author_name: 'Ada',
      author_email: 'ada@example.org',
      created_at: '2016-06-03T03:43:20-03:30',
      message: 'First line\n\nThe rest\n',
      allow_failure: false,
    },
  ]);
});

test('a single commit in full, by its hash, the beginning of it, a branch and a tag', async (t) => {
  const at = await scene([{ message: 'One' }, { message: 'Two', author: ada, committer: grace }]);
  const [first = '', sha = ''] = at.shas;
  await git(at.dir, 'branch', 'feature/x.y', sha);
  await git(at.dir, 'tag', '-a', '-m', 'Tag', 'v1', sha);
  const expected = {
    id: sha,
    short_id: sha.slice(0, 8),
    title: 'Two',
    author_name: 'Ada',
    author_email: 'ada@example.org',
    created_at: '2016-06-03T03:43:20-03:30',
    message: 'Two',
    committed_date: '2016-06-03T03:43:20-03:30',
    authored_date: '2016-06-03T12:41:42+05:30',
    parent_ids: [first],
    status: null,
  };
  const hashes = [sha, sha.slice(0, 10), sha.toUpperCase(), sha.slice(0, 4)];
  for (const name of [...hashes, 'master', 'feature/x.y', 'feature%2Fx.y', 'v1', 'HEAD']) {
    const { status, body } = await at.get<Shown>(`/${name}`);
    t.is(status, 200, name);
    t.deepEqual(body, expected, name);
  }
});

test('a branch goes before a tag of the same name', async (t) => {
  const at = await scene([{ message: 'One' }, { message: 'Two' }]);
  await git(at.dir, 'branch', 'same', at.shas[0] ?? '');
  await git(at.dir, 'tag', 'same', at.shas[1] ?? '');
  t.is((await at.get<Shown>('/same')).body.title, 'One');
  t.is((await at.get('', { ref_name: 'same' })).body.length, 1);
});

test('what is not there is 404 as one, and an empty list', async (t) => {
  const at = await scene([{}]);
  const blob = (await gitWithInput(at.dir, ['hash-object', '-w', '--stdin'], 'x')).trim();
  for (const name of ['nothing', 'no/thing', '1'.repeat(40), blob, 'master~1', '%00', '%2D%2Dall', 'abc']) {
    for (const path of [`/${name}`, `/${name}/diff`]) {
      const answer = await at.get(path);
      t.is(answer.status, name === '%00' ? 400 : 404, path);
      if (name !== '%00') t.deepEqual(answer.body as unknown, { message: '404 Commit Not Found' });
    }
    if (name === '%00') continue;
    const list = await at.get('', { ref_name: decodeURIComponent(name) });
    t.deepEqual([list.status, list.body, list.headers.get('x-total')], [200, [], '0'], name);
  }
  const empty = await scene([]);
  t.deepEqual((await empty.get('')).body, []);
  t.is((await empty.get('/master')).status, 404);
});

test('titles are cut where they get too long, and there always is one', async (t) => {
  const messages = ['x'.repeat(100), 'x'.repeat(101), `${'😀'.repeat(101)}\n`, '', '\n\n  Later\nmore'];
  const at = await scene(messages.map((message) => ({ message })));
  const { body } = await at.get('');
  t.deepEqual(body.map(({ title }) => title).reverse(), [
    'x'.repeat(100),
    `${'x'.repeat(80)}…`,
    `${'😀'.repeat(80)}…`,
    '--no commit message',
    'Later',
  ]);
});

test('messages in another encoding are read, endless ones are cut', async (t) => {
  const at = await scene([
    { message: Buffer.from([0x63, 0x61, 0x66, 0xe9]) },
    { message: `Long\n${'x'.repeat(1_000_000)}` },
  ]);
  const { status, body } = await at.get('');
  t.is(status, 200);
  t.is(body[1]?.message, 'café');
  t.like(body[0], { title: 'Long', author_name: 'Grace' });
  t.true(String(body[0]?.message).length < 300_000);
});

test('moments are inclusive, and nonsense is refused', async (t) => {
  const at = await scene([{}, {}, {}]);
  const second = new Date((1_400_000_000 + 120) * 1000).toISOString();
  t.is((await at.get('', { since: second })).body.length, 2);
  t.is((await at.get('', { until: second })).body.length, 2);
  t.is((await at.get('', { since: second, until: second })).body.length, 1);
  const zoned = second.replace('16:55:20.000Z', '18:55:20+02:00');
  t.not(zoned, second);
  t.is((await at.get('', { since: zoned })).body.length, 2);
  for (const name of ['since', 'until']) {
    const { status, body } = await at.get<unknown>('', { [name]: 'yesterday' });
    t.is(status, 400);
    t.deepEqual(body, {
      message: `"${name}" must be a timestamp in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ`,
    });
  }
});

test('the history of a file or folder', async (t) => {
  const at = await scene([
    { files: { a: '1', 'd/x': '1' } },
    { files: { a: '2' } },
    { files: { 'd/y': '1' } },
  ]);
  const count = async (path: string) => (await at.get('', { path })).headers.get('x-total');
  t.is(await count('a'), '2');
  t.is(await count('d'), '2');
  t.is(await count('//d/./x/'), '1');
  t.is(await count('/'), '3');
  for (const path of ['../a', 'd/../a', '..', '/etc/passwd', '*', ':!a', '--', 'a/b'])
    t.is(await count(path), '0');
});

test('the history of names that are no UTF-8, as lists of files show them, also once they are gone', async (t) => {
  const at = await scene([]);
  const raw = (text: string) => Buffer.from(text).toString('latin1');
  const blob = await writeBlob(at.dir, 'a');
  const utf8 = raw('caf\u00e9');
  // Of the first folder one name is read as UTF-8 and one as latin-1, of the last both look alike.
  const files = [`${utf8}\\na\u00efve`, 'x[1]\u00e9\n\\f', `both\\${utf8}`, 'both\\caf\u00e9'];
  const folders: string[] = [];
  const made: string[] = [];
  async function commit(lines: string[]): Promise<void> {
    made.push(await commitTree(at.dir, await writeTree(at.dir, lines)));
  }
  for (const file of files.slice(0, 2)) {
    const [folder = '', name = ''] = file.split('\\');
    folders.push(`040000 tree ${await writeTree(at.dir, [`100644 blob ${blob}\t${name}`])}\t${folder}`);
    await commit(folders);
  }
  const inner: string[] = [];
  for (const file of files.slice(2)) {
    inner.push(`100644 blob ${blob}\t${file.split('\\')[1]}`);
    await commit([...folders, `040000 tree ${await writeTree(at.dir, inner)}\tboth`]);
  }
  const found = async (path: string) => (await at.get('', { path })).body.map(({ id }) => made.indexOf(id));
  t.deepEqual(await found('caf\u00e9'), [0]);
  t.deepEqual(await found('caf\u00e9/na\u00efve'), [0]);
  t.deepEqual(await found('x[1]\u00e9\n'), [1]);
  t.deepEqual(await found('x[1]\u00e9\n/f'), [1]);
  t.deepEqual(await found('both/caf\u00e9'), [2]);
  await commit([]);
  t.deepEqual(await found('caf\u00e9/na\u00efve'), [4, 0]);
  t.deepEqual(await found('x[1]\u00e9\n/f'), [4, 1]);
});

test('ten thousand commits, page by page', async (t) => {
  const at = await scene(Array.from({ length: 10_000 }, (_, index) => ({ message: `Commit ${index}` })));
  const { body, headers } = await at.get('', { page: '77', per_page: '100' });
  t.is(headers.get('x-total'), '10000');
  t.is(headers.get('x-total-pages'), '100');
  t.deepEqual(
    body.map(({ id }) => id),
    at.shas.toReversed().slice(7600, 7700),
  );
  const beyond = await at.get('', { page: '101', per_page: '100' });
  t.deepEqual([beyond.body, beyond.headers.get('x-total')], [[], '10000']);
  await git(at.dir, 'update-ref', 'refs/heads/master', at.shas[8] ?? '');
  t.is((await at.get('')).headers.get('x-total'), '9');
});

test('the status is that of all pipelines, of which strangers see only what is open to them', async (t) => {
  const { app } = holder;
  const project = await app.make.project({
    visibility: 'public',
    columns: { default_branch: 'master', public_builds: false },
  });
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const [sha = ''] = await importCommits(dir, 'master', [{}]);
  const stranger = await app.make.user();
  const path = `/api/v3/projects/${project.id}`;
  const statusFor = async (as: string) =>
    (await app.call<{ status: string | null }>('GET', `${path}/repository/commits/${sha}`, { as })).body
      .status;
  await app.make.build(project, { status: 'failed', sha });
  await app.rows(`update pipelines set status = 'failed' where project_id = $1`, [project.id]);
  t.is(await statusFor(project.owner.token), 'failed');
  t.is(await statusFor(stranger.token), null);
  const posted = { as: project.owner.token, form: { state: 'success', ref: 'develop' } };
  t.is((await app.call('POST', `${path}/statuses/${sha}`, posted)).status, 201);
  t.is(await statusFor(stranger.token), 'success');
  t.is(await statusFor(project.owner.token), 'failed');
});

test('those who may not read code are refused', async (t) => {
  const at = await scene([{}]);
  const guest = await holder.app.make.member(at.project, 'guest');
  const stranger = await holder.app.make.user();
  for (const path of ['', '/master', '/master/diff']) {
    t.is((await at.get(path, {}, guest.token)).status, 403);
    t.is((await at.get(path, {}, stranger.token)).status, 404);
    t.is((await at.get(path, {}, rootToken)).status, 200);
  }
});

test('other endpoints below a commit are still reached', async (t) => {
  const at = await scene([{}]);
  for (const path of ['statuses', 'builds']) {
    t.deepEqual((await at.get(`/${at.shas[0]}/${path}`)).body, []);
  }
});
