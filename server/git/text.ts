/**
 * Text of bytes that git holds, which may be in any encoding: read by the one named, or else as UTF-8, or else as
 * latin-1, in which everything can be read.
 */
export function decodeText(bytes: Uint8Array, encoding = 'utf-8'): string {
  for (const label of new Set([encoding, 'utf-8'])) {
    try {
      return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // An unknown encoding, or one that the bytes are not in: the next guess decides.
    }
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
