import { readRefName } from '../../shared/ref-kind.ts';
import type { RefChange } from '../entities/push.ts';
import { type CommitList, listBetween } from '../git/history.ts';
import { zeroSha } from '../git/ref-name.ts';
import { lookUpRef } from '../git/refs.ts';
import type { Work } from '../services.ts';

/** Commits that the event of a push shows. */
export const shownCommits = 20;

/** The commits from one to another, listed before anybody asked for them; null when they are not. Never rejects. */
export type EarlyList = Promise<(CommitList & { oldSha: string; newSha: string }) | null>;

interface RunningPush {
  dir: string;
  defaultBranch: string | null;
  changes: readonly RefChange[];
  /** Of `receivePack`. */
  quarantine: Promise<string | null>;
}

/**
 * Lists what a push brings to its one branch while git still looks whether anything is missing from it, which takes
 * longer: so the client does not wait for the list. A push that comes to nothing has listed it in vain.
 */
export async function listEarly({ objects }: Pick<Work, 'objects'>, push: RunningPush): EarlyList {
  const { dir, defaultBranch, quarantine } = push;
  const [change, ...others] = push.changes;
  if (!change || others.length > 0 || change.newSha === zeroSha) return null;
  if (readRefName(change.ref)?.isTag !== false) return null;
  try {
    const folder = await quarantine;
    if (folder === null) return null;
    const needsTrunk = change.oldSha === zeroSha && defaultBranch !== null;
    const trunk = needsTrunk ? await lookUpRef(objects, dir, `refs/heads/${defaultBranch}`) : null;
    const range = { oldSha: startOf(change, { defaultBranch, trunk }), newSha: change.newSha };
    return { ...range, ...(await listBetween({ ...range, dir, limit: shownCommits, quarantine: folder })) };
  } catch {
    // Whoever needs the list makes it again, and then hears what is wrong.
    return null;
  }
}

/** A new branch starts where it left the default one, which shows the commits before that already. */
export function startOf(
  { ref, oldSha }: RefChange,
  { defaultBranch, trunk }: { defaultBranch: string | null; trunk: string | null },
): string {
  const isTrunk = ref === `refs/heads/${defaultBranch}`;
  return oldSha === zeroSha && trunk !== null && !isTrunk ? trunk : oldSha;
}
