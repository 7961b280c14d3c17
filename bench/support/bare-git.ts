import { execFile } from 'node:child_process';

const options = { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 } as const;

/** Runs git by itself, as a shell would. @returns what it prints. */
export function bareGit(dir: string, args: string[], input: Buffer | string = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('git', args, { ...options, cwd: dir }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    // Commands that read nothing close it.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
