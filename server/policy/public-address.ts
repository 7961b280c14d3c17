import ipaddr from 'ipaddr.js';

/** Public addresses by number that reach the machine's own cloud instead of the internet. */
const metadataAddresses = new Set(['168.63.129.16']);
const globalV6 = ipaddr.IPv6.parse('2000::');

/** Whether this is an address of the public internet, whatever way it is written. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || metadataAddresses.has(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalV6, 3);
}

export interface WebAddress {
  /** Without user and password. */
  url: URL;
  /** `user:password` as it was meant, or null without either. */
  credentials: string | null;
}

/** @returns null for what is no address of the web. */
export function readWebAddress(text: string): WebAddress | null {
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.hostname === '') return null;
  const credentials = [url.username, url.password].map(decode).join(':');
  url.username = '';
  url.password = '';
  return { url, credentials: credentials === ':' ? null : credentials };
}

/** As written where it is no encoding at all. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
