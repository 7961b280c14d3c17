import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { readZip } from '../../runner/job/read-zip.ts';

/** Content of the files of an archive, by path. */
export async function unzip(archive: Buffer): Promise<Record<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-zip-'));
  try {
    const path = join(folder, 'archive.zip');
    await writeFile(path, archive);
    const files: Record<string, Buffer> = {};
    for await (const entry of readZip(path)) {
      if (entry.content) files[entry.path] = await buffer(entry.content);
    }
    return files;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
