import { codeStretches } from './code.ts';

export type ReferenceKind = 'user' | 'issue' | 'merge_request' | 'snippet' | 'milestone' | 'label' | 'commit';

/** What a text names, or seems to: whether there is such a thing is not looked for. */
export interface Reference {
  kind: ReferenceKind;
  /** `namespace/path` as it stands before it; null for a thing of the text's own project, and for users. */
  project: string | null;
  /** Without its sign: the name of a user or of a group; a number; a title; of a commit, the start of its hash. */
  name: string;
  /** Where all of it stands in the text, the end not in it. */
  start: number;
  end: number;
}

/** Largest number that a thing of a project has. */
export const maxReferenceNumber = 2_147_483_647;

const kinds: Record<string, ReferenceKind> = {
  '#': 'issue',
  '!': 'merge_request',
  $: 'snippet',
  '%': 'milestone',
  '~': 'label',
};

const path = '[A-Za-z0-9_.][A-Za-z0-9_.-]*';
const notInWord = '(?![\\p{L}\\p{N}_])';
const title = `\\d{1,10}${notInWord}|"[^"\`\\n]{1,255}"|[\\p{L}\\p{N}_][\\p{L}\\p{N}_.-]{0,254}`;
const hash = `[0-9a-f]{7,40}(?![\\p{L}\\p{N}_/-])`;

/**
 * No part of it is tried from within a run of the same characters, so that the whole takes time in proportion to the
 * text.
 */
const reference = new RegExp(
  [
    `(?:(?<![A-Za-z0-9_./-])(?<project>${path}/${path})|(?<![\\p{L}\\p{N}_&/#!$%~@]))(?:(?<numbered>[#!$])(?<number>\\d{1,10})${notInWord}|(?<titled>[%~])(?<title>${title}))`,
    `(?<![A-Za-z0-9_./-])(?<place>${path}/${path})@(?<hashThere>${hash})`,
    // What goes on like the name of a package is none of a user.
    `(?<![\\p{L}\\p{N}_/@])@(?<user>${path}(?![A-Za-z0-9_.-]|/[A-Za-z0-9_.]))`,
    `(?<![\\p{L}\\p{N}_./@#!$%~-])(?<hash>${hash})`,
  ].join('|'),
  'gu',
);

/** What a text names, in its order. What is code names nothing. */
export function* readReferences(text: string): Generator<Reference> {
  const code = codeStretches(text);
  let next = 0;
  for (const match of text.matchAll(reference)) {
    while (next < code.length && (code[next]?.end ?? 0) <= match.index) next += 1;
    if (match.index >= (code[next]?.start ?? text.length)) continue;
    const found = referenceOf(match);
    if (found) yield found;
  }
}

function referenceOf(match: RegExpExecArray): Reference | null {
  const { groups = {}, index: start } = match;
  // Sentences end with dots, names of users and words do not.
  const whole = match[0].replace(/(?<!\.)\.+$/, '');
  const found = { start, end: start + whole.length };
  const { user, hash, hashThere, place = null, project = null } = groups;
  if (user !== undefined) {
    const name = whole.slice(1);
    return name === '' || name.length > 255 ? null : { kind: 'user', project: null, name, ...found };
  }
  const sha = hash ?? hashThere;
  if (sha !== undefined) return { kind: 'commit', project: place, name: sha, ...found };
  const sign = groups.numbered ?? groups.titled ?? '';
  const kind = kinds[sign];
  if (!kind) return null;
  const name = whole.slice((project ?? '').length + 1).replaceAll('"', '');
  return { kind, project, name, ...found };
}
