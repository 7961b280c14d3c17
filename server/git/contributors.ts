import { decode } from './commit.ts';
import { GitError, GitTimeoutError } from './errors.ts';
import { Facts } from './facts.ts';
import { isSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

export interface Contributor {
  /** As in the newest of the commits. */
  name: string;
  email: string;
  commits: number;
  /** Lines; 0 where counting them took too long. */
  additions: number;
  deletions: number;
}

/** The newest commits, merges apart, are looked at. */
const mostCommits = 2000;
const countingMs = 10_000;

const known = new Facts<Contributor[]>({
  maxBytes: 16 * 1024 * 1024,
  weigh: (found) => found.reduce((sum, { name, email }) => sum + 100 + 2 * (name.length + email.length), 0),
});

/** Who wrote the commits before and with this one, by e-mail address; who did so last comes first. */
export function listContributors(dir: string, sha: string): Promise<Contributor[]> {
  return known.find(sha, async () => {
    try {
      return await readLog({ dir, sha, options: ['--shortstat'], timeoutMs: countingMs });
    } catch (error) {
      if (!(error instanceof GitTimeoutError)) throw error;
      return readLog({ dir, sha, options: [], timeoutMs: 3 * countingMs });
    }
  });
}

interface LogCall {
  dir: string;
  sha: string;
  options: string[];
  timeoutMs: number;
}

async function readLog({ dir, sha, options, timeoutMs }: LogCall): Promise<Contributor[]> {
  const attempted = `list who contributed to ${sha}`;
  if (!isSha(sha)) throw new GitError({ attempted, stderr: 'not an object id' });
  const select = ['--no-merges', `--max-count=${mostCommits}`, '--format=%x00%an%x00%ae%x00'];
  const plain = ['--no-renames', '--no-ext-diff', '--no-textconv', '--no-show-signature', ...options];
  const args = ['log', ...select, ...plain, sha, '--'];
  const { stdout } = await runGit({ dir, args, attempted, timeoutMs, limit: 64 * 1024 * 1024 });
  return sumUp(stdout.toString('latin1').split('\0').slice(1));
}

/** @param words of each commit three: name, address, and what was counted. */
function sumUp(words: string[]): Contributor[] {
  const found = new Map<string, Contributor>();
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [name = '', email = '', counted = ''] = words.slice(at, at + 3);
    const sum = found.get(email) ?? {
      name: asText(name),
      email: asText(email),
      commits: 0,
      additions: 0,
      deletions: 0,
    };
    sum.commits += 1;
    sum.additions += Number(/(\d+) insertion/.exec(counted)?.[1] ?? 0);
    sum.deletions += Number(/(\d+) deletion/.exec(counted)?.[1] ?? 0);
    found.set(email, sum);
  }
  return [...found.values()];
}

function asText(bytes: string): string {
  return decode(Buffer.from(bytes, 'latin1'));
}
