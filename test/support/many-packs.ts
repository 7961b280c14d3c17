import { createHash } from 'node:crypto';
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git, gitWithInput } from '../git/real-git.ts';

/** Adds commits to master, each with a file of its own, as pushes would: some in packs, one each, others loose. */
export async function addCommits(
  dir: string,
  { packs, loose, fileSize = 100 }: { packs: number; loose: number; fileSize?: number },
): Promise<string> {
  const parent = await git(dir, 'rev-parse', '--verify', '--quiet', 'master').catch(() => null);
  const count = packs + loose;
  const commits = Array.from({ length: count }, (_, index) => commitLines(index, fileSize));
  const start = parent === null ? '' : `reset refs/heads/master\nfrom ${parent}\n\n`;
  await gitWithInput(
    dir,
    ['-c', 'fastimport.unpackLimit=100000', 'fast-import', '--quiet'],
    start + commits.join(''),
  );
  const shas = (await git(dir, 'rev-list', '--reverse', `--max-count=${count}`, 'master')).split('\n');
  for (const sha of shas.slice(0, packs)) {
    const objects = await gitWithInput(
      dir,
      ['rev-list', '--objects', '--no-object-names', '--stdin'],
      `${sha}\n^${sha}^@\n`,
    );
    await gitWithInput(dir, ['pack-objects', '--quiet', join('objects', 'pack', 'pack')], objects);
  }
  await git(dir, 'prune-packed', '--quiet');
  return git(dir, 'rev-parse', 'master');
}

function commitLines(index: number, fileSize: number): string {
  const seed = createHash('sha256').update(`${index}`).digest('hex');
  const content = seed.repeat(Math.ceil(fileSize / seed.length)).slice(0, fileSize);
  const who = `Ada <ada@example.org> ${1_464_937_902 + index} +0530`;
  const message = `Commit ${index}`;
  return [
    'commit refs/heads/master',
    `committer ${who}`,
    `data ${message.length}\n${message}`,
    `M 100644 inline files/${index}-${fileSize}.txt`,
    `data ${content.length}\n${content}\n\n`,
  ].join('\n');
}

export async function packNames(dir: string, ending = '.pack'): Promise<string[]> {
  return (await readdir(join(dir, 'objects', 'pack'))).filter((name) => name.endsWith(ending));
}

/** Lets the files of the packs look as old as that. */
export async function agePacks(dir: string, seconds: number): Promise<void> {
  const then = Date.now() / 1000 - seconds;
  for (const name of await packNames(dir, '')) await utimes(join(dir, 'objects', 'pack', name), then, then);
}

/** Lets what nothing leads to be so much older, in the pack of such objects: its file of ages. */
export async function ageUseless(dir: string, seconds: number): Promise<void> {
  for (const name of await packNames(dir, '.mtimes')) {
    const path = join(dir, 'objects', 'pack', name);
    const content = await readFile(path);
    const end = content.length - 40;
    for (let at = 12; at < end; at += 4) content.writeUInt32BE(content.readUInt32BE(at) - seconds, at);
    createHash('sha1')
      .update(content.subarray(0, -20))
      .digest()
      .copy(content, content.length - 20);
    await rm(path);
    await writeFile(path, content);
  }
}
