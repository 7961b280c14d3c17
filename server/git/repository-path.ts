import { hash } from 'node:crypto';
import { join } from 'node:path';

/**
 * The directory of a project's repository below `root`. Made from the id alone, so that renames and transfers
 * move nothing; two levels of 256 folders keep each folder small however many projects there are.
 */
export function repositoryDir(root: string, projectId: number | string): string {
  const id = String(projectId);
  if (!/^[1-9][0-9]*$/.test(id)) throw new TypeError(`not a project id: ${id}`);
  const digest = hash('sha256', id, 'hex');
  return join(root, digest.slice(0, 2), digest.slice(2, 4), `${id}.git`);
}
