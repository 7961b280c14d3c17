import { GitError } from './errors.ts';
import { Facts } from './facts.ts';
import { pathspecsOf } from './pathspec.ts';
import { isSha } from './ref-name.ts';
import { runGit } from './run-git.ts';

export interface CommitQuery {
  dir: string;
  /** Full id of the commit whose history is meant, with itself. */
  from: string;
  /** Full id of a commit that is left out with its history. */
  without?: string | undefined;
  /** Committed then or later. */
  since?: Date | undefined;
  /** Committed then or earlier. */
  until?: Date | undefined;
  /**
   * Those that changed one of these files or folders, as `git log` chooses them; undefined for all. Bytes of the
   * paths, one per character; no patterns, no slash at the beginning.
   */
  rawPaths?: readonly string[] | undefined;
}

export interface CommitPage {
  /** Ids, newest first as `git log` orders them. */
  shas: string[];
  /** How many there are on all pages. */
  total: number;
}

/** How long one walk through a history may take. */
const timeoutMs = 30_000;
/** As far as git counts. */
const longest = 2_000_000_000;

const counts = new Facts<number>({ maxBytes: 8 * 1024 * 1024, weigh: () => 8 });

/**
 * One page of a history. The number of all commits needs a walk over the whole history, so it is remembered; the
 * page itself is found by a walk no further than to its end. Throws a GitTimeoutError when that takes too long.
 */
export async function listCommits(
  query: CommitQuery,
  { start, count, signal }: { start: number; count: number; signal?: AbortSignal | undefined },
): Promise<CommitPage> {
  const selection = selectionOf(query);
  const key = [...selection.filters, ...selection.lines].join('\n');
  const known = counts.peek(key);
  const isBeyond = start >= Math.min(known ?? longest, longest);
  const window = [`--skip=${start}`, `--max-count=${count}`];
  const shas = isBeyond ? [] : await walk(query, { options: window, selection, signal });
  if (known !== undefined) return { shas, total: known };
  const isEnd = shas.length < count && (shas.length > 0 || start === 0);
  if (isEnd) counts.note(key, start + shas.length);
  // Not ended when the client goes away: whoever asks next needs it too.
  const search = async () => Number((await walk(query, { options: ['--count'], selection }))[0] ?? 0);
  return { shas, total: await counts.find(key, search) };
}

interface Selection {
  /** Arguments of git. */
  filters: string[];
  /** What it reads from its standard input: bytes, one per character. */
  lines: string[];
}

interface WalkCall {
  options: string[];
  selection: Selection;
  signal?: AbortSignal | undefined;
}

async function walk({ dir, from }: CommitQuery, call: WalkCall): Promise<string[]> {
  const { options, selection, signal } = call;
  const attempted = `list the commits of ${from}`;
  const args = ['rev-list', ...options, ...selection.filters, '--stdin'];
  const input = Buffer.from(selection.lines.map((line) => `${line}\n`).join(''), 'latin1');
  const { stdout } = await runGit({ dir, args, input, attempted, timeoutMs, signal });
  return stdout.toString('latin1').split('\n').slice(0, -1);
}

/** Unlike `--since`, the filter does not stop at the first older commit: clocks that were wrong hide nothing. */
function selectionOf({ from, without, since, until, rawPaths = [] }: CommitQuery): Selection {
  if (!isSha(from) || (without !== undefined && !isSha(without)))
    throw new GitError({ attempted: `list the commits of ${from}`, stderr: 'not an object id' });
  const filters = [
    ...(since ? [`--since-as-filter=${moment(Math.ceil(since.getTime() / 1000))}`] : []),
    ...(until ? [`--until=${moment(Math.floor(until.getTime() / 1000))}`] : []),
  ];
  const commits = without === undefined ? [from] : [from, `^${without}`];
  return { filters, lines: [...commits, '--', ...rawPaths.flatMap(pathspecsOf)] };
}

function moment(seconds: number): string {
  return `@${Math.max(0, seconds)} +0000`;
}
