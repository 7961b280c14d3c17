import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

/** A new folder of mode 0700 that is removed, with all that is in it, when the test ends. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-t-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
