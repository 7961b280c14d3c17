import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseBranch } from './default-branch.ts';
import { linkObjects } from './link-objects.ts';
import { writePackedRefs } from './packed-refs.ts';
import { listRefs } from './refs.ts';
import { createRepository, setHead } from './repository.ts';

export interface ForkRequest {
  source: string;
  /** Where the new repository goes; nothing is there yet. */
  target: string;
  /** Folder that is this fork's alone until it is known to be wanted; see staging.ts. */
  staging: string;
  /** Short name of the source's default branch, or null. */
  head: string | null;
}

/**
 * Copies branches and tags of a repository, and shares its objects in a way that neither of the two, nor copies of
 * them, depends on the other. The source may be pushed to, repacked or removed meanwhile and later.
 *
 * @returns the default branch of the copy, null when it is empty.
 * @throws Error when the source went away.
 */
export async function forkRepository({ source, target, staging, head }: ForkRequest): Promise<string | null> {
  const refs = await listRefs(source);
  const branch = chooseBranch(refs, head);
  await mkdir(staging, { recursive: true });
  await createRepository(target, {
    aside: join(staging, 'repository.git'),
    async fill(aside) {
      await linkObjects(source, aside);
      await writePackedRefs(aside, refs);
      // Reads what each ref leads to, so that one without its object is noticed here.
      await listRefs(aside);
      if (branch !== null) await setHead(aside, branch);
    },
  });
  return branch;
}
