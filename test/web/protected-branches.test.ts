import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { guardMoves } from '../../server/git/guarded-moves.ts';
import { zeroSha } from '../../server/git/ref-name.ts';
import { repositoryDir } from '../../server/git/repository-path.ts';
import { git, gitWithInput } from '../git/real-git.ts';
import { withApp } from '../support/app.ts';
import { cloneUrl, type Ran, type WorkTree, withWorkTrees } from '../support/git.ts';
import type { MadeProject, MadeUser } from '../support/make.ts';
import { withSsh } from '../support/ssh.ts';

const holder = withApp();
const trees = withWorkTrees();
const overSsh = withSsh(holder);

const rules = {
  none: null,
  partial: { developers_can_push: true },
  full: { developers_can_push: false },
};
const roles = ['reporter', 'developer', 'master', 'owner', 'admin'] as const;
type Role = (typeof roles)[number];
type Rule = keyof typeof rules;

const mayPush: Record<Rule, readonly Role[]> = {
  none: ['developer', 'master', 'owner', 'admin'],
  partial: ['developer', 'master', 'owner', 'admin'],
  full: ['master', 'owner', 'admin'],
};

interface Scene {
  project: MadeProject;
  dir: string;
  tree: WorkTree;
  /** The commit of `master` and `topic`, and one after it. */
  old: string;
  next: string;
  /** One that goes on from nothing of them. */
  other: string;
  users: Record<Role, MadeUser>;
}

async function scene(): Promise<Scene> {
  const { make } = holder.app;
  const project = await make.project({ columns: { default_branch: 'master' } });
  const dir = repositoryDir(holder.app.services.repositoriesDir, project.id);
  const tree = await trees.fresh();
  const other = await tree.commit({ a: 'other' }, 'Other');
  await tree.git('checkout', '--quiet', '--orphan', 'main');
  const old = await tree.commit({ a: 'old' }, 'Old');
  const next = await tree.commit({ a: 'next' }, 'Next');
  const users = {
    reporter: await make.member(project, 'reporter'),
    developer: await make.member(project, 'developer'),
    master: await make.member(project, 'master'),
    owner: project.owner,
    admin: await make.user({ isAdmin: true }),
  };
  const made = { project, dir, tree, old, next, other, users };
  const refs = ['refs/heads/master', 'refs/heads/topic', 'refs/tags/v1'].map((ref) => `${old}:${ref}`);
  t0(await push(made, 'owner', ...refs));
  return made;
}

function t0(ran: Ran): void {
  if (ran.code !== 0) throw new Error(ran.stderr);
}

async function setRule({ project }: Scene, name: string, rule: Rule): Promise<void> {
  await holder.app.rows('delete from protected_branches where project_id = $1 and name = $2', [
    project.id,
    name,
  ]);
  const values = rules[rule];
  if (values === null) return;
  await holder.app.rows(
    'insert into protected_branches (project_id, name, developers_can_push) values ($1, $2, $3)',
    [project.id, name, values.developers_can_push],
  );
}

function push({ project, tree, users }: Scene, role: Role, ...args: string[]): Promise<Ran> {
  return tree.try('push', cloneUrl(holder.app, project, { password: users[role].token }), ...args);
}

type Push = (place: Scene, role: Role, ...args: string[]) => Promise<Ran>;

async function pushBySsh({ project, tree, users }: Scene, role: Role, ...args: string[]): Promise<Ran> {
  const { ssh } = overSsh;
  const key = await ssh.keyOf(users[role]);
  return ssh.git(tree.dir, key, 'push', ssh.url(project.fullPath), ...args);
}

const transports: Record<string, Push> = { HTTP: push, SSH: pushBySsh };

async function refOf({ dir }: Scene, ref: string): Promise<string> {
  return git(dir, 'for-each-ref', '--format=%(objectname)', ref);
}

