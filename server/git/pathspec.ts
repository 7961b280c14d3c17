/**
 * What to give git on its standard input after `--`, so that it means one file, or a folder with all in it: one
 * pathspec per line. An argument would have to be UTF-8, and names need not be.
 *
 * @param rawPath bytes of the path, one per character; the answer is such bytes too.
 */
export function pathspecsOf(rawPath: string): string[] {
  if (!/[\r\n]/.test(rawPath)) return [`:(literal)${rawPath}`];
  const pattern = rawPath.replace(/[\\*?[\]]/g, '\\$&').replace(/[\r\n]/g, onlyThis);
  return [`:(glob)${pattern}`, `:(glob)${pattern}/**`];
}

/** What would end the line is written as a class of all bytes but those below and above it. */
function onlyThis(character: string): string {
  const code = character.charCodeAt(0);
  return `[^\x01-${String.fromCharCode(code - 1)}${String.fromCharCode(code + 1)}-\xff]`;
}
