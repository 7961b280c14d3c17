export interface BasicCredentials {
  user: string;
  password: string;
}

/** What an `Authorization` header of the scheme Basic holds, without NUL; null for any other header. */
export function readBasic(header: string): BasicCredentials | null {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]{1,4096})$/i.exec(header)?.[1];
  if (!encoded) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8').replaceAll('\0', '');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
