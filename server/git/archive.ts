import type { Readable } from 'node:stream';
import { GitError } from './errors.ts';
import { pipeThrough } from './pipe-through.ts';
import { isSha } from './ref-name.ts';
import { streamGit } from './stream-git.ts';

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip';

const suffixes = {
  zip: 'zip',
  tar: 'tar',
  'tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  gz: 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
} as const satisfies Record<string, ArchiveFormat>;

export type ArchiveSuffix = keyof typeof suffixes;

/** Ends of the names of archives that can be made. */
export const archiveSuffixes = Object.keys(suffixes) as ArchiveSuffix[];

/** The format that the end of a file's name asks for; `tar.gz` for all that are not known. */
export function archiveFormat(suffix: string): ArchiveFormat {
  return suffixes[archiveSuffixes.find((known) => known === suffix) ?? 'tar.gz'];
}

export interface ArchiveRequest {
  /** Full id of the commit. */
  sha: string;
  /** Name of the one folder that everything in the archive lies in. */
  folder: string;
  format: ArchiveFormat;
}

/**
 * The files of a commit. All times in it are those of the commit, and gzip is told none, so that the same commit
 * always gives the same bytes.
 *
 * @throws ProgramMissingError for `tar.bz2` where there is no bzip2.
 */
export async function streamArchive(dir: string, { sha, folder, format }: ArchiveRequest): Promise<Readable> {
  const attempted = `archive ${sha}`;
  if (!isSha(sha)) throw new GitError({ attempted, stderr: 'not an object id' });
  const made = format === 'tar.bz2' ? 'tar' : format;
  const archive = streamGit({
    dir,
    args: ['archive', `--format=${made}`, `--prefix=${folder}/`, sha],
    // Not a program but git itself, which writes neither name nor time.
    config: [['tar.tar.gz.command', 'git archive gzip']],
    attempted,
  });
  return format === 'tar.bz2' ? pipeThrough(archive, 'bzip2', ['-c']) : archive;
}
