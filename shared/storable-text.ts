/** PostgreSQL keeps neither NUL nor half of a surrogate pair in its JSON, and NUL in no text either. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The text with replacement characters for what cannot be kept. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
