import { AppError } from '../errors.ts';
import { can } from '../policy/project.ts';
import { findProject, type ProjectRow } from '../queries/project-row.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';

export type GitRight = 'read' | 'write';

export interface GitAccess {
  project: ProjectRow;
  /** Null for builds, for deploy keys and for nobody. */
  viewer: Viewer | null;
}

export interface GitWish {
  /** `namespace/project`, without `.git`. */
  path: string;
  right: GitRight;
}

/**
 * The project that a user wants to fetch from or push to.
 *
 * @throws AppError 404 for a project that he cannot see, 403 for one that he may not read or write.
 */
export async function userAccess(work: Work, viewer: Viewer, { path, right }: GitWish): Promise<GitAccess> {
  const project = await findProject(work.em, path, viewer);
  if (!project || !can(viewer, project, 'read_project')) throw noProject();
  if (!can(viewer, project, right === 'read' ? 'read_code' : 'push_code')) {
    throw refused(
      right === 'read'
        ? 'You are not allowed to read this project.'
        : 'You are not allowed to push code to this project.',
    );
  }
  // What it would push to is replaced when the import ends.
  if (right === 'write' && project.import_status === 'started') {
    throw refused('This project is being imported. Push to it when that has ended.');
  }
  return { project, viewer };
}

/** The answer for a project that is not there, and for one that the caller must not know of. */
export function noProject(): AppError {
  return new AppError({ status: 404, message: 'Not Found' });
}

export function refused(text: string): AppError {
  return new AppError({ status: 403, message: text });
}
