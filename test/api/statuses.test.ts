import test from 'ava';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import { type Answer, rootToken, withApp } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();

type Status = Record<string, unknown> & { id: number; status: string; name: string };

interface Scene {
  project: MadeProject;
  dir: string;
  /** On master; `develop` has it too. */
  sha: string;
  post(json: Record<string, unknown>, options?: { as?: string; sha?: string }): Promise<Answer<Status>>;
  list(query?: string, as?: string): Promise<Answer<Status[]>>;
  /** `name: status` of each of the list. */
  shown(query?: string): Promise<string[]>;
  pipelines(): Promise<string[]>;
}

async function scene(given: Parameters<typeof holder.app.make.project>[0] = {}): Promise<Scene> {
  const { app } = holder;
  const project = await app.make.project(given);
  const dir = repositoryDir(app.services.repositoriesDir, project.id);
  const sha = await looseCommit(app, project);
  await git(dir, 'update-ref', 'refs/heads/master', sha);
  await git(dir, 'update-ref', 'refs/heads/develop', sha);
  const owner = project.owner.token;
  const list: Scene['list'] = (query = '', as = owner) =>
    app.call('GET', `/api/v3/projects/${project.id}/repository/commits/${sha}/statuses${query}`, { as });
  return {
    project,
    dir,
    sha,
    post: (json, options = {}) =>
      app.call('POST', `/api/v3/projects/${project.id}/statuses/${options.sha ?? sha}`, {
        as: options.as ?? owner,
        json,
      }),
    list,
    shown: async (query) => (await list(query)).body.map(({ name, status }) => `${name}: ${status}`),
    pipelines: async () =>
      (
        await app.rows<{ text: string }>(
          `select ref || ': ' || status as text from pipelines where project_id = $1 order by id`,
          [project.id],
        )
      ).map(({ text }) => text),
  };
}

test('a status in full', async (t) => {
  const at = await scene();
  const { status, body } = await at.post({
    state: 'running',
    ref: 'master',
    name: 'coverage',
    target_url: 'https://ci.example.com/jobs/1?a=b',
    description: 'under way',
  });
  t.is(status, 201);
  const { created_at, started_at, ...rest } = body;
  for (const time of [created_at, started_at]) t.regex(String(time), /^\d{4}-.*T.*\.\d{3}Z$/);
  t.deepEqual(rest, {
    id: body.id,
    sha: at.sha,
    ref: 'master',
    status: 'running',
    name: 'coverage',
    target_url: 'https://ci.example.com/jobs/1?a=b',
    description: 'under way',
    allow_failure: false,
    author: body.author,
    finished_at: null,
  });
  const { username, id } = at.project.owner;
  t.like(body.author, {
    id,
    username,
    state: 'active',
    web_url: `${holder.app.url}/u/${username}`,
    name: `Name of ${username}`,
  });
  t.deepEqual((await at.list()).body, [body]);
});

test('what is left out: the name is default, texts are null; context is another word for name', async (t) => {
  const at = await scene();
  const bare = await at.post({ state: 'pending', ref: 'master' });
  t.like(bare.body, {
    name: 'default',
    description: null,
    target_url: null,
    started_at: null,
    finished_at: null,
  });
  t.is((await at.post({ state: 'pending', context: 'ci/one' })).body.name, 'ci/one');
  t.is((await at.post({ state: 'pending', name: 'two', context: 'three' })).body.name, 'two');
  t.is((await at.post({ state: 'pending', name: '', context: '' })).body.name, 'default');
});

