import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type Docker from 'dockerode';
import { type Header, type Pack, pack } from 'tar-stream';
import { type Engine, engineCall } from './engine.ts';

/** Adds one entry to an archive; `header.size` counts for streams only. */
export type AddEntry = (header: EntryHeader, content?: Buffer | Readable) => Promise<void>;

export type EntryHeader = Partial<Header> & Pick<Header, 'name'>;

export interface ArchiveUpload {
  engine: Engine;
  container: Docker.Container;
  /** Existing directory of the container that the names in the archive are relative to. */
  path: string;
  signal: AbortSignal;
  /** Adds the entries, one after the other. */
  fill(add: AddEntry): Promise<void>;
}

/** Unpacks entries inside a container, running or not, while they are being made. */
export async function putEntries({ engine, container, path, signal, fill }: ArchiveUpload): Promise<void> {
  signal.throwIfAborted();
  const tar = pack();
  // The streams of this library are Node's in all but their types.
  const upload = tar as unknown as Readable;
  const filling = fillArchive(tar, fill);
  let fault: { error: unknown } | undefined;
  filling.catch((error: unknown) => {
    fault = { error };
  });
  try {
    await engineCall(engine, `write to ${path}`, () =>
      container.putArchive(upload, { path, abortSignal: signal }),
    );
  } catch (error) {
    // A fault of the content breaks the upload off; it is the one that counts.
    if (fault) throw fault.error;
    tar.destroy();
    throw error;
  }
  await filling;
}

async function fillArchive(tar: Pack, fill: ArchiveUpload['fill']): Promise<void> {
  try {
    await fill((header, content) => addEntry(tar, header, content));
    tar.finalize();
  } catch (error) {
    // Breaks the upload off with this error.
    tar.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

async function addEntry(tar: Pack, header: EntryHeader, content?: Buffer | Readable): Promise<void> {
  const sink: { entry?: Writable } = {};
  const added = new Promise<void>((resolve, reject) => {
    const settle = (error?: Error | null) => (error ? reject(error) : resolve());
    const entry = Buffer.isBuffer(content) ? tar.entry(header, content, settle) : tar.entry(header, settle);
    sink.entry = entry as unknown as Writable;
  });
  // When the content fails, this fails too; the content's own error says more.
  added.catch(() => undefined);
  if (content instanceof Readable && sink.entry) await pipeline(content, sink.entry);
  else if (!Buffer.isBuffer(content)) sink.entry?.end();
  await added;
}
