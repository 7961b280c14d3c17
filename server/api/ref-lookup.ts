import type { Commit } from '../git/commit.ts';
import { ObjectTooLargeError } from '../git/errors.ts';
import { lookUpRef } from '../git/refs.ts';
import { readTagMessage } from '../git/tag.ts';
import type { BranchParts } from '../present/branch.ts';
import type { TagParts } from '../present/tag.ts';
import { protectionsOf } from '../queries/protected-branches.ts';
import { releasesOf } from '../queries/releases.ts';
import { repositoryOf } from '../queries/repository.ts';
import type { Work } from '../services.ts';

/** A branch or tag. */
export interface FoundRef {
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string;
  /** What the ref holds. */
  sha: string;
}

const folders = { branch: 'refs/heads', tag: 'refs/tags' };

interface RefName {
  kind: keyof typeof folders;
  /** Without the folder. */
  name: string;
}

/** A branch or tag by its name; null when there is none. */
export async function findRef(
  work: Work,
  project: { id: number },
  { kind, name }: RefName,
): Promise<FoundRef | null> {
  const dir = repositoryOf(work, project);
  const sha = await lookUpRef(work.objects, dir, `${folders[kind]}/${name}`);
  return sha === null ? null : { name, sha };
}

/** As `findRef`, for a name at the end of the path, where nothing is taken away. */
export function findShownRef(
  work: Work,
  project: { id: number },
  { kind, name }: RefName,
): Promise<FoundRef | null> {
  return findAtEnd(name, (given) => findRef(work, project, { kind, name: given }));
}

/** Looks for a name at the end of the path: one that ends in `.json` and is not there may be meant without that. */
export async function findAtEnd<T>(
  name: string,
  find: (name: string) => Promise<T | null>,
): Promise<T | null> {
  const found = await find(name);
  return found === null && name.endsWith('.json') ? find(name.slice(0, -'.json'.length)) : found;
}

/** Everything that is shown of branches, with one statement for all of them. */
export async function describeBranches(
  work: Work,
  project: { id: number },
  branches: readonly FoundRef[],
): Promise<BranchParts[]> {
  const protections = await protectionsOf(work.em, project.id, namesOf(branches));
  return Promise.all(
    branches.map(async ({ name, sha }) => ({
      name,
      protection: protections.get(name) ?? null,
      commit: await readTip(work, project, sha),
    })),
  );
}

/** Everything that is shown of tags, with one statement for all of them. */
export async function describeTags(
  work: Work,
  project: { id: number },
  tags: readonly FoundRef[],
): Promise<TagParts[]> {
  const releases = await releasesOf(work.em, project.id, namesOf(tags));
  const dir = repositoryOf(work, project);
  return Promise.all(
    tags.map(async ({ name, sha }) => ({
      name,
      message: await readTagMessage(work.objects, dir, sha),
      commit: await readTip(work, project, sha),
      release: releases.get(name) ?? null,
    })),
  );
}

function namesOf(refs: readonly FoundRef[]): string[] {
  return refs.map(({ name }) => name);
}

/** A page holds up to a hundred of them. */
const largestCommit = 1024 * 1024;

async function readTip(work: Work, project: { id: number }, sha: string): Promise<Commit | null> {
  try {
    return await work.objects.readCommit(repositoryOf(work, project), sha, largestCommit);
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return null;
    throw error;
  }
}
