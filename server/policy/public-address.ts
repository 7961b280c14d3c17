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

/** @returns null for what is no address of the web. */
export function readWebUrl(text: string): URL | null {
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.hostname === '' ? null : url;
}
