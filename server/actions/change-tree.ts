import { badRequest } from '../errors.ts';
import type { CatFile } from '../git/cat-file.ts';
import type { Commit } from '../git/commit.ts';
import { GitError } from '../git/errors.ts';
import { resolveCommit } from '../git/refs.ts';
import { TreeDraft } from '../git/tree-draft.ts';
import { parseTree, type TreeEntry } from '../git/tree-object.ts';
import { type NewObject, newObject } from '../git/write-objects.ts';
import { readNewPath, readOldPath } from '../policy/file-path.ts';

/** One change of one file. */
export type FileAction =
  | { action: 'create'; path: string; content: Buffer }
  | { action: 'update'; path: string; content: Buffer; lastCommitId?: string | undefined }
  | { action: 'delete'; path: string; lastCommitId?: string | undefined }
  | {
      action: 'move';
      path: string;
      previousPath: string;
      /** The file stays as it is without it. */
      content?: Buffer | undefined;
      lastCommitId?: string | undefined;
    };

interface Place {
  objects: CatFile;
  dir: string;
  /** Null in an empty repository. */
  head: Commit | null;
}

interface Change extends Place {
  draft: TreeDraft;
  written: NewObject[];
}

const failed = 'Your changes could not be committed because';

/**
 * The tree of a commit with changes made one after the other, and the objects that it needs and that are to be
 * written.
 *
 * @throws AppError 400 for a change that cannot be made, and when all of them together change nothing.
 */
export async function changeTree(
  place: Place,
  actions: readonly FileAction[],
): Promise<{ treeId: string; objects: NewObject[] }> {
  const written: NewObject[] = [];
  const change = { ...place, draft: draftOf(place, place.head), written };
  for (const action of actions) await apply(change, action);
  const { treeId, trees } = await change.draft.finish();
  if (treeId === place.head?.treeId) throw badRequest(`${failed} they change nothing`);
  return { treeId, objects: [...written, ...trees] };
}

function draftOf({ objects, dir }: Place, commit: Commit | null): TreeDraft {
  const readTree = async (sha: string) => {
    const tree = await objects.readObject(dir, sha);
    if (tree?.type !== 'tree') throw new GitError({ attempted: `read ${sha}`, stderr: 'no such tree' });
    return parseTree(tree.data);
  };
  return new TreeDraft(readTree, commit?.treeId ?? null);
}

async function apply(change: Change, action: FileAction): Promise<void> {
  if (action.action === 'create') {
    await add(change, readNewPath(action.path), addBlob(change, { mode: '100644' }, action.content));
    return;
  }
  const isMove = action.action === 'move';
  const path = readOldPath(isMove ? action.previousPath : action.path);
  const file = await requireFile(change, path, action.lastCommitId);
  if (action.action === 'update') await change.draft.put(path, addBlob(change, file, action.content));
  else await change.draft.remove(path);
  if (isMove) {
    const moved = action.content === undefined ? file : addBlob(change, file, action.content);
    await add(change, readNewPath(action.path), moved);
  }
}

/** The file stays what it is, such as executable, with new content. */
function addBlob({ written }: Change, { mode }: Pick<TreeEntry, 'mode'>, content: Buffer): TreeEntry {
  const blob = newObject('blob', content);
  written.push(blob);
  return { mode, sha: blob.sha };
}

async function add({ draft }: Change, path: string, entry: TreeEntry): Promise<void> {
  const found = await draft.find(path);
  if (found === 'folder') throw badRequest(`${failed} a folder with the same name already exists`);
  if (found !== null) throw badRequest(`${failed} a file with the same name already exists`);
  if (!(await draft.put(path, entry))) throw badRequest(`${failed} a file is in the way of a folder`);
}

async function requireFile(change: Change, path: string, lastCommitId?: string): Promise<TreeEntry> {
  const found = await change.draft.find(path);
  if (found === null) throw badRequest(`${failed} the file does not exist`);
  if (found === 'folder' || !isFile(found)) throw badRequest(`${failed} there is no file but a folder`);
  if (lastCommitId !== undefined && !(await isAsIn(change, path, found, lastCommitId))) {
    throw badRequest(`${failed} the file has changed since the commit that last_commit_id names`);
  }
  return found;
}

/** Files of any right and symbolic links, whose content is where they lead to; not folders and submodules. */
function isFile({ mode }: TreeEntry): boolean {
  return mode.startsWith('100') || mode === '120000';
}

async function isAsIn(
  change: Change,
  path: string,
  { mode, sha }: TreeEntry,
  name: string,
): Promise<boolean> {
  const { objects, dir } = change;
  const id = await resolveCommit(objects, dir, name);
  const commit = id === null ? null : await objects.readCommit(dir, id);
  const then = commit && (await draftOf(change, commit).find(path));
  return then !== null && then !== 'folder' && then.mode === mode && then.sha === sha;
}