/** Who moves, makes, forces and removes a branch, for each role. */
function pushTable(rule: Rule, { name, pushOver }: { name: string; pushOver: Push }): void {
  test.serial(`who pushes to a branch over ${name}, with rule ${rule}`, async (t) => {
    const place = await scene();
    const { dir, old, next, other } = place;
    for (const name of ['topic', 'new']) await setRule(place, name, rule);
    for (const role of roles) {
      const may = mayPush[rule].includes(role);
      const isGuarded = rule !== 'none';
      const reset = async () => {
        await git(dir, 'update-ref', 'refs/heads/topic', old);
        await git(dir, 'update-ref', '-d', 'refs/heads/new');
      };
      const outcome = async (expected: boolean, refspec: string, ref: string, sha: string) => {
        await reset();
        const before = await refOf(place, ref);
        const ran = await pushOver(place, role, refspec);
        t.is(ran.code === 0, expected, `${role} ${refspec}: ${ran.stderr}`);
        t.is(await refOf(place, ref), expected ? sha : before, `${role} ${refspec}`);
        return ran.stderr;
      };
      const pushed = await outcome(may, `${next}:refs/heads/topic`, 'refs/heads/topic', next);
      await outcome(may, `${next}:refs/heads/new`, 'refs/heads/new', next);
      const forced = await outcome(
        may && !isGuarded,
        `+${other}:refs/heads/topic`,
        'refs/heads/topic',
        other,
      );
      const removed = await outcome(may && !isGuarded, ':refs/heads/topic', 'refs/heads/topic', '');
      if (role === 'reporter') continue;
      if (!may)
        t.regex(pushed, /\[remote rejected\].*push code to protected branches.*Push to another branch/);
      if (may && isGuarded)
        t.regex(forced, /remote: .*not allowed to force push to protected branches.*: topic is one/);
      if (isGuarded) t.regex(removed, /\[remote rejected\].*not allowed to delete protected branches/);
    }
  });
}

for (const rule of ['none', 'partial', 'full'] as const) {
  for (const [name, pushOver] of Object.entries(transports)) pushTable(rule, { name, pushOver });

  if (rule === 'none') {
    test.serial('nobody deletes the default branch, whoever may push to it', async (t) => {
      const place = await scene();
      await setRule(place, 'master', 'none');
      await holder.app.rows(`update projects set default_branch = 'master' where id = $1`, [
        place.project.id,
      ]);
      const ran = await push(place, 'master', ':refs/heads/master');
      t.not(ran.code, 0);
      t.regex(ran.stderr, /\[remote rejected\].*default branch of a project cannot be deleted/);
      t.notRegex(ran.stderr, /denyDeleteCurrent/);
    });
  }

  test.serial(`who makes a branch by the interface, with rule ${rule}`, async (t) => {
    const place = await scene();
    const path = `/api/v3/projects/${place.project.id}/repository/branches`;
    for (const role of roles) {
      const branch = `new-${role}`;
      await setRule(place, branch, rule);
      const form = { branch_name: branch, ref: 'master' };
      const { status, body } = await holder.app.call('POST', path, { as: place.users[role].token, form });
      const may = mayPush[rule].includes(role);
      t.is(status, may ? 200 : role === 'reporter' ? 403 : 400, `${role} ${JSON.stringify(body)}`);
      t.is(await refOf(place, `refs/heads/${branch}`), may ? place.old : '');
      const removed = await holder.app.call('DELETE', `${path}/${branch}`, { as: place.users[role].token });
      t.is(removed.status, role === 'reporter' ? 403 : !may ? 404 : rule === 'none' ? 200 : 400, role);
    }
  });
}

test.serial(
  'existing tags are moved and removed by masters alone, new ones made by developers',
  async (t) => {
    const place = await scene();
    const { next, old } = place;
    for (const role of ['developer', 'master'] as const) {
      t.is((await push(place, role, `${next}:refs/tags/of-${role}`)).code, 0);
      const moved = await push(place, role, `+${next}:refs/tags/v1`);
      const isMaster = role === 'master';
      t.is(await refOf(place, 'refs/tags/v1'), isMaster ? next : old);
      if (!isMaster) t.regex(moved.stderr, /not allowed to change existing tags/);
      await push(place, role, ':refs/tags/v1');
      t.is(await refOf(place, 'refs/tags/v1'), isMaster ? '' : old);
    }
  },
);

test.serial(
  'one forced move of a protected branch refuses the whole push; forced moves of others pass beside it',
  async (t) => {
    const place = await scene();
    const { old, next, other } = place;
    await setRule(place, 'topic', 'full');
    await setRule(place, 'master', 'none');
    const refused = await push(place, 'owner', `+${other}:refs/heads/topic`, `${next}:refs/heads/master`);
    t.not(refused.code, 0);
    t.deepEqual(
      [await refOf(place, 'refs/heads/topic'), await refOf(place, 'refs/heads/master')],
      [old, old],
    );
    t.deepEqual(await holder.app.rows('select 1 from pushes where project_id = $1', [place.project.id]), []);
    const passed = await push(place, 'owner', `${next}:refs/heads/topic`, `+${other}:refs/heads/master`);
    t.is(passed.code, 0, passed.stderr);
    t.deepEqual(
      [await refOf(place, 'refs/heads/topic'), await refOf(place, 'refs/heads/master')],
      [next, other],
    );
  },
);

