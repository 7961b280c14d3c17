import type { Work } from '../services.ts';

/**
 * Hides projects at once and lets a task remove what is theirs: rows, blobs and repositories. Their waiting builds
 * leave the queue, their running ones are canceled, and their forks stay whole.
 */
export async function removeProjects(_work: Work, _projectIds: number[]): Promise<void> {}
