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
  async run({ project, params, page, work, signal }) {
    const place = await requirePlace(work, { project, ref: params.ref_name, missing: 'Tree' });
    const path = (params.path ?? '').split('/').filter((name) => name !== '');
    const read = { place, path, page, isRecursive: params.recursive ?? false, signal };
    return readFolder(work, read).catch((error) => {
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
  isRecursive: boolean;
  signal: AbortSignal;
}

/** A path that leads to no folder has nothing in it. */
async function readFolder(work: Work, read: FolderRead): Promise<PageAnswer<TreeEntryJson>> {
  const { place, path, page, isRecursive, signal } = read;
  const { dir, sha } = place;
  const folder = await findPath(work.objects, dir, { commit: sha, path });
  if (folder?.type !== 'tree') return new PageAnswer<TreeEntryJson>([], 0);
  const prefix = path.map((name) => `${name}/`).join('');
  if (!isRecursive) {
    const tree = await work.objects.readTree(dir, folder.id);
    return pageOf(tree?.listed ?? [], page).map((entry) => presentTreeEntry(entry, prefix + entry.name));
  }
  const stretch = { offset: (page.page - 1) * page.perPage, limit: page.perPage };
  const walk = { objects: work.objects, dir, tree: folder.id, prefix, signal };
  const { entries, total } = await listBelow(walk, stretch);
  return new PageAnswer(entries, total).map((entry) => presentTreeEntry(entry, entry.path));
}
