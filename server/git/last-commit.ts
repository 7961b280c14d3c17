import { LRUCache } from 'lru-cache';
import { GitError } from './errors.ts';
import { pathspecsOf } from './pathspec.ts';
import { isSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

/** Ids say what came before a commit, so that an answer stays true for ever, and in every repository. */
const known = new LRUCache<string, string>({
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: (sha, key) => 100 + sha.length + key.length,
});

const timeoutMs = 30_000;

export interface PathInHistory {
  /** Full id of the commit to go back from. */
  from: string;
  /** Bytes of the path, one per character. */
  rawPath: string;
  /** Who waits for it; asked for his signal only where git has to search. */
  asker?: { readonly signal: AbortSignal };
}

/**
 * The newest commit that changed a file, itself or one that led to `from`.
 *
 * @returns null when there is none.
 * @throws GitError also when the search takes too long.
 */
export async function lastCommitOf(
  dir: string,
  { from, rawPath, asker }: PathInHistory,
): Promise<string | null> {
  const attempted = `find the last commit of a path in ${from}`;
  if (!isSha(from)) throw new GitError({ attempted, stderr: 'not an object id' });
  const key = `${from}:${rawPath}`;
  const remembered = known.get(key);
  if (remembered !== undefined) return remembered;
  const input = Buffer.from(`${[from, '--', ...pathspecsOf(rawPath)].join('\n')}\n`, 'latin1');
  const args = ['rev-list', '--max-count=1', '--stdin'];
  const { stdout } = await runGit({ dir, args, input, attempted, timeoutMs, signal: asker?.signal });
  const sha = stdout.toString('latin1').trim();
  if (sha === '') return null;
  known.set(key, sha);
  return sha;
}
