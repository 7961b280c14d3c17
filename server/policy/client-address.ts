import ipaddr from 'ipaddr.js';

/**
 * What is counted as one client: an IPv4 address, or the network of an IPv6 address that one subscriber gets (/64).
 * Texts that are no address count as themselves.
 */
export function clientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const ip = ipaddr.process(address);
  if (ip.kind() === 'ipv4') return ip.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${(ip as ipaddr.IPv6).toNormalizedString()}/64`).toString();
}

/** Whether a client is on this machine. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
