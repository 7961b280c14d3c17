import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { type ImportedCommit, importCommits } from '../support/import-commits.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp({ poolSize: 2 });

interface Comment {
  note: string;
  author: { username: string };
  path: string | null;
  line: number | null;
  line_type: string | null;
  created_at: string;
}

interface Scene {
  project: MadeProject;
  dir: string;
  shas: string[];
  url(sha: string): string;
  post(sha: string, json: Record<string, unknown>, as?: string): Promise<Answer<Comment>>;
  list(sha: string, query?: Record<string, string>): Promise<Answer<Comment[]>>;
}

const before = `${Array.from({ length: 12 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;
/** Line 2 is another one, line 5 is gone, and one is new after line 10. */
const after = before
  .replace('line 2\n', 'LINE 2\n')
  .replace('line 5\n', '')
  .replace('line 10\n', 'line 10\nnew\n');

async function scene(
  commits: ImportedCommit[] = [{ files: { a: before } }, { files: { a: after } }],
  given: Parameters<typeof holder.app.make.project>[0] = {},
): Promise<Scene> {
  const { app } = holder;
  const project = await app.make.project(given);
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const shas = await importCommits(dir, 'master', commits);
  const url = (sha: string) => `/api/v3/projects/${project.id}/repository/commits/${sha}/comments`;
  return {
    project,
    dir,
    shas,
    url,
    post: (sha, json, as = project.owner.token) => app.call('POST', url(sha), { as, json }),
    list: (sha, query = {}) => app.call('GET', url(sha), { as: project.owner.token, query }),
  };
}

/** `path:line:type`, or `-` for a comment on the whole commit. */
function placeOf({ body: { path, line, line_type } }: Answer<Comment>): string {
  return path === null && line === null && line_type === null ? '-' : `${path}:${line}:${line_type}`;
}

test('a comment in full, and in the list', async (t) => {
  const { post, list, project, shas } = await scene();
  const { status, body } = await post(shas[1] ?? '', { note: 'Well *done*' });
  t.is(status, 201);
  t.regex(body.created_at, /^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/);
  const { created_at, author, ...rest } = body;
  t.deepEqual(rest, { note: 'Well *done*', path: null, line: null, line_type: null });
  t.like(author, { id: project.owner.id, username: project.owner.username, state: 'active' });
  t.deepEqual((await list(shas[1] ?? '')).body, [body]);
  t.deepEqual((await list(shas[0] ?? '')).body, []);
});

test('lines that were added or removed have a place, and no others', async (t) => {
  const { post, shas } = await scene();
  const cases: [Record<string, unknown>, string][] = [
    [{ path: 'a', line: 2, line_type: 'new' }, 'a:2:new'],
    [{ path: 'a', line: '10', line_type: 'new' }, 'a:10:new'],
    [{ path: 'a', line: 2, line_type: 'old' }, 'a:2:old'],
    [{ path: 'a', line: 5, line_type: 'old' }, 'a:5:old'],
    [{ path: 'a', line: 3, line_type: 'new' }, '-'],
    [{ path: 'a', line: 5, line_type: 'new' }, '-'],
    [{ path: 'a', line: 10, line_type: 'old' }, '-'],
    [{ path: 'a', line: 900, line_type: 'new' }, '-'],
    [{ path: 'b', line: 2, line_type: 'new' }, '-'],
    [{ path: './a', line: 2, line_type: 'new' }, '-'],
    [{ line: 2, line_type: 'new' }, '-'],
    [{ path: 'a', line_type: 'new' }, '-'],
    [{ path: 'a', line: 2 }, '-'],
    [{ path: 'a', line: 2, line_type: 'same' }, '-'],
    [{ path: 'a', line: 0, line_type: 'new' }, '-'],
    [{ path: 'a', line: -2, line_type: 'new' }, '-'],
    [{ path: 'a', line: 2.5, line_type: 'new' }, '-'],
    [{ path: 'a', line: 'two', line_type: 'new' }, '-'],
    [{ path: 'a', line: 99999999999, line_type: 'new' }, '-'],
    [{ path: 'a\0', line: 2, line_type: 'new' }, '-'],
    [{ path: ['a'], line: [2], line_type: ['new'] }, '-'],
    [{ path: 'x'.repeat(5000), line: 2, line_type: 'new' }, '-'],
  ];
  for (const [json, place] of cases) {
    const answer = await post(shas[1] ?? '', { note: 'x', ...json });
    t.is(answer.status, 201, JSON.stringify(json));
    t.is(placeOf(answer), place, JSON.stringify(json).slice(0, 100));
  }
});

test('a hash may be in upper case', async (t) => {
  const { post, list, shas } = await scene();
  const name = shas[1]?.toUpperCase() ?? '';
  const answer = await post(name, { note: 'x', path: 'a', line: 2, line_type: 'new' });
  t.deepEqual([answer.status, placeOf(answer)], [201, 'a:2:new']);
  t.is((await list(name)).body.length, 1);
});

test('only the whole hash has a place: other names are comments on their last commit', async (t) => {
  const { post, list, dir, shas } = await scene();
  const [, sha = ''] = shas;
  await git(dir, 'tag', '-a', '-m', 'First', 'v1', sha);
  await git(dir, 'branch', 'x/y', sha);
  const tag = await git(dir, 'rev-parse', 'v1');
  const names = ['master', 'v1', 'x/y', 'x%2Fy', 'refs%2Fheads%2Fmaster', sha.slice(0, 8), tag];
  for (const name of names) {
    const answer = await post(name, { note: name, path: 'a', line: 2, line_type: 'new' });
    t.is(answer.status, 201, name);
    t.is(placeOf(answer), '-', name);
  }
  t.deepEqual(
    (await list('master')).body.map(({ note }) => note),
    names,
  );
});

test('files that were renamed, made, removed, are binary or have odd names', async (t) => {
  const odd = 'ä "b"\tc';
  const { post, shas } = await scene([
    { files: { old: before, gone: 'a\nb\n', bin: Buffer.from([0, 1, 10]) } },
    {
      files: {
        old: null,
        moved: after,
        gone: null,
        made: '1\n2\n',
        bin: Buffer.from([0, 2, 10]),
        [odd]: 'x',
      },
    },
  ]);
  const cases: [string, number, string, boolean][] = [
    ['moved', 2, 'new', true],
    ['moved', 5, 'old', true],
    ['old', 5, 'old', false],
    ['gone', 2, 'old', true],
    ['gone', 2, 'new', false],
    ['made', 2, 'new', true],
    ['made', 3, 'new', false],
    ['bin', 1, 'new', false],
    [odd, 1, 'new', true],
  ];
  for (const [path, line, line_type, isFound] of cases) {
    const answer = await post(shas[1] ?? '', { note: 'x', path, line, line_type });
    t.is(placeOf(answer), isFound ? `${path}:${line}:${line_type}` : '-');
  }
});

test('a merge is compared with its first parent, the first commit with nothing', async (t) => {
  const { post, shas } = await scene([
    { files: { a: '1\n' } },
    { parents: [0], files: { b: '1\n' } },
    { parents: [0], files: { c: '1\n' } },
    { parents: [1, 2], files: { c: '1\n' } },
  ]);
  const line = { note: 'x', line: 1, line_type: 'new' };
  t.is(placeOf(await post(shas[3] ?? '', { ...line, path: 'c' })), 'c:1:new');
  t.is(placeOf(await post(shas[3] ?? '', { ...line, path: 'b' })), '-');
  t.is(placeOf(await post(shas[0] ?? '', { ...line, path: 'a' })), 'a:1:new');
});

test('lines of a large commit are found, in what a diff does not show they are not', async (t) => {
  const names = Array.from({ length: 150 }, (_, index) => `f${1000 + index}`);
  const files = Object.fromEntries(names.map((name) => [name, 'x\n'.repeat(40)]));
  const { post, shas } = await scene([{ files: { ...files, large: 'x'.repeat(200_000) } }]);
  const at = (path: string, line: number) =>
    post(shas[0] ?? '', { note: 'x', path, line, line_type: 'new' }).then(placeOf);
  t.is(await at('f1149', 40), 'f1149:40:new');
  t.is(await at('large', 1), '-');
});

test('the list is in the order of writing, and comes in pages', async (t) => {
  const { post, list, shas } = await scene();
  for (let index = 1; index <= 5; index += 1) await post(shas[1] ?? '', { note: `${index}` });
  const { body, headers } = await list(shas[1] ?? '', { page: '2', per_page: '2' });
  t.deepEqual(
    body.map(({ note }) => note),
    ['3', '4'],
  );
  t.is(headers.get('x-total'), '5');
});

test('what is missing, before who may; then the commit', async (t) => {
  const { app } = holder;
  const { project, post, list, url, shas } = await scene();
  const [sha = ''] = shas;
  const guest = (await app.make.member(project, 'guest')).token;
  const stranger = (await app.make.user()).token;
  const missing = '400 (Bad request) "note" not given';
  const cases: [Answer<unknown>, number, unknown][] = [
    [await post(sha, {}), 400, missing],
    [await post(sha, { note: ' \n' }), 400, missing],
    [await post(sha, { note: 'a\0b' }), 400, { note: ['is invalid'] }],
    [
      await post(sha, { note: 'x'.repeat(65_537) }),
      400,
      { note: ['is too long (maximum is 65536 characters)'] },
    ],
    [await post(sha, {}, guest), 400, missing],
    [await post(sha, { note: 'x' }, guest), 403, '403 Forbidden'],
    [await post(sha, {}, stranger), 404, '404 Project Not Found'],
    [await post('nowhere', {}), 400, missing],
    [await post('nowhere', { note: 'x' }), 404, '404 Commit Not Found'],
    [await post('c'.repeat(40), { note: 'x' }), 404, '404 Commit Not Found'],
    [await list('nowhere'), 404, '404 Commit Not Found'],
    [await app.call('GET', url(sha), { as: guest }), 403, '403 Forbidden'],
  ];
  for (const [{ status, body }, wanted, message] of cases) {
    t.is(status, wanted, JSON.stringify(body));
    t.deepEqual(body, { message });
  }
  t.deepEqual((await list(sha)).body, []);
});

test('whoever reads code may comment: strangers in a public project, and in an archived one', async (t) => {
  const { post, shas } = await scene(undefined, { visibility: 'public', columns: { archived: true } });
  const stranger = await holder.app.make.user();
  const { status, body } = await post(shas[0] ?? '', { note: 'Nice' }, stranger.token);
  t.is(status, 201);
  t.is(body.author.username, stranger.username);
});

test('a fork has comments of its own, and commits that the other does not have', async (t) => {
  const { app } = holder;
  const { post, list, project, shas } = await scene(undefined, { visibility: 'public' });
  const [, sha = ''] = shas;
  const owner = await app.make.user();
  const fork = await app.call<{ id: number }>('POST', `/api/v3/projects/fork/${project.id}`, {
    as: owner.token,
  });
  const dir = repositoryDir(app.services.repositoriesDir, fork.body.id);
  const [other = ''] = await importCommits(dir, 'other', [{ files: { b: '1\n' } }]);
  const path = (of: string) => `/api/v3/projects/${fork.body.id}/repository/commits/${of}/comments`;
  for (const of of [sha, other]) {
    const json = { note: of, path: of === sha ? 'a' : 'b', line: of === sha ? 2 : 1, line_type: 'new' };
    const made = await app.call<Comment>('POST', path(of), { as: owner.token, json });
    t.is(made.status, 201);
    t.is(made.body.path, json.path);
  }
  t.deepEqual((await list(sha)).body, []);
  t.is((await post(other, { note: 'x' })).status, 404);
});

test('a commit that was commented on stays when its branch goes and the repository is cleaned', async (t) => {
  const { post, list, dir, shas } = await scene();
  const [first = '', sha = ''] = shas;
  await post(sha, { note: 'Keep me' });
  await git(dir, 'update-ref', 'refs/heads/master', first);
  await git(dir, 'reflog', 'expire', '--expire=now', '--all');
  await git(dir, 'gc', '--quiet', '--prune=now');
  t.deepEqual(
    (await list(sha)).body.map(({ note }) => note),
    ['Keep me'],
  );
});

test('the activity of the project tells of it, until its author goes', async (t) => {
  const { app } = holder;
  const { post, list, project, shas } = await scene();
  const author = await app.make.member(project, 'reporter');
  const { body } = await post(shas[1] ?? '', { note: 'Hm' }, author.token);
  const events = () =>
    app.call<Record<string, unknown>[]>('GET', `/api/v3/projects/${project.id}/events`, { as: rootToken });
  const [event, ...others] = (await events()).body;
  t.deepEqual(others, []);
  const note = event?.note as { id: number; created_at: string };
  t.deepEqual(event, {
    title: null,
    project_id: project.id,
    action_name: 'commented on',
    target_id: note.id,
    target_type: 'Note',
    author_id: author.id,
    author: body.author,
    author_username: author.username,
    target_title: null,
    data: null,
    created_at: event?.created_at,
    note: {
      id: note.id,
      body: 'Hm',
      attachment: null,
      author: body.author,
      created_at: body.created_at,
      system: false,
      upvote: false,
      downvote: false,
      noteable_id: null,
      noteable_type: 'Commit',
    },
  });
  await app.call('DELETE', `/api/v3/users/${author.id}`, { as: rootToken });
  t.deepEqual((await list(shas[1] ?? '')).body, []);
  t.deepEqual((await events()).body, []);
});

test('comments go with their project', async (t) => {
  const { app } = holder;
  const { post, project, shas } = await scene();
  await post(shas[1] ?? '', { note: 'Hm' });
  await app.call('DELETE', `/api/v3/projects/${project.id}`, { as: rootToken });
  await app.runAllTasks();
  t.deepEqual(await app.rows('select 1 from notes where project_id = $1', [project.id]), []);
  t.deepEqual(await app.rows('select 1 from projects where id = $1', [project.id]), []);
});
