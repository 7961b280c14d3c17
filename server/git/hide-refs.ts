import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigEntry } from './environment.ts';
import { checkRefName } from './ref-name.ts';

export interface HiddenRefs {
  /** For the `git receive-pack` that must not touch them. */
  config: readonly ConfigEntry[];
  /** To be called when git has ended; never rejects. */
  forget(): Promise<void>;
}

/**
 * Makes git refuse whatever a push wants of these refs, each by a line of its report, and take the rest of it.
 * The names need not be UTF-8, which is why they stand in a file: nothing else can be told to a process.
 *
 * @param rawNames full names, as bytes, one per character. Those that git refuses anyway may be among them.
 */
export async function hideRefs(rawNames: readonly string[]): Promise<HiddenRefs> {
  const names = rawNames.filter((name) => checkRefName(name));
  if (names.length === 0) return { config: [], forget: async () => undefined };
  const folder = await mkdtemp(join(tmpdir(), 'hearth-push-'));
  const file = join(folder, 'hidden-refs');
  const lines = names.map((name) => `  hideRefs = "${name.replace(/"/g, '\\"')}"\n`);
  await writeFile(file, `[receive]\n${lines.join('')}`, 'latin1');
  return {
    config: [['include.path', file]],
    forget: () => rm(folder, { recursive: true, force: true }).catch(() => undefined),
  };
}
