import { checkRefName } from './ref-name.ts';

const usual = ['master', 'main'];

/**
 * The branch that a repository with these refs is to show first, by its short name: what its HEAD says, one of the
 * usual ones, or any. Null when there is none.
 *
 * @param head what HEAD of the origin names, by its short name.
 */
export function chooseBranch(refs: readonly { name: string }[], head: string | null): string | null {
  const branches = refs
    .filter(({ name }) => name.startsWith('refs/heads/'))
    .map(({ name }) => name.slice('refs/heads/'.length))
    .filter((name) => checkRefName(name, 'short'));
  const wanted = [head, ...usual].find((name) => name !== null && branches.includes(name));
  return wanted ?? branches[0] ?? null;
}
