import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigEntry } from './environment.ts';
import type { PushCommand } from './push-commands.ts';
import { zeroSha } from './ref-name.ts';

const hook = fileURLToPath(new URL('./hooks/pre-receive', import.meta.url));

/** So many fit into the environment of a process. */
export const mostGuardedMoves = 1000;

/**
 * Configuration of a `git receive-pack` that refuses the push when one of these moves is a forced one. Only git can
 * tell: before it has the pack, nobody knows what the new commits go on from. That the old ids are true it checks
 * when it moves the refs.
 *
 * @param file of the hook, a `pre-receive`.
 */
export async function guardMoves(
  moves: readonly PushCommand[],
  { file = hook }: { file?: string } = {},
): Promise<readonly ConfigEntry[]> {
  const guarded = moves.filter(({ oldSha, newSha }) => oldSha !== zeroSha && newSha !== zeroSha);
  if (guarded.length === 0) return [];
  // Git passes over a hook that it cannot run. It then refuses forced moves of the other branches too.
  if (!(await isExecutable(file))) return [['receive.denyNonFastForwards', 'true']];
  return [
    ['core.hooksPath', dirname(file)],
    ...guarded.map(
      ({ oldSha, newSha, ref }): ConfigEntry => ['hearth.guarded', `${oldSha} ${newSha} ${ref}`],
    ),
  ];
}

/** A copy of the program may have lost the mode of the file, or lie on a disk from which nothing may be run. */
function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
