/** The fields of a key in the wire form of SSH, in their order. */
export type WireFields = readonly (Buffer | undefined)[];

/**
 * Cuts wire data into its fields: each is four bytes of length and as many bytes.
 *
 * @returns null when a field is cut short.
 */
export function fieldsOf(data: Buffer): Buffer[] | null {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < data.length) {
    if (at + 4 > data.length) return null;
    const end = at + 4 + data.readUInt32BE(at);
    if (end > data.length) return null;
    fields.push(data.subarray(at + 4, end));
    at = end;
  }
  return fields;
}
