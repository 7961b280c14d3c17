import { gitWithInput } from './git.ts';
import { type ImportedCommit, importInput } from './import-input.ts';

export type { ImportedCommit } from './import-input.ts';

/** Makes commits on a branch that is not there yet, in one go. @returns their ids, in the order given. */
export async function importCommits(
  dir: string,
  branch: string,
  commits: readonly ImportedCommit[],
): Promise<string[]> {
  const output = await gitWithInput(dir, ['fast-import', '--quiet', '--force'], importInput(branch, commits));
  return output.toString('latin1').trim().split('\n');
}
