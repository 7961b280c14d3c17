import { isUtf8 } from 'node:buffer';
import { folderMode, formatTree, type TreeEntries, type TreeEntry } from './tree-object.ts';
import { type NewObject, newObject } from './write-objects.ts';

/** A folder that was looked into. */
interface Folder {
  children: Map<string, TreeEntry | Folder>;
  /** Where it came from; null for a new one. */
  base: TreeEntry | null;
  isChanged: boolean;
}

export type ReadTree = (sha: string) => Promise<TreeEntries>;

/**
 * A tree that differs from another one, made without a work tree. Only the folders on the way to what is looked at
 * or changed are read, and only those on the way to a change come anew. Paths are segments between slashes.
 */
export class TreeDraft {
  private readonly readTree: ReadTree;
  private readonly base: string | null;
  private root: Folder | null = null;

  /** @param base id of the tree to start from; null for an empty one. */
  constructor(readTree: ReadTree, base: string | null) {
    this.readTree = readTree;
    this.base = base;
  }

  /** What is at a path; null for nothing, also below something that is no folder. */
  async find(path: string): Promise<TreeEntry | 'folder' | null> {
    const place = await this.open(path);
    const node = place?.folder.children.get(place.name);
    if (node === undefined) return null;
    return isFolder(node) || node.mode === folderMode ? 'folder' : node;
  }

  /** Puts something at a path, with the folders above it. @returns false when what is no folder is in the way. */
  async put(path: string, entry: TreeEntry): Promise<boolean> {
    const place = await this.open(path, { make: true });
    if (place === null) return false;
    place.folder.children.set(place.name, entry);
    for (const folder of place.above) folder.isChanged = true;
    return true;
  }

  /** Takes away what is at a path, with the folders above it that are empty then. */
  async remove(path: string): Promise<void> {
    const place = await this.open(path);
    if (!place?.folder.children.delete(place.name)) return;
    for (const folder of place.above) folder.isChanged = true;
  }

  /** @returns id of the whole tree, and the trees that are not there yet, if it differs from its base. */
  async finish(): Promise<{ treeId: string; trees: NewObject[] }> {
    const root = await this.openRoot();
    const trees: NewObject[] = [];
    const entry = finished(root, trees) ?? addTree(new Map(), trees);
    const isSame = entry.sha === this.base;
    return { treeId: entry.sha, trees: isSame ? [] : trees };
  }

  /** @returns the folder that holds the last segment of a path, and all folders on the way to it with it. */
  private async open(
    path: string,
    { make = false } = {},
  ): Promise<{ folder: Folder; name: string; above: Folder[] } | null> {
    const segments = path.split('/');
    const last = segments.pop() ?? '';
    let folder = await this.openRoot();
    const above = [folder];
    for (const segment of segments) {
      const next = await this.enter(folder, nameIn(folder, segment), make);
      if (next === null) return null;
      folder = next;
      above.push(folder);
    }
    return { folder, name: nameIn(folder, last), above };
  }

  private async openRoot(): Promise<Folder> {
    this.root ??= await this.load(this.base === null ? null : { mode: folderMode, sha: this.base });
    return this.root;
  }

  private async enter(folder: Folder, name: string, make: boolean): Promise<Folder | null> {
    const node = folder.children.get(name);
    if (node === undefined && !make) return null;
    if (node !== undefined && isFolder(node)) return node;
    if (node !== undefined && node.mode !== folderMode) return null;
    const opened = await this.load(node ?? null);
    folder.children.set(name, opened);
    return opened;
  }

  private async load(base: TreeEntry | null): Promise<Folder> {
    const children: Folder['children'] = base === null ? new Map() : await this.readTree(base.sha);
    return { children, base, isChanged: base === null };
  }
}

function isFolder(node: TreeEntry | Folder): node is Folder {
  return 'children' in node;
}

/** @returns null for a folder that has become empty, which git does not keep. */
function finished({ children, base, isChanged }: Folder, trees: NewObject[]): TreeEntry | null {
  if (!isChanged && base !== null) return base;
  const entries: TreeEntries = new Map();
  for (const [name, node] of children) {
    const entry = isFolder(node) ? finished(node, trees) : node;
    if (entry !== null) entries.set(name, entry);
  }
  return entries.size === 0 ? null : addTree(entries, trees);
}

function addTree(entries: TreeEntries, trees: NewObject[]): TreeEntry {
  const tree = newObject('tree', formatTree(entries));
  trees.push(tree);
  return { mode: folderMode, sha: tree.sha };
}

/** The bytes of a segment: UTF-8, or those of latin-1 where only such a name is there. */
function nameIn({ children }: Folder, segment: string): string {
  const name = Buffer.from(segment).toString('latin1');
  const isOld = !children.has(name) && !/[^\0-\xff]/.test(segment) && children.has(segment);
  return isOld && !isUtf8(Buffer.from(segment, 'latin1')) ? segment : name;
}
