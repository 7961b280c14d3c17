import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { readRef } from '../../server/git/refs.ts';
import { cloneUrl, gitWithInput, tryGit } from '../support/git.ts';
import { ciFile, withPushes } from '../support/pushes.ts';
import { withSsh } from '../support/ssh.ts';

const pushes = withPushes();
const { holder, trees } = pushes;
const place = withSsh(holder);

/** A filled project, its address over SSH, and a key of its owner. */
async function reachable() {
  const pushed = await pushes.filled();
  const key = await place.ssh.keyOf(pushed.project.owner);
  return { ...pushed, key, url: place.ssh.url(pushed.project.fullPath) };
}

for (const version of ['0', '1', '2']) {
  test(`a client of protocol version ${version} clones, pushes and fetches`, async (t) => {
    const { url, tree, dir, key, sha } = await reachable();
    const folder = await trees.folder();
    const flags = ['-c', `protocol.version=${version}`];
    const git = (cwd: string, ...args: string[]) => place.ssh.git(cwd, key, ...flags, ...args);
    t.like(await git(folder, 'clone', '--quiet', url, 'copy'), { code: 0, stderr: '' });
    const copy = join(folder, 'copy');
    t.is((await git(copy, 'rev-parse', 'HEAD')).stdout, sha);
    await git(copy, 'commit', '--quiet', '--allow-empty', '--message', 'Next');
    const next = (await git(copy, 'rev-parse', 'HEAD')).stdout;
    const push = await git(copy, 'push', 'origin', 'master', 'HEAD:refs/tags/v1');
    t.is(push.code, 0, push.stderr);
    t.regex(push.stderr, /remote: Pipeline \d+ of master is pending/);
    t.is(await readRef(dir, 'refs/tags/v1'), next);
    t.is((await git(tree.dir, 'fetch', '--quiet', url, 'master')).code, 0);
    t.is(await tree.git('rev-parse', 'FETCH_HEAD'), next);
    t.is((await git(copy, 'push', '--quiet', 'origin', ':refs/tags/v1')).code, 0);
    t.is(await readRef(dir, 'refs/tags/v1'), null);
  });
}

test('a clone of protocol version 2 really speaks it', async (t) => {
  const { url, key } = await reachable();
  const env = { ...place.ssh.env(key), GIT_TRACE_PACKET: '1' };
  const ran = await tryGit(await trees.folder(), ['-c', 'protocol.version=2', 'ls-remote', url], env);
  t.regex(ran.stderr, /< version 2/);
});

test('a shallow clone has one commit, deepens, and can be pushed from', async (t) => {
  const { url, key, dir, tree } = await reachable();
  await tree.commit({ a: 'a' });
  await place.ssh.git(tree.dir, key, 'push', '--quiet', url, 'master');
  const folder = await trees.folder();
  const git = (...args: string[]) => place.ssh.git(folder, key, ...args);
  t.is((await git('clone', '--quiet', '--depth=1', url, '.')).code, 0);
  t.is((await git('rev-list', '--count', 'HEAD')).stdout, '1');
  await git('commit', '--quiet', '--allow-empty', '--message', 'Next');
  t.is((await git('push', '--quiet', 'origin', 'HEAD:shallow')).code, 0);
  t.is(await readRef(dir, 'refs/heads/shallow'), (await git('rev-parse', 'HEAD')).stdout);
  t.is((await git('fetch', '--quiet', '--unshallow')).code, 0);
  t.is((await git('rev-list', '--count', 'HEAD')).stdout, '3');
});

test('an archive comes without a clone, and of what is not there git says so', async (t) => {
  const { url, key } = await reachable();
  const folder = await trees.folder();
  const archive = ['archive', `--remote=${url}`, '--format=tar', '--output=all.tar', 'master'];
  t.like(await place.ssh.git(folder, key, ...archive), { code: 0, stderr: '' });
  t.true((await readFile(join(folder, 'all.tar'), 'latin1')).includes('.gitlab-ci.yml'));
  const none = await place.ssh.git(folder, key, 'archive', `--remote=${url}`, 'nothing');
  t.not(none.code, 0);
  t.regex(none.stderr, /nothing/);
  t.false(none.stderr.includes(holder.app.services.repositoriesDir));
});

