import { join } from 'node:path';
import test from 'ava';
import { damages } from '../support/damages.ts';
import { withPushes } from '../support/pushes.ts';
import { withSsh } from '../support/ssh.ts';

const pushes = withPushes();
const { holder, trees } = pushes;
const place = withSsh(holder);

async function reachable() {
  const pushed = await pushes.filled();
  const key = await place.ssh.keyOf(pushed.project.owner);
  const url = place.ssh.url(pushed.project.fullPath);
  const git = (...args: string[]) => place.ssh.git(pushed.tree.dir, key, ...args);
  return { ...pushed, git, url };
}

for (const [name, { isTotal, cause }] of Object.entries(damages)) {
  test.serial(`${name} is told to who clones or pushes, and is no trouble to others`, async (t) => {
    const [broken, whole] = [await reachable(), await reachable()];
    await cause(broken);
    await broken.tree.commit({ README: 'Next' });
    for (const args of [
      ['clone', '--quiet', broken.url, join(await trees.folder(), 'copy')],
      ['push', '--quiet', broken.url, 'master:refs/heads/new'],
    ]) {
      const ran = await broken.git(...args);
      const isClone = args[0] === 'clone';
      if (isTotal) {
        t.is(ran.code, 128);
        t.regex(ran.stderr, /^hearth: The repository of this project cannot be read\.$/m, args[0]);
      } else if (isClone && ran.code !== 0) {
        t.regex(ran.stderr, /^(?:fatal|error|remote|hearth): ./m);
      }
      t.notRegex(ran.stderr, /Something went wrong/);
      // What git itself says of a push that it began names files; those that read it may write here.
      if (isTotal || isClone) t.false(ran.stderr.includes(holder.app.services.repositoriesDir), ran.stderr);
    }
    const { logLines } = holder.app;
    const faults = logLines.filter((line) => line.includes('"level":50'));
    logLines.splice(0, logLines.length, ...logLines.filter((line) => !faults.includes(line)));
    t.is(faults.filter((line) => line.includes('a repository cannot be read')).length >= 2, isTotal);
    const copy = join(await trees.folder(), 'copy');
    t.like(await whole.git('clone', '--quiet', whole.url, copy), { code: 0, stderr: '' });
    await whole.tree.commit({ README: 'Next' });
    t.is((await whole.git('push', '--quiet', whole.url, 'master')).code, 0);
    t.is((await holder.app.call('GET', '/readyz')).status, 200);
  });
}
