import { fileURLToPath } from 'node:url';
import { Program } from '../../test/support/program.ts';
import type { World } from './world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Starts one of the servers that do nothing but the work itself, in a process of its own. @returns its address. */
export async function startBare(
  { cleanup }: Pick<World, 'cleanup'>,
  { program, args }: { program: `bare-${'rows' | 'files' | 'tree' | 'backend'}.ts`; args: string[] },
): Promise<string> {
  const bare = new Program({
    cwd: root,
    env: {},
    command: process.execPath,
    args: ['--import', 'tsx', `bench/support/${program}`, ...args],
  });
  cleanup.add(() => bare.stop());
  const [, url = ''] = await bare.says(/^(http:\S+)$/m);
  return url;
}
