import { type Reference, readReferences } from './read.ts';

interface Move {
  /** `namespace/path` of the project that the text was written in. */
  from: string;
  /** Whether there is such a thing in it. What only looks like a reference stays as it was written. */
  isKnown(reference: Reference): boolean;
}

/**
 * The text as it has to be in another project, where what it names has to be named with its project. What would run
 * into the name of the project gets a blank between.
 */
export function rewriteReferences(text: string, { from, isKnown }: Move): string {
  const pieces: string[] = [];
  let at = 0;
  for (const reference of readReferences(text)) {
    const { kind, project, start } = reference;
    if (project !== null || kind === 'user' || !isKnown(reference)) continue;
    const gap = /[.-]/.test(text.charAt(start - 1)) ? ' ' : '';
    pieces.push(text.slice(at, start), gap, from, kind === 'commit' ? '@' : '');
    at = start;
  }
  return pieces.join('') + text.slice(at);
}
