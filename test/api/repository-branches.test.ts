import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import test from 'ava';
import pg from 'pg';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git, gitWithInput } from '../git/real-git.ts';
import { apiCalls, messageOf, statusesOf } from '../support/api-calls.ts';
import { withApp } from '../support/app.ts';
import { looseCommit } from '../support/loose-commit.ts';
import type { MadeProject } from '../support/make.ts';

const holder = withApp();

interface Branch {
  name: string;
  protected: boolean;
  developers_can_push: boolean;
  developers_can_merge: boolean;
  commit: Record<string, unknown>;
}
const call = apiCalls<Branch>(holder);

interface Scene {
  project: MadeProject;
  dir: string;
  sha: string;
  branches: string;
  /** Token of the owner. */
  as: string;
}

/** A project with a commit on `master`, its default branch, and on the other branches that are named. */
async function scene(...names: string[]): Promise<Scene> {
  const project = await holder.app.make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
  const sha = await looseCommit(holder.app, project);
  const lines = ['master', ...names].map((name) => `create refs/heads/${name} ${sha}\n`);
  await gitWithInput(dir, ['update-ref', '--stdin'], lines.join(''));
  const branches = `/projects/${project.id}/repository/branches`;
  return { project, dir, sha, branches, as: project.owner.token };
}

