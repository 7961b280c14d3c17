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
      if (isWanted(entry)) yield entry;
      else entry.content?.destroy();
    }
  }
  return { entries, isEmpty: () => isEmpty(entries()), unmatched: selection.unmatched };
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
