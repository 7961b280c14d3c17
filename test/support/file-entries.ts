import { Readable } from 'node:stream';
import type { FileEntry } from '../../runner/executor/executor.ts';

export function file(path: string, content: string, more: Partial<FileEntry> = {}): FileEntry {
  const stream = Readable.from([Buffer.from(content)], { objectMode: false });
  return {
    path,
    type: 'file',
    mode: 0o644,
    mtime: new Date(1_600_000_000_000),
    size: content.length,
    content: stream,
    ...more,
  };
}

/** Files as an executor gives them out, by path and content. */
export async function* files(...list: [string, string][]): AsyncGenerator<FileEntry> {
  for (const [path, content] of list) yield file(path, content);
}