async function headOf(dir: string, branch: string): Promise<string> {
  return git(dir, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
}

test.serial('branches come by name, with what git knows of their commits', async (t) => {
  const { dir, sha, branches, as } = await scene('b', 'a/c', 'Z', 'é');
  const { status, body, headers } = await call<Branch[]>('GET', branches, as);
  t.is(status, 200);
  t.deepEqual(
    body.map(({ name }) => name),
    (await git(dir, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')).split('\n'),
  );
  t.is(headers.get('x-total'), '5');
  t.deepEqual(body[0], {
    name: 'Z',
    protected: false,
    developers_can_push: false,
    developers_can_merge: false,
    commit: {
      id: sha,
      message: `${await git(dir, 'log', '-1', '--format=%B', sha)}\n`,
      parent_ids: [],
      author_name: 'Ada Lovelace',
      author_email: 'ada@example.org',
      authored_date: '2016-06-03T12:41:42+05:30',
      committer_name: 'Grace Hopper',
      committer_email: 'grace@example.org',
      committed_date: '2016-06-03T03:43:20-03:30',
    },
  });
});

test.serial('a repository without branches has an empty list', async (t) => {
  const project = await holder.app.make.project();
  const path = `/projects/${project.id}/repository/branches`;
  const { status, body, headers } = await call<Branch[]>('GET', path, project.owner.token);
  t.deepEqual([status, body, headers.get('x-total')], [200, [], '0']);
  const one = await call('GET', `${path}/master`, project.owner.token);
  t.deepEqual([one.status, messageOf(one)], [404, '404 Branch Not Found']);
});

test.serial(
  'a branch is found by a name with slashes, escaped or not, and with what else URLs take for their own',
  async (t) => {
    const names = [
      'a/b',
      'a/protect',
      'x.json',
      '50%',
      'a+b',
      "it's",
      '$(x)',
      '`x`',
      'a&b=c',
      '日本語',
      'a"b',
      '#1',
      '@',
    ];
    const { branches, as } = await scene(...names);
    for (const name of names) {
      const { status, body } = await call('GET', `${branches}/${encodeURIComponent(name)}`, as);
      t.deepEqual([status, body.name], [200, name]);
    }
    t.is((await call('GET', `${branches}/a/b`, as)).body.name, 'a/b');
    t.is((await call('GET', `${branches}/a/protect`, as)).body.name, 'a/protect');
    t.is((await call('GET', `${branches}/x.json`, as)).body.name, 'x.json');
    t.is((await call('GET', `${branches}/a/b.json`, as)).body.name, 'a/b');
    t.is((await call('GET', `${branches}//a//b/`, as)).body.name, 'a/b');
  },
);

test.serial('what is no branch is not found, whatever git would make of it', async (t) => {
  const { sha, branches, as, dir } = await scene('a/b');
  await git(dir, 'update-ref', 'refs/tags/v1', sha);
  const odd = [
    'a',
    'v1',
    sha,
    'HEAD',
    'master^{tree}',
    'master^{commit}',
    'master:',
    'master~0',
    '@{0}',
    'a*',
    '-x',
    'a..b',
  ];
  for (const name of [
    ...odd,
    'refs/heads/master',
    '../tags/v1',
    '\ud83d\ude00',
    'a\nb',
    'x'.repeat(900),
    ' ',
  ]) {
    const path = `${branches}/${encodeURIComponent(name)}`;
    const found = await call('GET', path, as);
    t.deepEqual(
      [found.status, messageOf(found)],
      name === ' ' ? [400, '400 (Bad request) "branch" not given'] : [404, '404 Branch Not Found'],
      name,
    );
    t.true((await call('PUT', `${path}/protect`, as)).status >= 400);
    t.true((await call('DELETE', path, as)).status >= 400);
  }
  t.is(await headOf(dir, 'master'), sha);
});

test.serial(
  'a branch is made from a branch, a tag and a commit, and a push is what it counts as',
  async (t) => {
    const { project, dir, sha, branches, as } = await scene();
    await git(dir, 'tag', '-a', '-m', 'x', 'v1', sha);
    for (const [name, ref] of Object.entries({
      one: 'master',
      'two/three': 'v1',
      four: sha,
      five: sha.slice(0, 10),
    })) {
      const made = await call('POST', branches, as, { branch_name: name, ref });
      t.deepEqual([made.status, made.body.name, made.body.commit.id], [200, name, sha]);
      t.is(await headOf(dir, name), sha);
    }
    const events = await holder.app.rows<{ action: string; ref: string }>(
      'select action, ref from events where project_id = $1 order by id',
      [project.id],
    );
    t.deepEqual(events[1], { action: 'pushed new', ref: 'refs/heads/two/three' });
    t.is(events.length, 4);
  },
);

test.serial('what cannot be made is refused with the reason', async (t) => {
  const { branches, as, dir } = await scene('a/b');
  const before = await git(dir, 'for-each-ref');
  const faults: [Record<string, unknown>, string][] = [
    [{ ref: 'master' }, '400 (Bad request) "branch_name" not given'],
    [{ branch_name: 'x' }, '400 (Bad request) "ref" not given'],
    [{ branch_name: ' ', ref: 'master' }, '400 (Bad request) "branch_name" not given'],
    [{ branch_name: 'a/b', ref: 'master' }, 'Branch already exists'],
    [{ branch_name: 'x', ref: 'nowhere' }, 'Invalid reference name'],
    [{ branch_name: 'x', ref: '--help' }, 'Invalid reference name'],
    [{ branch_name: 'x', ref: 'master^{tree}' }, 'Invalid reference name'],
    [{ branch_name: 'a', ref: 'master' }, 'Another branch is in the way of this name'],
    [{ branch_name: 'a/b/c', ref: 'master' }, 'Another branch is in the way of this name'],
  ];
  const odd = [
    'a..b',
    'a b',
    'x~',
    'x^',
    'x:y',
    '-x',
    'HEAD',
    'x.lock',
    '/x',
    'x/',
    'refs/heads/x',
    '@{',
    'x\\y',
    'x'.repeat(250),
  ];
  for (const name of odd) faults.push([{ branch_name: name, ref: 'master' }, 'Branch name is invalid']);
  for (const [given, text] of faults) {
    const refused = await call('POST', branches, as, given);
    t.deepEqual([refused.status, messageOf(refused)], [400, text], JSON.stringify(given));
  }
  t.is(await git(dir, 'for-each-ref'), before);
});

test.serial('of those who make a branch at once one makes it', async (t) => {
  const { branches, as, dir, sha, project } = await scene();
  const next = await looseCommit(holder.app, project, sha);
  await git(dir, 'update-ref', 'refs/heads/next', next);
  const asked = Array.from({ length: 6 }, (_, index) =>
    call('POST', branches, as, { branch_name: 'one', ref: index % 2 === 0 ? 'master' : 'next' }),
  );
  const answers = await Promise.all(asked);
  t.deepEqual(statusesOf(answers), [200, 400, 400, 400, 400, 400]);
  const made = answers.find(({ status }) => status === 200);
  t.is(await headOf(dir, 'one'), String(made?.body.commit.id));
  const refused = answers.filter(({ status }) => status === 400).map(messageOf);
  t.deepEqual(new Set(refused), new Set(['Branch already exists']));
});

test.serial('a branch is removed, and no second time', async (t) => {
  const { branches, as, dir } = await scene('a/b', 'x', 'x.json');
  t.deepEqual((await call<unknown>('DELETE', `${branches}/a/b`, as)).body, { branch_name: 'a/b' });
  const again = await call('DELETE', `${branches}/a%2Fb`, as);
  t.deepEqual([again.status, messageOf(again)], [404, 'No such branch']);
  t.is((await call('DELETE', `${branches}/x.json`, as)).status, 200);
  t.is((await call('DELETE', `${branches}/x.json`, as)).status, 404, 'x is another branch');
  t.is(
    await git(dir, 'for-each-ref', '--format=%(refname)', 'refs/heads'),
    'refs/heads/master\nrefs/heads/x',
  );
});

test.serial('the default branch and a protected one cannot be removed', async (t) => {
  const { branches, as, dir, sha } = await scene('a');
  const head = await call('DELETE', `${branches}/master`, as);
  t.deepEqual([head.status, messageOf(head)], [400, 'Cannot remove HEAD branch']);
  await call('PUT', `${branches}/a/protect`, as);
  const held = await call('DELETE', `${branches}/a`, as);
  t.deepEqual([held.status, messageOf(held)], [400, 'Protected branch cant be removed']);
  t.is(await headOf(dir, 'a'), sha);
  await call('PUT', `${branches}/a/unprotect`, as);
  t.is((await call('DELETE', `${branches}/a`, as)).status, 200);
});

test.serial('to protect and to end that may be done twice; what is not given stays', async (t) => {
  const { branches, as } = await scene('a/b');
  const put = async (action: string, json?: Record<string, unknown>) => {
    const { status, body } = await call('PUT', `${branches}/a/b/${action}`, as, json);
    const listed = (await call<Branch[]>('GET', branches, as)).body.find(({ name }) => name === 'a/b');
    t.deepEqual(listed, body);
    return [status, body.protected, body.developers_can_push, body.developers_can_merge];
  };
  t.deepEqual(await put('unprotect'), [200, false, false, false]);
  t.deepEqual(await put('protect'), [200, true, false, false]);
  t.deepEqual(await put('protect'), [200, true, false, false]);
  t.deepEqual(await put('protect', { developers_can_push: true }), [200, true, true, false]);
  t.deepEqual(await put('protect', { developers_can_merge: 'true' }), [200, true, true, true]);
  t.deepEqual(await put('protect'), [200, true, true, true]);
  t.deepEqual(await put('protect', { developers_can_push: false }), [200, true, false, true]);
  t.deepEqual(await put('unprotect'), [200, false, false, false]);
  t.deepEqual(await put('unprotect'), [200, false, false, false]);
});

test.serial('a thousand branches take one git and as many statements as one', async (t) => {
  const few = await scene();
  const many = await scene(
    ...Array.from({ length: 1000 }, (_, index) => `b${String(index).padStart(4, '0')}`),
  );
  await holder.app.rows('insert into protected_branches (project_id, name) values ($1, $2)', [
    many.project.id,
    'b0042',
  ]);
  const read = ({ branches, as }: Scene) =>
    counted(() => call<Branch[]>('GET', `${branches}?per_page=100`, as));
  for (const place of [few, many]) await read(place);
  const one = await read(few);
  const all = await read(many);
  t.deepEqual([all.answer.body.length, all.answer.headers.get('x-total')], [100, '1001']);
  t.deepEqual(
    all.answer.body.filter((branch) => branch.protected).map(({ name }) => name),
    ['b0042'],
  );
  t.deepEqual([all.statements, all.processes], [one.statements, 1]);
  const last = await call<Branch[]>('GET', `${many.branches}?per_page=100&page=11`, many.as);
  t.deepEqual(
    last.body.map(({ name }) => name),
    ['master'],
  );
});

/** What is done meanwhile. The other tests of this file must not be at work. */
async function counted<T>(
  work: () => Promise<T>,
): Promise<{ answer: T; statements: number; processes: number }> {
  const counts = { statements: 0, processes: 0 };
  const { query } = pg.Client.prototype;
  const { spawn } = childProcess;
  pg.Client.prototype.query = function noted(this: pg.Client, ...given: unknown[]) {
    counts.statements += 1;
    return Reflect.apply(query, this, given);
  } as typeof query;
  childProcess.spawn = ((...given: unknown[]) => {
    counts.processes += 1;
    return Reflect.apply(spawn, childProcess, given);
  }) as typeof spawn;
  syncBuiltinESMExports();
  try {
    return { answer: await work(), ...counts };
  } finally {
    pg.Client.prototype.query = query;
    childProcess.spawn = spawn;
    syncBuiltinESMExports();
  }
}
