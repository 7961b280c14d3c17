import { LRUCache } from 'lru-cache';
import { badRequest } from '../errors.ts';
import { ObjectTooLargeError } from '../git/errors.ts';
import { listBelow, TooManyEntries } from '../git/tree-listing.ts';
import { findPath } from '../git/tree-path.ts';
import { onProject } from '../http/access.ts';
import { PageAnswer } from '../http/answers.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { pageOf } from '../http/page-of.ts';
import type { PageRequest } from '../http/paginate.ts';
import { flag, optional, revision, text } from '../http/params.ts';
import { presentTreeEntry, TreeEntryJson } from '../present/tree-entry.ts';
import type { Work } from '../services.ts';
import { type RepositoryPlace, requirePlace } from './repository-place.ts';

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tree',
  summary:
    'What is in a folder: folders first, then files, then submodules; with `recursive` all below it too',
  access: onProject('read_code'),
  params: {
    path: optional(text({ max: 4096 })),
    ref_name: optional(revision()),
    recursive: optional(flag()),
  },
  returns: TreeEntryJson,
  list: true,
  async run(call) {
    const { project, params, page, work } = call;
    const place = await requirePlace(work, { project, ref: params.ref_name, missing: 'Tree' });
    const path = (params.path ?? '').split('/').filter((name) => name !== '');
    const read = { place, path, page };
    const reading = params.recursive ? readBelow(work, read, call.signal) : readFolder(work, read);
    return reading.catch((error) => {
      if (!(error instanceof TooManyEntries) && !(error instanceof ObjectTooLargeError)) throw error;
      throw badRequest(
        '400 (Bad request) too much is in there for one list: ask for a folder in it by "path"',
      );
    });
  },
});

export const endpoints: Endpoint[] = [list];

interface FolderRead {
  place: RepositoryPlace;
  /** Names of the folders that lead to it. */
  path: string[];
  page: PageRequest;
}

/** A path that leads to no folder has nothing in it. */
async function readFolder(work: Work, { place, path, page }: FolderRead): Promise<PageAnswer<TreeEntryJson>> {
  const folder = await findFolder(work, place, path);
  if (folder === null) return new PageAnswer<TreeEntryJson>([], 0);
  const prefix = prefixOf(path);
  const key = `${folder} ${page.page} ${page.perPage} ${prefix}`;
  const known = pages.get(key);
  if (known) return known;
  const tree = await work.objects.readTree(place.dir, folder);
  // Not remembered: another repository may well have what this one has lost.
  if (tree === null) return new PageAnswer<TreeEntryJson>([], 0);
  const listed = pageOf(tree.listed, page);
  const answer = listed.map((entry) => presentTreeEntry(entry, prefix + entry.name));
  pages.set(key, answer);
  return answer;
}

/** The id of a tree says what is in it, so that a page stays true for ever, and in every repository. */
const pages = new LRUCache<string, PageAnswer<TreeEntryJson>>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: ({ items }, key) => 500 + 2 * key.length + items.length * (500 + key.length),
});

/** With what is in the folders in it. */
async function readBelow(
  work: Work,
  { place, path, page }: FolderRead,
  signal: AbortSignal,
): Promise<PageAnswer<TreeEntryJson>> {
  const tree = await findFolder(work, place, path);
  if (tree === null) return new PageAnswer<TreeEntryJson>([], 0);
  const stretch = { offset: (page.page - 1) * page.perPage, limit: page.perPage };
  const walk = { objects: work.objects, dir: place.dir, tree, prefix: prefixOf(path), signal };
  const { entries, total } = await listBelow(walk, stretch);
  return new PageAnswer(entries, total).map((entry) => presentTreeEntry(entry, entry.path));
}

/** Id of a folder; null when there is none. */
async function findFolder(work: Work, { dir, sha }: RepositoryPlace, path: string[]): Promise<string | null> {
  const entry = await findPath(work.objects, dir, { commit: sha, path });
  return entry?.type === 'tree' ? entry.id : null;
}

function prefixOf(path: string[]): string {
  return path.map((name) => `${name}/`).join('');
}
