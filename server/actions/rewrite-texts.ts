import { GitError } from '../git/errors.ts';
import { findNamedThings, namedKinds, type ThingName } from '../queries/named-things.ts';
import { repositoryOf } from '../queries/repository.ts';
import { type Reference, readReferences } from '../references/read.ts';
import { rewriteReferences } from '../references/rewrite.ts';
import type { Work } from '../services.ts';

/** The project that texts were written in. */
export interface TextOrigin {
  id: number;
  /** `namespace/path`. */
  fullPath: string;
}

/** Nobody names more in a batch of texts by hand; what comes after is left as it was written. */
const mostNames = 5000;
const mostCommits = 200;

/** The texts as they have to be in another project, where what they name has to be named with its project. */
export async function rewriteTexts(
  work: Work,
  { id, fullPath }: TextOrigin,
  texts: readonly string[],
): Promise<string[]> {
  const named = new Map<string, Reference>();
  for (const text of texts) {
    for (const reference of readReferences(text)) {
      if (reference.project === null && named.size < mostNames) named.set(keyOf(reference), reference);
    }
  }
  if (named.size === 0) return [...texts];
  const known = new Set([
    ...(await findNamedThings(work.em, id, [...named.values()].filter(isThing))).map(keyOf),
    ...(await knownCommits(work, id, [...named.values()])),
  ]);
  const isKnown = (reference: Reference) => known.has(keyOf(reference));
  return texts.map((text) => rewriteReferences(text, { from: fullPath, isKnown }));
}

function keyOf({ kind, name }: { kind: string; name: string }): string {
  return `${kind} ${name}`;
}

function isThing(reference: Reference): reference is Reference & ThingName {
  return namedKinds.some((kind) => kind === reference.kind);
}

/** @returns the keys of those that are commits. */
async function knownCommits(
  work: Work,
  projectId: number,
  references: readonly Reference[],
): Promise<string[]> {
  const dir = repositoryOf(work, { id: projectId });
  const known: string[] = [];
  for (const reference of references.filter(({ kind }) => kind === 'commit').slice(0, mostCommits)) {
    if (await isCommit(work, dir, reference.name)) known.push(keyOf(reference));
  }
  return known;
}

async function isCommit(work: Work, dir: string, hash: string): Promise<boolean> {
  try {
    return (await work.objects.readInfo(dir, `${hash}^{commit}`)) !== null;
  } catch (error) {
    // A damaged repository keeps nobody from moving what was said in its project.
    if (error instanceof GitError) return false;
    throw error;
  }
}
