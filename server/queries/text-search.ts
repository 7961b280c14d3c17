/** What the indexes for searches know of a text: three of its letters or digits in a row. */
const indexed = /[\p{L}\p{N}]{3}/u;

/**
 * Whether one of the columns has a text in it, in whatever case. For texts too short for the indexes all rows are
 * read: an index would have to be read as a whole, for each column, before them.
 *
 * @param place parameter of the statement that holds `partOf(text)`.
 */
export function hasPart(columns: string[], place: string, text: string): string {
  const read = (column: string) => (indexed.test(text) ? column : `(${column} || '')`);
  return `(${columns.map((column) => `${read(column)} ilike ${place}`).join(' or ')})`;
}

/** The pattern for all that has this text in it. */
export function partOf(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** A text that stands for itself inside a `like` pattern. */
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
