import { maxReferenceNumber, type Reference, readReferences } from '../references/read.ts';
import type { Work } from '../services.ts';
import { keepMentions } from './keep-mentions.ts';
import { type NamedThing, writeCrossReferences } from './write-cross-references.ts';

/** Where something is named: a thing by its id, or a commit; of the project that it belongs to. */
export type ReferenceSource =
  | { type: 'Issue' | 'MergeRequest' | 'Snippet'; projectId: number; id: number }
  /** `within`: ids of merge requests that the commit is a part of, and that are not told of it. */
  | { type: 'Commit'; projectId: number; sha: string; within?: readonly number[] };

export interface Naming {
  /** Whoever wrote it: he names only what he may read. */
  authorId: number;
  source: ReferenceSource;
  /** The comment on the source that does the naming; null where its own title, description or message does. */
  noteId: number | null;
  /** All texts of the source, or of the note, as they are now. */
  texts: readonly (string | null)[];
}

/** Names of users or groups, and things, that are looked for of one naming. */
const most = { names: 100, things: 100 };

/**
 * Keeps what texts name, as they are now. Users who are named, and may read it, take part in the thing from then on;
 * whom the texts no longer name does not. Issues and merge requests that are named tell so in a note, once for each
 * source, and not of themselves. Call it in the transaction that wrote the texts. At most two statements, whatever is
 * named; of very many names the first hundred count.
 */
export async function noteReferences(work: Work, naming: Naming): Promise<void> {
  const { names, things } = readNames(naming.texts);
  await keepMentions(work, naming, names);
  await writeCrossReferences(work, naming, things);
}

function readNames(texts: readonly (string | null)[]): { names: string[]; things: NamedThing[] } {
  const names = new Set<string>();
  const things = new Map<string, NamedThing>();
  for (const reference of texts.flatMap((text) => (text ? [...readReferences(text)] : []))) {
    if (reference.kind === 'user' && names.size < most.names) names.add(reference.name.toLowerCase());
    const thing = thingOf(reference);
    if (thing && things.size < most.things) things.set(`${thing.project} ${thing.type} ${thing.iid}`, thing);
  }
  return { names: [...names], things: [...things.values()] };
}

function thingOf({ kind, project, name }: Reference): NamedThing | null {
  if (kind !== 'issue' && kind !== 'merge_request') return null;
  const iid = Number(name);
  if (iid > maxReferenceNumber) return null;
  return { type: kind === 'issue' ? 'Issue' : 'MergeRequest', project: project?.toLowerCase() ?? null, iid };
}
