/** The candidate that needs the fewest insertions, deletions and replacements of characters to become `text`. */
export function nearest(text: string, candidates: string[]): string {
  const ranked = candidates.map((candidate) => ({ candidate, distance: editDistance(text, candidate) }));
  ranked.sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate ?? '';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