test('running starts the clock, an end stops it, pending may jump to any end', async (t) => {
  const at = await scene();
  for (const end of ['success', 'failed', 'canceled']) {
    const first = await at.post({ state: 'pending', name: end });
    const running = await at.post({ state: 'running', name: end });
    const again = await at.post({ state: 'running', name: end });
    const ended = await at.post({ state: end, name: end });
    t.deepEqual(new Set([first, running, again, ended].map(({ body }) => body.id)).size, 1);
    t.truthy(running.body.started_at);
    t.is(again.body.started_at, running.body.started_at);
    t.is(ended.body.started_at, running.body.started_at);
    t.truthy(ended.body.finished_at);
    const jump = await at.post({ state: end, name: `at once ${end}` });
    t.like(jump.body, { status: end, started_at: null });
    t.truthy(jump.body.finished_at);
  }
  await at.post({ state: 'running', name: 'back' });
  const back = await at.post({ state: 'pending', name: 'back' });
  t.like(back.body, { status: 'pending', started_at: null, finished_at: null });
});

test('an open one is brought up to date and keeps what is not sent; one at its end is followed by another', async (t) => {
  const at = await scene();
  const developer = await holder.app.make.member(at.project, 'developer');
  const open = await at.post({ state: 'pending', ref: 'master', target_url: 'http://a.example', name: 'x' });
  const changed = await at.post(
    { state: 'failed', ref: 'master', description: 'broken', name: 'x' },
    { as: developer.token },
  );
  t.like(changed.body, { id: open.body.id, target_url: 'http://a.example', description: 'broken' });
  t.deepEqual(changed.body.author, open.body.author, 'whose it was at first');
  const next = await at.post({ state: 'success', ref: 'master', name: 'x' }, { as: developer.token });
  t.true(next.body.id > open.body.id);
  t.like(next.body, { status: 'success', description: null });
  t.deepEqual(await at.shown(), ['x: success']);
  t.deepEqual(await at.shown('?all=1'), ['x: failed', 'x: success']);
  t.deepEqual(await at.pipelines(), ['master: success']);
});

test('name and ref say which one it is', async (t) => {
  const at = await scene();
  const ids: number[] = [];
  for (const json of [{ name: 'a' }, { name: 'b' }, { name: 'a', ref: 'develop' }, { name: 'a', ref: 'x' }]) {
    ids.push((await at.post({ state: 'pending', ...json })).body.id);
  }
  t.is(new Set(ids).size, 4);
  const ended = await at.post({ state: 'success', name: 'a', ref: 'x' });
  t.true(ended.body.id === ids.at(-1));
  t.deepEqual(await at.pipelines(), ['develop: pending', 'x: success']);
});

test('without a ref it counts for the first branch that holds the commit, and none is a 404', async (t) => {
  const at = await scene();
  const later = await looseCommit(holder.app, at.project, at.sha);
  await git(at.dir, 'update-ref', 'refs/heads/master', later);
  await git(at.dir, 'update-ref', 'refs/heads/a/first', later);
  t.is((await at.post({ state: 'success' })).body.ref, null);
  t.is((await at.post({ state: 'success' }, { sha: later })).body.ref, null);
  t.deepEqual(await at.pipelines(), ['a/first: success', 'a/first: success']);
  const loose = await looseCommit(holder.app, at.project);
  const refused = await at.post({ state: 'success' }, { sha: loose });
  t.is(refused.status, 404);
  t.deepEqual(refused.body as unknown, { message: '404 References for commit Not Found' });
  t.is((await at.post({ state: 'success', ref: 'anything' }, { sha: loose })).status, 201);
});

test('a commit without a pipeline gets one without builds, which keeps the commit where no ref does', async (t) => {
  const at = await scene();
  const loose = await looseCommit(holder.app, at.project);
  await git(at.dir, 'update-ref', 'refs/tags/v1', loose);
  await at.post({ state: 'success', ref: 'v1' }, { sha: loose });
  await at.post({ state: 'success', ref: 'v1', name: 'other' }, { sha: loose });
  const rows = await holder.app.rows(
    'select iid, ref, tag, sha, source, status from pipelines where project_id = $1',
    [at.project.id],
  );
  t.deepEqual(rows, [{ iid: 1, ref: 'v1', tag: true, sha: loose, source: 'external', status: 'success' }]);
  const kept = () => git(at.dir, 'for-each-ref', '--format=%(objectname)', 'refs/keep-around');
  t.is(await kept(), '', 'the tag does');
  await at.post({ state: 'success', ref: 'elsewhere' }, { sha: loose });
  t.is(await kept(), loose);
});

