import { join } from 'node:path';
import { GitError } from './errors.ts';
import { isSha } from './ref-name.ts';
import { listRefs } from './refs.ts';
import { runGit } from './run-git.ts';
import { sync } from './sync.ts';

const timeoutMs = 60_000;

/** Of a merge request, by which clients fetch its commits. They cannot push to it. */
export function headRef(iid: number): string {
  return `refs/merge-requests/${iid}/head`;
}

export interface HeadFetch {
  targetDir: string;
  sourceDir: string;
  /** Full id of a commit of the source. */
  sha: string;
}

/**
 * Brings a commit with its history into another repository, as one pack of what that one's refs do not have. Nothing
 * leads to it yet. No second git is at work on the source, which therefore needs no settings that would allow it.
 *
 * @throws GitTimeoutError when it takes too long, GitError when the commit is not there.
 */
export async function fetchHead({ targetDir, sourceDir, sha }: HeadFetch): Promise<void> {
  const attempted = `bring ${sha} into another repository`;
  if (!isSha(sha)) throw new GitError({ attempted, stderr: 'not an object id' });
  const known = await listRefs(targetDir, ['refs/heads', 'refs/tags', 'refs/merge-requests']);
  const without = [...new Set(known.map((ref) => ref.sha))].map((one) => `^${one}\n`);
  const packs = join(targetDir, 'objects', 'pack');
  await runGit({
    dir: targetDir,
    args: ['pack-objects', '--quiet', '--revs', '--non-empty', '--delta-base-offset', join(packs, 'pack')],
    input: `${sha}\n${without.join('')}`,
    alternate: join(sourceDir, 'objects'),
    attempted,
    timeoutMs,
  });
  await sync(packs);
}

/** Lets clients find the head of a merge request; it has to be in the repository. */
export async function setHeadRef({
  dir,
  iid,
  sha,
}: {
  dir: string;
  iid: number;
  sha: string;
}): Promise<void> {
  const attempted = `note ${sha} as head of merge request ${iid}`;
  if (!isSha(sha)) throw new GitError({ attempted, stderr: 'not an object id' });
  await updateHeadRef(dir, `update ${headRef(iid)}\0${sha}\0\0`, attempted);
}

/** Lets clients find it no more. Safe to repeat. */
export async function removeHeadRef({ dir, iid }: { dir: string; iid: number }): Promise<void> {
  await updateHeadRef(dir, `delete ${headRef(iid)}\0\0`, `remove the head of merge request ${iid}`);
}

async function updateHeadRef(dir: string, input: string, attempted: string): Promise<void> {
  // Nobody asks who moved it, so a log would be a file for nothing.
  const config = [['core.logAllRefUpdates', 'false']] as const;
  await runGit({ dir, args: ['update-ref', '--stdin', '-z'], input, attempted, config });
}
