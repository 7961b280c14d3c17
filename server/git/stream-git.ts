import { Readable } from 'node:stream';
import { GitError } from './errors.ts';
import { type GitCall, type GitProcess, spawnGit } from './run-git.ts';

/**
 * What a command prints, for commands that only read. Git is started by the first read, goes no faster than its
 * output is taken, and is ended when the stream is destroyed. The stream fails with a GitError when git does.
 */
export function streamGit(call: GitCall & { attempted: string }): Readable {
  let git: GitProcess | null = null;
  async function* output(): AsyncGenerator<Buffer> {
    git = spawnGit(call);
    git.child.stdin.end();
    yield* git.child.stdout;
    const { code, failure } = await git.ended;
    if (code === 0) return;
    throw new GitError({
      attempted: call.attempted,
      exitCode: code,
      stderr: git.stderr(),
      cause: failure,
    });
  }
  const stream = Readable.from(output(), { objectMode: false });
  stream.once('close', () => git?.kill());
  return stream;
}

/** The bytes of a blob, however many they are, given its full id. */
export function streamBlob(dir: string, id: string): Readable {
  return streamGit({ dir, args: ['cat-file', 'blob', id], attempted: `read ${id}` });
}
