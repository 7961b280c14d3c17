/** The names on the way to a file. Slashes in front mean nothing; elsewhere two in a row lead nowhere. */
export function filePath(given: string): string[] {
  return given.replace(/^\/+/, '').split('/');
}
