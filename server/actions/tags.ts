import { cannotBeDone, conflict, noSuch } from '../errors.ts';
import { RefConflictError } from '../git/errors.ts';
import { isUsableRef, zeroSha } from '../git/ref-name.ts';
import { lookUpRef, readRef, resolveCommit } from '../git/refs.ts';
import { repositoryDir } from '../git/repository-path.ts';
import { makeTag } from '../git/tag.ts';
import type { Viewer } from '../queries/viewer.ts';
import type { Work } from '../services.ts';
import { sqlOne } from '../sql.ts';
import { isInTheWay, moveRef } from './move-ref.ts';
import { setRelease } from './releases.ts';

interface TagWish {
  viewer: Viewer;
  projectId: number;
  name: string;
}

interface NewTagWish extends TagWish {
  /** Name of a branch or tag, or id of a commit. */
  from: string;
  /** With one it is an annotated tag, with the viewer as its tagger. */
  message?: string | undefined;
  releaseDescription?: string | undefined;
}

/**
 * Makes a tag, with all that follows from a push of it.
 *
 * @param work outside a transaction.
 * @returns what its ref holds.
 * @throws AppError 405 when it cannot be made.
 */
export async function createTag(work: Work, wish: NewTagWish): Promise<string> {
  const { viewer, projectId, name, from, releaseDescription } = wish;
  const dir = repositoryDir(work.repositoriesDir, projectId);
  const ref = `refs/tags/${name}`;
  if (!isUsableRef(ref)) throw cannotBeDone('Tag name invalid');
  const taken = `Tag ${name} already exists`;
  if (await lookUpRef(work.objects, dir, ref)) throw cannotBeDone(taken);
  const commit = await resolveCommit(work.objects, dir, from);
  if (commit === null) throw cannotBeDone(`Target ${from} is invalid`);
  const newSha = await tagObject(work, wish, { dir, commit });
  try {
    await moveRef(work, { projectId, userId: viewer.id, ref, oldSha: zeroSha, newSha });
  } catch (error) {
    if (error instanceof RefConflictError) throw cannotBeDone(taken);
    throw isInTheWay(error) ? cannotBeDone('Another tag is in the way of this name') : error;
  }
  if (releaseDescription !== undefined) {
    await setRelease(work, { projectId, tag: name, description: releaseDescription });
  }
  return newSha;
}

async function tagObject(
  work: Work,
  { viewer, name, message }: NewTagWish,
  { dir, commit }: { dir: string; commit: string },
): Promise<string> {
  if (message === undefined) return commit;
  const now = await sqlOne<{ time: number }>(
    work.em,
    'select floor(extract(epoch from now()))::float8 as time',
  );
  const tagger = { name: viewer.name, email: viewer.email, time: now?.time ?? 0 };
  return makeTag(dir, { name, commit, message, tagger });
}

/**
 * Removes a tag, with all that follows from a push that does so; its release goes too.
 *
 * @param work outside a transaction.
 * @throws AppError 404 when there is none, 409 when it is moved meanwhile.
 */
export async function removeTag(work: Work, { viewer, projectId, name }: TagWish): Promise<void> {
  const dir = repositoryDir(work.repositoriesDir, projectId);
  const ref = `refs/tags/${name}`;
  const oldSha = await lookUpRef(work.objects, dir, ref);
  if (oldSha === null) throw noSuch('No such tag');
  try {
    await moveRef(work, { projectId, userId: viewer.id, ref, oldSha, newSha: zeroSha });
  } catch (error) {
    if (!(error instanceof RefConflictError)) throw error;
    throw (await readRef(dir, ref)) === null ? noSuch('No such tag') : conflict();
  }
}
