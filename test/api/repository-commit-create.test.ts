import test from 'ava';
import { readRef } from '../../server/git/refs.ts';
import { apiCalls, messageOf } from '../support/api-calls.ts';
import { formOf } from '../support/form-of.ts';
import { tryGit } from '../support/git.ts';
import { type Pushed, withPushes } from '../support/pushes.ts';

const { holder, empty } = withPushes();
const call = apiCalls<Record<string, unknown>>(holder);

interface Scene extends Pushed {
  sha: string;
  path: string;
  commit(given: Record<string, unknown>): ReturnType<typeof call<Record<string, unknown>>>;
  git(...args: string[]): Promise<string>;
}

async function scene(): Promise<Scene> {
  const pushed = await empty();
  const { tree, url, project, dir } = pushed;
  await tree.commit({ 'a.txt': 'one', 'old/b.txt': 'two', 'old/c.txt': 'three' });
  await tree.git('update-index', '--chmod=+x', 'a.txt');
  await tree.git('commit', '--quiet', '--message', 'Run it');
  await tree.git('push', '--quiet', url, 'master');
  const path = `/projects/${project.id}/repository/commits`;
  return {
    ...pushed,
    path,
    sha: await tree.head(),
    commit: (given) =>
      call('POST', path, project.owner.token, { branch_name: 'master', commit_message: 'Change', ...given }),
    git: async (...args) => (await tryGit(dir, args)).stdout,
  };
}

const all = [
  { action: 'create', file_path: 'new/file', content: 'new\r\n' },
  { action: 'create', file_path: 'empty', content: '' },
  {
    action: 'update',
    file_path: 'a.txt',
    content: Buffer.from('two').toString('base64'),
    encoding: 'base64',
  },
  { action: 'delete', file_path: 'old/c.txt' },
  { action: 'move', file_path: 'b/moved', previous_path: 'old/b.txt' },
  { action: 'move', file_path: 'run', previous_path: 'a.txt', content: 'three' },
];