test('an empty repository is cloned, and its first push chooses the branch', async (t) => {
  const { project, dir } = await pushes.empty();
  const key = await place.ssh.keyOf(project.owner);
  const folder = await trees.folder();
  const git = (...args: string[]) => place.ssh.git(folder, key, ...args);
  t.is((await git('clone', '--quiet', place.ssh.url(project.fullPath), '.')).code, 0);
  await git('commit', '--quiet', '--allow-empty', '--message', 'First');
  t.is((await git('push', '--quiet', 'origin', 'HEAD:trunk')).code, 0);
  const [row] = await holder.app.rows('select default_branch from projects where id = $1', [project.id]);
  t.deepEqual(row, { default_branch: 'trunk' });
  t.truthy(await readRef(dir, 'refs/heads/trunk'));
});

test('a push is followed by its events, hooks and pipelines, once', async (t) => {
  const { project } = await pushes.empty();
  const key = await place.ssh.keyOf(project.owner);
  await holder.app.rows(
    `insert into hooks (project_id, url, push_events) values ($1, 'http://127.0.0.1:9/', true)`,
    [project.id],
  );
  const tree = await trees.fresh();
  const sha = await tree.commit({ '.gitlab-ci.yml': ciFile });
  const url = place.ssh.url(project.fullPath);
  t.is((await place.ssh.git(tree.dir, key, 'push', '--quiet', url, 'master')).code, 0);
  t.like(await pushes.pipelines(project), [{ ref: 'master', sha, user_id: project.owner.id }]);
  t.like(await pushes.events(project), [{ author_id: project.owner.id, data: { after: sha } }]);
  t.is(await pushes.outstanding(project), 0);
  const tasks = await holder.app.rows(
    `select 1 from graphile_worker.jobs j where task_identifier = 'deliver_hook'`,
  );
  t.is(tasks.length, 1);
  const again = await place.ssh.git(tree.dir, key, 'push', url, 'master');
  t.is(again.code, 0);
  t.regex(again.stderr, /Everything up-to-date/);
  t.is((await pushes.pipelines(project)).length, 1);
  await tree.commit({ a: 'a' });
  t.is((await place.ssh.git(tree.dir, key, 'push', '-o', 'ci.skip', url, 'master')).code, 0);
  t.like((await pushes.pipelines(project)).at(-1), { status: 'skipped' });
});

test('a refused push says why, moves nothing, and git tells of it by its exit code', async (t) => {
  const { project, dir, tree, url, sha } = await reachable();
  const developer = await holder.app.make.member(project, 'developer');
  const key = await place.ssh.keyOf(developer);
  const git = (...args: string[]) => place.ssh.git(tree.dir, key, ...args);
  t.is((await git('push', '--quiet', url, 'HEAD:refs/tags/v1')).code, 0);
  for (const change of [':refs/tags/v1', '+HEAD:refs/tags/v1']) {
    await tree.commit({ [`${change.length}`]: 'x' });
    const ran = await git('push', url, change, 'HEAD:refs/heads/other');
    t.is(ran.code, 1);
    t.regex(ran.stderr, /You are not allowed to change existing tags on this project/);
  }
  const alone = await git('push', url, ':refs/tags/v1');
  t.is(alone.code, 1);
  t.regex(alone.stderr, /You are not allowed to change existing tags on this project/);
  t.is(await readRef(dir, 'refs/tags/v1'), sha);
  t.is(await readRef(dir, 'refs/heads/other'), null);
});

test('a ref whose name is no UTF-8 is refused alone, over SSH and over HTTP', async (t) => {
  const { project, dir, tree, url, key, sha } = await reachable();
  const input = Buffer.from(`create refs/heads/caf\u00e9 ${sha}\n`, 'latin1');
  await gitWithInput(tree.dir, ['update-ref', '--stdin'], input);
  const web = cloneUrl(holder.app, project, { password: project.owner.token });
  const held = async () => (await tryGit(dir, ['for-each-ref', '--format=%(refname)'])).stdout;
  const expected = ['refs/heads/master'];
  for (const where of [url, web]) {
    await tree.git('branch', `over-${expected.length}`);
    const whole = await place.ssh.git(tree.dir, key, 'push', '--atomic', where, '--all');
    t.not(whole.code, 0);
    t.regex(whole.stderr, /names of all refs of a push have to be UTF-8/);
    t.is(await held(), expected.join('\n'));
    const alone = await place.ssh.git(tree.dir, key, 'push', where, '--all');
    t.is(alone.code, 1);
    t.regex(alone.stderr, /^ ! \[remote rejected\] caf.* \(deny updating a hidden ref\)$/m);
    t.regex(alone.stderr, /^remote: The name of refs\/heads\/caf\u00e9 is not UTF-8: it was not pushed/m);
    expected.push(`refs/heads/over-${expected.length}`);
    t.is(await held(), expected.join('\n'));
    const only = await place.ssh.git(tree.dir, key, 'push', where, 'refs/heads/c*:refs/heads/c*');
    t.is(only.code, 1);
    t.regex(only.stderr, /\[remote rejected\] caf/);
  }
  t.is(await pushes.outstanding(project), 0);
  t.deepEqual(
    (await pushes.events(project)).map(({ ref }) => ref),
    ['refs/heads/master', 'refs/heads/over-1', 'refs/heads/over-2'],
  );
});

