import { type NewObject, newObject } from './write-objects.ts';

export interface Person {
  name: string;
  email: string;
}

export interface CommitDraft {
  treeId: string;
  parentIds: readonly string[];
  author: Person;
  committer: Person;
  /** Since 1970; the zone is UTC. */
  seconds: number;
  message: string;
}

/** A commit that is to be written. Of names and addresses goes what git's format has no place for. */
export function newCommit({
  treeId,
  parentIds,
  author,
  committer,
  seconds,
  message,
}: CommitDraft): NewObject {
  const lines = [
    `tree ${treeId}`,
    ...parentIds.map((parent) => `parent ${parent}`),
    `author ${signature(author)} ${seconds} +0000`,
    `committer ${signature(committer)} ${seconds} +0000`,
    '',
    message.replaceAll('\r\n', '\n').replaceAll('\0', ''),
  ];
  return newObject('commit', Buffer.from(lines.join('\n')));
}

function signature({ name, email }: Person): string {
  return `${cleanName(name) || 'unnamed'} <${email.replace(/[<>\s\p{Cc}]/gu, '')}>`;
}

/** Git itself takes the same signs from both ends of a name. */
function cleanName(name: string): string {
  const plain = name.replace(/[<>\p{Cc}]/gu, ' ').replace(/\s+/g, ' ');
  return plain.replace(/^[\s.,:;"'\\]+|[\s.,:;"'\\]+$/g, '');
}
