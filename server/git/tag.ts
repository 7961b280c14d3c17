import type { CatFile } from './cat-file.ts';
import { decode } from './commit.ts';
import { ObjectTooLargeError } from './errors.ts';
import { runGit } from './run-git.ts';

export interface Tagger {
  name: string;
  email: string;
  /** Seconds since 1970. */
  time: number;
}

export interface NewTag {
  /** Without `refs/tags/`; a name that git accepts. */
  name: string;
  /** Id of the commit. */
  commit: string;
  message: string;
  tagger: Tagger;
}

/** Makes an annotated tag, to which no ref leads yet. @returns the id of its object, which is on the disk. */
export async function makeTag(dir: string, { name, commit, message, tagger }: NewTag): Promise<string> {
  const signature = `${plain(tagger.name)} <${plain(tagger.email).replaceAll(' ', '')}> ${tagger.time} +0000`;
  const lines = [`object ${commit}`, 'type commit', `tag ${name}`, `tagger ${signature}`];
  const input = `${lines.join('\n')}\n\n${message.trimEnd()}\n`;
  const { stdout } = await runGit({ dir, args: ['mktag'], input, attempted: `make the tag ${name}` });
  return stdout.toString('latin1').trim();
}

/** What would end a name or an e-mail in an object goes; git refuses a name of which nothing is left. */
function plain(text: string): string {
  return text.replace(/[<>\p{Cc}\p{Cs}]/gu, '').trim() || 'unnamed';
}

/** Bytes of the longest message that is shown. */
const longestMessage = 1024 * 1024;

/**
 * The message of a tag that a ref leads to, without the line break at its end.
 *
 * @param sha what the ref holds.
 * @returns null for one without annotation, or whose message is longer than 1 MB.
 */
export async function readTagMessage(objects: CatFile, dir: string, sha: string): Promise<string | null> {
  const info = await objects.readInfo(dir, sha);
  if (info?.type !== 'tag') return null;
  try {
    const object = await objects.readObject(dir, sha, longestMessage);
    return object && messageOf(object.data);
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return null;
    throw error;
  }
}

function messageOf(bytes: Buffer): string {
  const end = bytes.indexOf('\n\n');
  return end === -1 ? '' : decode(bytes.subarray(end + 2)).replace(/\n$/, '');
}