test('several changes are one commit, which is shown', async (t) => {
  const { commit, git, sha, dir, project } = await scene();
  const made = await commit({ commit_message: 'One\n\nTwo', actions: all });
  t.is(made.status, 201);
  const id = await readRef(dir, 'refs/heads/master');
  const name = `Name of ${project.owner.username}`;
  const date = made.body.created_at;
  t.deepEqual(made.body, {
    id,
    short_id: id?.slice(0, 8),
    title: 'One',
    message: 'One\n\nTwo',
    author_name: name,
    author_email: `${project.owner.username}@example.com`,
    created_at: date,
    committed_date: date,
    authored_date: date,
    parent_ids: [sha],
    status: null,
  });
  t.regex(String(date), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
  t.is(
    await git('ls-tree', '-r', '--format=%(objectmode) %(objectsize) %(path)', 'master'),
    '100644 3 b/moved\n100644 0 empty\n100644 4 new/file\n100755 5 run',
  );
  t.is(await git('fsck', '--full', '--strict'), '');
});

const namings: Record<string, (index: number, key: string) => string> = {
  'a list': (_, key) => `actions[][${key}]`,
  numbers: (index, key) => `actions[${index}][${key}]`,
};

for (const [naming, nameOf] of Object.entries(namings)) {
  test(`forms that name actions by ${naming} say the same as JSON`, async (t) => {
    const sent = all.flatMap((action, index) =>
      Object.entries(action).map(([key, value]): [string, string] => [nameOf(index, key), value]),
    );
    const pairs: [string, string][] = [['branch', 'master'], ['commit_message', 'Change'], ...sent];
    const forms = [
      {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(pairs).toString(),
      },
      formOf(...pairs.map(([name, content]) => ({ name, content }))),
    ];
    const json = await scene();
    t.is((await json.commit({ actions: all })).status, 201);
    for (const form of forms) {
      const { path, project, git } = await scene();
      const made = await holder.app.call('POST', `/api/v3${path}`, { as: project.owner.token, ...form });
      t.is(made.status, 201, JSON.stringify(made.body));
      t.is(await git('rev-parse', 'master^{tree}'), await json.git('rev-parse', 'master^{tree}'));
    }
  });
}

test('later changes see what earlier ones did', async (t) => {
  const { commit, git } = await scene();
  const actions = [
    { action: 'create', file_path: 'x', content: 'x' },
    { action: 'move', file_path: 'x/y', previous_path: 'x' },
    { action: 'move', file_path: 'x/z', previous_path: 'x/y' },
    { action: 'delete', file_path: 'a.txt' },
    { action: 'create', file_path: 'a.txt', content: 'again' },
  ];
  t.is((await commit({ actions })).status, 201);
  t.is(await git('show', 'master:x/z'), 'x');
  t.is(
    await git('ls-tree', '-r', '--format=%(objectmode) %(path)', 'master'),
    '100644 a.txt\n100644 old/b.txt\n100644 old/c.txt\n100644 x/z',
  );
});

const failed = 'Your changes could not be committed because';
const create = { action: 'create', file_path: 'x', content: 'x' };
const refusals: [given: Record<string, unknown>, message: unknown][] = [
  [{ branch_name: '' }, '400 (Bad request) "branch_name" not given'],
  [
    { branch_name: undefined, branch: 'nowhere' },
    'You can only create or edit files when you are on a branch',
  ],
  [{ branch_name: '', commit_message: '', actions: [] }, '400 (Bad request) "branch_name" not given'],
  [{ commit_message: '', actions: [] }, '400 (Bad request) "commit_message" not given'],
  [{ commit_message: '' }, '400 (Bad request) "commit_message" not given'],
  [{ actions: undefined }, '400 (Bad request) "actions" not given'],
  [{ actions: [] }, '400 (Bad request) "actions" not given'],
  [{ actions: 'create' }, { actions: ['is invalid'] }],
  [{ actions: 7 }, { actions: ['is invalid'] }],
  [{ actions: ['create'] }, { 'actions[0]': ['is invalid'] }],
  [{ actions: [create, null] }, { 'actions[1]': ['is invalid'] }],
  [{ actions: Array(1001).fill(create) }, { actions: ['is too long (maximum is 1000 items)'] }],
  [{ actions: [create, {}] }, '400 (Bad request) "actions[1][action]" not given'],
  [{ actions: [{ ...create, action: 'chmod' }] }, { 'actions[0][action]': ['is not included in the list'] }],
  [{ actions: [{ action: 'delete' }] }, '400 (Bad request) "actions[0][file_path]" not given'],
  [
    { actions: [{ action: 'update', file_path: 'a.txt' }] },
    '400 (Bad request) "actions[0][content]" not given',
  ],
  [
    { actions: [{ action: 'move', file_path: 'x' }] },
    '400 (Bad request) "actions[0][previous_path]" not given',
  ],
  [
    { actions: [create, { ...create, content: '?', encoding: 'base64' }] },
    { 'actions[1][content]': ['is not valid base64'] },
  ],
  [{ actions: [create, create] }, `${failed} a file with the same name already exists`],
  [{ actions: [create, { action: 'delete', file_path: 'x' }] }, `${failed} they change nothing`],
  [{ actions: [create, { action: 'delete', file_path: 'nothing' }] }, `${failed} the file does not exist`],
  [
    { actions: [create, { action: 'move', file_path: 'old', previous_path: 'a.txt' }] },
    `${failed} a folder with the same name already exists`,
  ],
  [
    { actions: [{ action: 'move', file_path: 'a.txt', previous_path: 'a.txt' }] },
    `${failed} they change nothing`,
  ],
  [
    { actions: [create, { action: 'delete', file_path: 'a.txt', last_commit_id: 'none' }] },
    `${failed} the file has changed since the commit that last_commit_id names`,
  ],
];

test('of changes of which one cannot be made, none is', async (t) => {
  const { commit, dir, sha } = await scene();
  for (const [given, message] of refusals) {
    const refused = await commit({ actions: [create], ...given });
    t.is(refused.status, 400, JSON.stringify(given).slice(0, 200));
    t.deepEqual(messageOf(refused), message);
  }
  t.is(await readRef(dir, 'refs/heads/master'), sha);
});

test('a thousand files come in as one commit', async (t) => {
  const { commit, git } = await scene();
  const actions = Array.from({ length: 1000 }, (_, index) => ({
    action: 'create',
    file_path: `many/${index % 10}/${index}`,
    content: String(index),
  }));
  t.is((await commit({ actions })).status, 201);
  t.is((await git('ls-tree', '-r', '--name-only', 'master', 'many')).split('\n').length, 1000);
  t.is(await git('show', 'master:many/9/999'), '999');
  t.is(await git('fsck', '--full', '--strict'), '');
});
