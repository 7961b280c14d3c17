import { join } from 'node:path';
import test from 'ava';
import { readRef } from '../../server/git/refs.ts';
import { withPushes } from '../support/pushes.ts';
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
