import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type Docker from 'dockerode';
import { extract, type Header } from 'tar-stream';
import type { FileEntry } from '../executor.ts';
import { resolveRoot } from './container-path.ts';
import { type Engine, engineCall, engineError } from './engine.ts';

export interface ArchiveSource {
  engine: Engine;
  container: Docker.Container;
  projectDir: string;
  warn(text: string): void;
}

/** One entry of an archive, as a stream of its content. */
type Entry = ReturnType<typeof extract> extends AsyncIterable<infer T> ? T : never;

const kinds = new Map<Header['type'], FileEntry['type']>([
  ['file', 'file'],
  ['contiguous-file', 'file'],
  ['directory', 'directory'],
  ['symlink', 'symlink'],
]);

/** Entries at and below one root of the project directory; nothing when it does not exist or leads outside. */
export async function* exportRoot(source: ArchiveSource, root: string): AsyncGenerator<FileEntry> {
  const path = await resolveRoot(source, root);
  if (path === null) return;
  const base = posix.normalize(root).replace(/^\.$|\/$/g, '');
  for await (const entry of readArchive(source, path)) {
    const name = relativeName(base, entry.header.name);
    if (name === '') continue;
    yield* toFile(source, name, entry);
  }
}

async function* readArchive({ engine, container }: ArchiveSource, path: string): AsyncGenerator<Entry> {
  const response = await engineCall(engine, `read ${path}`, () => container.getArchive({ path }));
  const archive = extract();
  const transfer = pipeline(response, archive);
  // Its error also ends the iteration below.
  transfer.catch(() => undefined);
  try {
    yield* archive;
    await transfer;
  } catch (error) {
    throw engineError(engine, `read ${path}`, error);
  } finally {
    archive.destroy();
  }
}

/** Archives name entries after the last part of the path that was asked for. */
function relativeName(base: string, name: string): string {
  const below = name.replace(/\/$/, '').split('/').slice(1);
  return [base, ...below].filter(Boolean).join('/');
}

/** One entry of the interface, or none when the entry of the archive is of a kind that is left out. */
async function* toFile(source: ArchiveSource, path: string, entry: Entry): AsyncGenerator<FileEntry> {
  const { header } = entry;
  const type = kinds.get(header.type);
  if (header.type === 'link') {
    yield* linkedFile(source, path);
  } else if (path.split('/').includes('..')) {
    source.warn(`${path} is left out: it lies outside of the project directory`);
  } else if (!type) {
    source.warn(`${path} is left out: it is a ${header.type}`);
  } else {
    const mode = (header.mode ?? 0o644) & 0o7777;
    const size = type === 'file' ? (header.size ?? 0) : 0;
    const linkTarget = type === 'symlink' ? (header.linkname ?? '') : undefined;
    const content = type === 'file' ? contentOf(entry) : undefined;
    yield { path, type, mode, mtime: header.mtime ?? new Date(0), size, linkTarget, content };
    content?.destroy();
  }
  // What the receiver left unread is skipped, or the archive would stand still.
  entry.resume();
}

/** A second name of a file that came before: the archive has no content for it, so it is asked for by itself. */
async function* linkedFile(source: ArchiveSource, path: string): AsyncGenerator<FileEntry> {
  for await (const entry of readArchive(source, posix.join(source.projectDir, path))) {
    if (entry.header.type !== 'link') yield* toFile(source, path, entry);
  }
}

/** A stream that may be destroyed before its end without breaking the archive off. */
function contentOf(entry: Entry): Readable {
  const content = new Readable({
    read: () => void entry.resume(),
    destroy(error, done) {
      entry.removeAllListeners('data');
      entry.resume();
      done(error);
    },
  });
  entry.on('data', (chunk) => {
    if (!content.push(chunk)) entry.pause();
  });
  entry.on('end', () => {
    if (!content.destroyed) content.push(null);
  });
  entry.on('error', (error: Error) => content.destroy(error));
  return content;
}
