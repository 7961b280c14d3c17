/** One commit as tests tell of it; what is left out is something harmless. */
export interface ImportedCommit {
  message?: string | Buffer;
  /** Contents by path; null removes the file. */
  files?: Record<string, string | Buffer | { mode: string; content: string | Buffer } | null>;
  /** Numbers of commits before it in the list; the one before unless told. */
  parents?: number[];
  /** As in a commit object: `Ann <ann@example.org> 1400000000 +0200`. */
  author?: string | Buffer;
  committer?: string;
}

/** What `git fast-import` makes these commits of, on a branch that is not there yet; it prints their ids. */
export function importInput(branch: string, commits: readonly ImportedCommit[]): Buffer {
  const pieces = commits.flatMap((commit, index) => [
    ...piecesOf(commit, { branch, mark: index + 1 }),
    `get-mark :${index + 1}\n`,
  ]);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

function piecesOf(
  commit: ImportedCommit,
  { branch, mark }: { branch: string; mark: number },
): (string | Buffer)[] {
  const committer = commit.committer ?? `Grace <grace@example.org> ${1_400_000_000 + mark * 60} +0200`;
  const parents = commit.parents ?? (mark > 1 ? [mark - 2] : []);
  const pieces: (string | Buffer)[] = [];
  // A branch goes on where it ends unless it is begun anew.
  if (parents.length === 0) pieces.push(`reset refs/heads/${branch}\n`);
  pieces.push(`commit refs/heads/${branch}\nmark :${mark}\n`);
  pieces.push('author ', commit.author ?? committer, `\ncommitter ${committer}\n`);
  pieces.push(...data(commit.message ?? `Commit ${mark}\n`));
  for (const [place, parent] of parents.entries()) {
    pieces.push(`${place === 0 ? 'from' : 'merge'} :${parent + 1}\n`);
  }
  for (const [path, file] of Object.entries(commit.files ?? {})) pieces.push(...change(path, file));
  return pieces;
}

function change(path: string, file: NonNullable<ImportedCommit['files']>[string]): (string | Buffer)[] {
  if (file === null) return [`D ${quoted(path)}\n`];
  const { mode, content } =
    typeof file === 'string' || Buffer.isBuffer(file) ? { mode: '100644', content: file } : file;
  // A submodule is the id of a commit elsewhere.
  if (mode === '160000') return [`M ${mode} ${content} ${quoted(path)}\n`];
  return [`M ${mode} inline ${quoted(path)}\n`, ...data(content)];
}

function data(content: string | Buffer): (string | Buffer)[] {
  return [`data ${Buffer.byteLength(content)}\n`, content, '\n'];
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}
