import { repositoryDir } from '../../server/git/repository-path.ts';
import { git } from '../git/real-git.ts';
import type { TestApp } from './app.ts';

let count = 0;

/** Makes a commit without files in a project's repository, on no branch. @returns its id. */
export async function looseCommit(
  { services }: Pick<TestApp, 'services'>,
  project: { id: number },
  ...parents: string[]
): Promise<string> {
  const dir = repositoryDir(services.repositoriesDir, project.id);
  const tree = await git(dir, 'hash-object', '-w', '-t', 'tree', '/dev/null');
  count += 1;
  const before = parents.flatMap((parent) => ['-p', parent]);
  return git(dir, 'commit-tree', ...before, '-m', `Commit ${count}`, tree);
}
