import { GitError } from '../git/errors.ts';
import { findLogo } from '../git/logo.ts';
import { repositoryDir } from '../git/repository-path.ts';
import type { Work } from '../services.ts';
import { sql } from '../sql.ts';

interface Trunk {
  projectId: number;
  /** The default branch by its short name; null without one. */
  branch: string | null;
}

/**
 * Writes down which of its files a project is shown with, for lists to tell without a look into each repository.
 *
 * @param work inside a transaction that holds the row of the project, so that of two moves of its default branch the
 * one that looks last sees both.
 */
export async function keepLogo(work: Work, trunk: Trunk): Promise<void> {
  const { projectId } = trunk;
  const logo = await nameOfLogo(work, trunk);
  const text = 'update projects set logo = $2 where id = $1 and logo is distinct from $2';
  await sql(work.em, text, [projectId, logo]);
}

/** Files that cannot be read must not keep a push from being settled: without a picture nothing else is wrong. */
async function nameOfLogo(work: Work, { projectId, branch }: Trunk): Promise<string | null> {
  if (branch === null) return null;
  try {
    const logo = await findLogo(work.objects, repositoryDir(work.repositoriesDir, projectId), branch);
    return logo?.name ?? null;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    work.log.warn({ err: error, project: projectId }, 'the logo of a project was not found out');
    return null;
  }
}
