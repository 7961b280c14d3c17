import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ref } from './refs.ts';
import { runGit } from './run-git.ts';
import { sync } from './sync.ts';

/**
 * Gives a repository that nobody writes to these refs, all of them at once, in place of those it had packed.
 *
 * @param refs in git's order.
 */
export async function writePackedRefs(dir: string, refs: readonly Ref[]): Promise<void> {
  const lines = refs.map(({ name, sha }) => `${sha} ${name}\n`);
  const aside = join(dir, `packed-refs.${randomBytes(8).toString('hex')}`);
  try {
    const file = await open(aside, 'wx');
    try {
      await file.writeFile(`# pack-refs with: sorted \n${lines.join('')}`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, join(dir, 'packed-refs'));
    await sync(dir);
  } finally {
    await rm(aside, { force: true });
  }
  // Notes what annotated tags lead to, which readers would look up each time.
  await runGit({ dir, args: ['pack-refs', '--all'], attempted: 'pack refs' });
}