test('who may only read clones and cannot push; whoever sees nothing learns nothing', async (t) => {
  const { project, tree, url } = await reachable();
  const reporter = await place.ssh.keyOf(await holder.app.make.member(project, 'reporter'));
  t.is((await place.ssh.git(tree.dir, reporter, 'ls-remote', url)).code, 0);
  const push = await place.ssh.git(tree.dir, reporter, 'push', url, 'HEAD:mine');
  t.is(push.code, 128);
  t.regex(push.stderr, /^hearth: You are not allowed to push code to this project\.$/m);
  const stranger = await place.ssh.keyOf(await holder.app.make.user());
  const said = [];
  for (const where of [url, place.ssh.url('nobody/nothing')]) {
    for (const args of [
      ['ls-remote', where],
      ['push', where, 'HEAD:mine'],
    ]) {
      said.push((await place.ssh.git(tree.dir, stranger, ...args)).stderr);
    }
  }
  t.is(new Set(said).size, 1);
  t.regex(said[0] ?? '', /^hearth: The project could not be found, or you may not see it\.$/m);
});

test('the clone URL of the API works as it is printed, whatever the case of its letters', async (t) => {
  const { project, key, sha } = await reachable();
  const { body } = await holder.app.call<{ ssh_url_to_repo: string }>(
    'GET',
    `/api/v3/projects/${project.id}`,
    {
      as: project.owner.token,
    },
  );
  t.is(body.ssh_url_to_repo, `ssh://git@127.0.0.1:${place.ssh.port}/${project.fullPath}.git`);
  for (const url of [body.ssh_url_to_repo, place.ssh.url(project.fullPath.toUpperCase())]) {
    const ran = await place.ssh.git(await trees.folder(), key, 'ls-remote', url, 'master');
    t.is(ran.stdout.split('\t')[0], sha, ran.stderr);
  }
});

test('a deploy key reads its projects and public ones, and pushes to none', async (t) => {
  const { project, url, tree } = await reachable();
  const hidden = await pushes.filled();
  const shown = await pushes.filled();
  await holder.app.rows('update projects set visibility_level = 20 where id = $1', [shown.project.id]);
  const key = await place.ssh.newKey();
  const id = await place.ssh.add(key.line, null);
  await holder.app.rows('insert into project_deploy_keys (project_id, key_id) values ($1, $2)', [
    project.id,
    id,
  ]);
  const git = (...args: string[]) => place.ssh.git(tree.dir, key, ...args);
  t.is((await git('ls-remote', url)).code, 0);
  t.is((await git('ls-remote', place.ssh.url(shown.project.fullPath))).code, 0);
  for (const at of [url, place.ssh.url(shown.project.fullPath)]) {
    t.regex((await git('push', at, 'HEAD:mine')).stderr, /^hearth: A deploy key cannot push\.$/m);
  }
  for (const args of [['ls-remote'], ['push']]) {
    const ran = await git(...args, place.ssh.url(hidden.project.fullPath), 'HEAD');
    t.regex(ran.stderr, /^hearth: The project could not be found/m);
  }
  t.regex((await place.ssh.ssh(key, [])).stdout, /^Welcome to Hearth! .*deploy key/);
});

test('what is still being imported is not pushed to', async (t) => {
  const { project, tree, url, key } = await reachable();
  await holder.app.rows(`update projects set import_status = 'started' where id = $1`, [project.id]);
  t.regex((await place.ssh.git(tree.dir, key, 'push', url, 'HEAD:mine')).stderr, /is being imported/);
});
