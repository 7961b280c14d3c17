/**
 * The header that names a file to whoever keeps or shows it: in quotes for all clients, and where that cannot say it
 * once more in full for newer ones.
 */
export function contentDisposition(kind: 'inline' | 'attachment', filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const header = `${kind}; filename="${plain}"`;
  if (plain === filename) return header;
  // Beside these, `encodeURIComponent` leaves alone only what the header may carry as it is.
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${header}; filename*=UTF-8''${encoded}`;
}
