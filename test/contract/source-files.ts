import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  path: string;
  text: string;
  /** Read when it is asked for: parsing all of them takes a second. */
  tree(): ts.SourceFile;
}

/** Every TypeScript and JavaScript file below these folders. */
export function sourceFiles(folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    foldersAndFiles(folder)
      .filter((path) => /\.[jt]s$/.test(path))
      .map(openSource),
  );
}

function openSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  let tree: ts.SourceFile | null = null;
  const parse = () => ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return {
    path,
    text,
    tree() {
      tree ??= parse();
      return tree;
    },
  };
}

/** Paths of all that lies below a folder. */
export function foldersAndFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes('node_modules'))
    .sort();
}

/** Calls `visit` with every node below one, and the node itself. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** `path:line` of a node. */
export function placeOf(file: SourceFile, node: ts.Node): string {
  const source = node.getSourceFile();
  return `${file.path}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
