import { invalid, unavailable } from '../errors.ts';
import { GitTimeoutError } from '../git/errors.ts';
import { mergeBase } from '../git/history.ts';
import { fetchHead } from '../git/merge-request-refs.ts';
import { checkRefName } from '../git/ref-name.ts';
import { keepAround } from '../git/refs.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';

/** A branch by its short name. */
export interface Branch {
  projectId: number;
  name: string;
}

export interface Branches {
  source: Branch;
  target: Branch;
}

/** What merging one branch into another would be about. */
export interface Heads {
  /** The newest commit of the source. */
  headSha: string;
  /** The best common ancestor of the two; null for histories without one. */
  baseSha: string | null;
}

/** For the one step that may take long in a large history. */
const timeoutMs = 10_000;

/**
 * Looks where two branches are, and sees to it that the target's repository has the source's commits for good.
 *
 * @param work outside a transaction: git may need its time.
 * @throws AppError 400 that names the branches that are not there, 503 when git needs too long.
 */
export async function takeHeads(work: Work, { source, target }: Branches): Promise<Heads> {
  const [headSha, targetSha] = await Promise.all([tipOf(work, source), tipOf(work, target)]);
  if (headSha === null || targetSha === null) {
    const absent = ['does not exist'];
    throw invalid({
      ...(headSha === null ? { source_branch: absent } : {}),
      ...(targetSha === null ? { target_branch: absent } : {}),
    });
  }
  const targetDir = repositoryOf(work, { id: target.projectId });
  try {
    if (source.projectId !== target.projectId) {
      const sourceDir = repositoryOf(work, { id: source.projectId });
      await fetchHead({ targetDir, sourceDir, sha: headSha });
    }
    await keepAround(targetDir, headSha);
    return { headSha, baseSha: await mergeBase(targetDir, [headSha, targetSha], { timeoutMs }) };
  } catch (error) {
    throw error instanceof GitTimeoutError ? unavailable(error) : error;
  }
}

/** The newest commit of a branch; null when there is no such branch. */
async function tipOf(work: Work, { projectId, name }: Branch): Promise<string | null> {
  const ref = `refs/heads/${name}`;
  if (!checkRefName(ref)) return null;
  const dir = repositoryOf(work, { id: projectId });
  return (await work.objects.readInfo(dir, `${ref}^{commit}`))?.sha ?? null;
}