test('a status joins the newest pipeline of commit and ref', async (t) => {
  const { make, rows } = holder.app;
  const at = await scene();
  await make.build(at.project, { sha: at.sha, ref: 'master', status: 'success' });
  const newest = await make.build(at.project, { sha: at.sha, ref: 'master', status: 'success' });
  const { body } = await at.post({ state: 'success', ref: 'master' });
  t.deepEqual(await rows('select pipeline_id from external_statuses where id = $1', [body.id]), [
    { pipeline_id: newest.pipelineId },
  ]);
});

test('what is missing or wrong', async (t) => {
  const at = await scene();
  const cases: [Record<string, unknown>, unknown][] = [
    [{}, '400 (Bad request) "state" not given'],
    [{ state: '' }, '400 (Bad request) "state" not given'],
    [{ state: 'done' }, { status: ['is invalid'] }],
    [{ state: 'skipped' }, { status: ['is invalid'] }],
    [{ state: 'success', target_url: 'javascript:alert(1)' }, { target_url: ['must be a valid URL'] }],
    [{ state: 'success', target_url: 'nowhere' }, { target_url: ['must be a valid URL'] }],
    [{ state: 'success', name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
  ];
  for (const [json, message] of cases) {
    const answer = await at.post(json);
    t.is(answer.status, 400);
    t.deepEqual(answer.body as unknown, { message });
  }
  for (const sha of ['c'.repeat(40), 'nowhere', 'refs%2Fheads%2Fnowhere']) {
    const answer = await at.post({ state: 'success' }, { sha });
    t.is(answer.status, 404, sha);
    t.deepEqual(answer.body as unknown, { message: '404 Commit Not Found' });
  }
  t.deepEqual((await at.list()).body, []);
  t.deepEqual(await at.pipelines(), []);
});

test('a commit may be named by a branch, a tag or the start of its id', async (t) => {
  const at = await scene();
  await git(at.dir, 'branch', 'a/b', at.sha);
  const names = ['master', at.sha.slice(0, 8), 'a/b', 'a%2Fb'];
  for (const sha of names) {
    t.is((await at.post({ state: 'success', name: sha }, { sha })).body.sha, at.sha);
    const path = `/api/v3/projects/${at.project.id}/repository/commits/${sha}/statuses`;
    const { body } = await holder.app.call<Status[]>('GET', path, { as: at.project.owner.token });
    t.true(body.some(({ name }) => name === sha));
  }
  t.is((await at.list()).body.length, names.length);
});

test('the list has builds and others, each the newest of its name, in the order they were made', async (t) => {
  const { make } = holder.app;
  const at = await scene();
  const user = await make.user();
  const compile = await make.build(at.project, {
    sha: at.sha,
    ref: 'master',
    status: 'success',
    job: { name: 'compile', stage: 'build', allowFailure: true },
    columns: { user_id: user.id, latest: false },
  });
  await at.post({ state: 'failed', ref: 'master', name: 'lint' });
  await make.build(at.project, {
    sha: at.sha,
    pipelineId: compile.pipelineId,
    status: 'running',
    job: { name: 'compile', stage: 'build' },
  });
  await at.post({ state: 'success', ref: 'develop', name: 'lint' });
  await make.build(at.project, { sha: 'b'.repeat(40), ref: 'master' });
  t.deepEqual(await at.shown(), ['lint: failed', 'compile: running', 'lint: success']);
  const all = await at.list('?all=true');
  t.is(all.headers.get('x-total'), '4');
  t.like(all.body[0], {
    id: compile.id,
    sha: at.sha,
    ref: 'master',
    status: 'success',
    name: 'compile',
    target_url: null,
    description: null,
    allow_failure: true,
    author: { id: user.id, username: user.username },
  });
  t.deepEqual(
    all.body.map(({ id }) => id),
    all.body.map(({ id }) => id).sort((a, b) => a - b),
  );
  t.deepEqual(await at.shown('?stage=external'), ['lint: failed', 'lint: success']);
  t.deepEqual(await at.shown('?stage=build&all=1'), ['compile: success', 'compile: running']);
  t.deepEqual(await at.shown('?name=lint&ref_name=develop'), ['lint: success']);
  t.deepEqual(await at.shown('?ref=master'), ['lint: failed', 'compile: running']);
  t.deepEqual(await at.shown('?all=0'), await at.shown());
  t.deepEqual(await at.shown('?per_page=1&page=2'), ['compile: running']);
});

test('a known commit without statuses has an empty list, an unknown one is not there', async (t) => {
  const at = await scene();
  const empty = await at.list();
  t.is(empty.status, 200);
  t.deepEqual(empty.body, []);
  const path = `/api/v3/projects/${at.project.id}/repository/commits/${'d'.repeat(40)}/statuses`;
  const unknown = await holder.app.call('GET', path, { as: rootToken });
  t.is(unknown.status, 404);
  t.deepEqual(unknown.body, { message: '404 Commit Not Found' });
});

test('who may read and who may post', async (t) => {
  const { make } = holder.app;
  const hidden = await scene();
  const open = await scene({ visibility: 'public' });
  const stranger = (await make.user()).token;
  const cases: [Scene, string, number, number][] = [
    [hidden, (await make.member(hidden.project, 'guest')).token, 403, 403],
    [hidden, (await make.member(hidden.project, 'reporter')).token, 200, 403],
    [hidden, (await make.member(hidden.project, 'developer')).token, 200, 201],
    [hidden, stranger, 404, 404],
    [open, stranger, 200, 403],
    [open, rootToken, 200, 201],
    [open, 'wrong', 401, 401],
    [open, open.project.runnersToken, 401, 401],
    [open, (await make.build(open.project, { status: 'running' })).token, 401, 401],
  ];
  for (const [at, as, read, posted] of cases) {
    t.is((await at.list('', as)).status, read);
    t.is((await at.post({ state: 'success' }, { as })).status, posted);
  }
});

test('where builds are off or not for strangers, others see what came from outside', async (t) => {
  const { make, rows } = holder.app;
  const at = await scene({ visibility: 'public', columns: { public_builds: false } });
  const stranger = (await make.user()).token;
  await make.build(at.project, { sha: at.sha, ref: 'master', status: 'success', job: { name: 'secret' } });
  await at.post({ state: 'success', ref: 'master', name: 'lint' });
  t.deepEqual(await at.shown(), ['secret: success', 'lint: success']);
  const seen = await at.list('', stranger);
  t.deepEqual(
    seen.body.map(({ name }) => name),
    ['lint'],
  );
  t.is(seen.headers.get('x-total'), '1');
  await rows('update projects set builds_enabled = false where id = $1', [at.project.id]);
  t.is((await at.post({ state: 'running', ref: 'master', name: 'more' })).status, 201);
  t.deepEqual(await at.shown(), ['lint: success', 'more: running']);
});

test('a broken configuration stays a failure, whatever is posted', async (t) => {
  const { make, rows } = holder.app;
  const at = await scene();
  const { pipelineId } = await make.build(at.project, { sha: at.sha, ref: 'master', status: 'success' });
  await rows(`update pipelines set yaml_errors = 'bad', status = 'failed' where id = $1`, [pipelineId]);
  await at.post({ state: 'running', ref: 'master' });
  t.deepEqual(await at.pipelines(), ['master: failed']);
});