test.serial(
  'names that mean something to a shell, to git or to a pattern are guarded like any other',
  async (t) => {
    const place = await scene();
    const { project, dir, old, next, other } = place;
    const names = [
      '$(touch$IFS)',
      '`x`',
      "it's",
      'a"b"',
      'a;b&c|d',
      '!x',
      '{a,b}',
      '$HOME',
      '#x',
      '%s%n',
      'tópic/日本',
      '(x)',
      '<x>',
      'a=b',
      'x\u0085y',
    ];
    for (const name of names) {
      await git(dir, 'update-ref', `refs/heads/${name}`, old);
      const branch = encodeURIComponent(name);
      const path = `/api/v3/projects/${project.id}/repository/branches/${branch}/protect`;
      t.is((await holder.app.call('PUT', path, { as: project.owner.token })).status, 200, name);
      const forced = await push(place, 'admin', `+${other}:refs/heads/${name}`);
      t.true(forced.stderr.includes('not allowed to force push'), forced.stderr);
      t.is(await refOf(place, `refs/heads/${name}`), old);
      t.is((await push(place, 'developer', `${next}:refs/heads/${name}`)).code, 1);
      t.is((await push(place, 'master', `${next}:refs/heads/${name}`)).code, 0, name);
      t.is(await refOf(place, `refs/heads/${name}`), next);
    }
  },
);

test.serial(
  'refs that the server keeps for itself, or that pass for others, are refused with the reason',
  async (t) => {
    const place = await scene();
    const before = await git(place.dir, 'for-each-ref');
    for (const ref of [
      'refs/keep-around/x',
      'refs/merge-requests/1/head',
      `refs/replace/${place.old}`,
      'refs/refs/heads/x',
    ]) {
      const ran = await push(place, 'admin', `${place.next}:${ref}`);
      t.regex(ran.stderr, /\[remote rejected\].*The server keeps refs of this name for itself/, ref);
    }
    t.is(await git(place.dir, 'for-each-ref'), before);
  },
);

test.serial('a hook that cannot be run guards all the same', async (t) => {
  const place = await scene();
  const move = { oldSha: place.old, newSha: place.next, ref: 'refs/heads/topic' };
  const folder = join(await trees.folder(), 'hooks');
  await mkdir(folder);
  const file = join(folder, 'pre-receive');
  const ours = (await guardMoves([move])).find(([key]) => key === 'core.hooksPath')?.[1];
  await copyFile(join(ours ?? '', 'pre-receive'), file);
  await chmod(file, 0o644);
  t.deepEqual(await guardMoves([move], { file }), [['receive.denyNonFastForwards', 'true']]);
  await chmod(file, 0o755);
  t.deepEqual(await guardMoves([move], { file }), [
    ['core.hooksPath', folder],
    ['hearth.guarded', `${place.old} ${place.next} refs/heads/topic`],
  ]);
  for (const calm of [
    { ...move, oldSha: zeroSha },
    { ...move, newSha: zeroSha },
  ]) {
    t.deepEqual(await guardMoves([calm], { file }), []);
  }
});

test.serial('more protected branches than can be guarded at once are refused', async (t) => {
  const place = await scene();
  const { dir, project, old, next } = place;
  const names = Array.from({ length: 1001 }, (_, index) => `b${index}`);
  const lines = names.map((name) => `create refs/heads/${name} ${old}\n`);
  await gitWithInput(dir, ['update-ref', '--stdin'], lines.join(''));
  await holder.app.rows(
    'insert into protected_branches (project_id, name) select $1, name from unnest($2::text[]) name',
    [project.id, names],
  );
  const refspecs = names.map((name) => `${next}:refs/heads/${name}`);
  const ran = await push(place, 'owner', ...refspecs);
  t.regex(ran.stderr, /cannot move more than 1000 protected branches/);
  const rest = await push(place, 'owner', ...refspecs.slice(1));
  t.is(rest.code, 0, rest.stderr.slice(0, 500));
  t.is(await refOf(place, 'refs/heads/b1000'), next);
});
