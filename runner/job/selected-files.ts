import type { FileEntry, JobEnvironment } from '../executor/executor.ts';
import { isRepository, selectFiles } from './file-patterns.ts';

export interface SelectionRequest {
  environment: Pick<JobEnvironment, 'projectDir' | 'exportFiles'>;
  /** Expanded. */
  paths: string[];
  /** Paths in the commit, when files that are not in it are wanted too. */
  tracked: ReadonlySet<string> | null;
  warn(text: string): void;
}

/** The files of the job that an archive is to hold. */
export interface SelectedFiles {
  entries(): AsyncIterable<FileEntry>;
  isEmpty(): Promise<boolean>;
  /** Patterns without a match, once the entries have been read. */
  unmatched(): string[];
}

export function selectedFiles(request: SelectionRequest): SelectedFiles {
  const { environment, paths, tracked } = request;
  const warn = warnOnce(request.warn);
  const selection = selectFiles(paths, { projectDir: environment.projectDir, warn });
  const isWanted = (entry: FileEntry) => {
    const isUntracked = tracked !== null && entry.type !== 'directory' && !tracked.has(entry.path);
    return selection.includes(entry.path) || (isUntracked && !isRepository(entry.path));
  };
  async function* entries(): AsyncIterable<FileEntry> {
    for await (const entry of environment.exportFiles(tracked ? [''] : selection.roots, warn)) {
      if (!isWanted(entry)) entry.content?.destroy();
      else if (isArchiveName(entry.path)) yield entry;
      else {
        entry.content?.destroy();
        warn(`${entry.path} is left out: no archive can hold a file of this name`);
      }
    }
  }
  return { entries, isEmpty: () => isEmpty(entries()), unmatched: selection.unmatched };
}

/** Archives are read everywhere: their names have no `\\`, and none looks like a drive. */
function isArchiveName(path: string): boolean {
  return !path.includes('\\') && !/^[a-z]:/i.test(path);
}

async function isEmpty(entries: AsyncIterable<FileEntry>): Promise<boolean> {
  for await (const entry of entries) {
    entry.content?.destroy();
    return false;
  }
  return true;
}

/** The files are walked more than once; what is odd about one is said once. */
function warnOnce(warn: (text: string) => void): (text: string) => void {
  const said = new Set<string>();
  return (text) => {
    if (said.has(text)) return;
    said.add(text);
    warn(text);
  };
}
