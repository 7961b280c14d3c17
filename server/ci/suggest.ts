const farthest = 2;

/**
 * The known word at most two edits away, as long as that is less than half of the word; null when none is
 * near.
 */
export function nearest(word: string, known: string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.min(farthest, Math.ceil(word.length / 2) - 1) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(word, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions and substitutions that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const insertion = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(substitution, insertion, (previous[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
