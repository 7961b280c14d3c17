/**
 * A form of the text that is safe in host names and URLs: lower case, everything but letters and digits
 * replaced by dashes, at most `max` characters, no dash at either end.
 */
export function slug(text: string, max = 63): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '-')
    .slice(0, max)
    .replace(/^-+|-+$/g, '');
}
