import { repositoryDir } from '../git/repository-path.ts';
import type { Services } from '../services.ts';

/** Folder of a project's repository. */
export function repositoryOf(services: Pick<Services, 'repositoriesDir'>, project: { id: number }): string {
  return repositoryDir(services.repositoriesDir, project.id);
}
