import { isIPv4, isIPv6 } from 'node:net';

/**
 * The key by which an address is limited: an IPv4 address itself, or the /64 of an IPv6 address, since every subscriber
 * has at least that many. All unknown (null) addresses share one key.
 */
export function addressBucket(ip: string | null): string {
  if (ip === null) return 'unknown';
  // Some proxies append the port to an IPv4 address, which would count each connection separately.
  const address = ip
    .replace(/%.*$/, '')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .toLowerCase();
  if (!isIPv6(address)) return isIPv4(address) ? address : 'unknown';
  const groups = expand(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of an IPv6 address. */
function expand(address: string): number[] {
  const quad = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  let text = address;
  if (quad) {
    const [a = 0, b = 0, c = 0, d = 0] = quad.slice(1).map(Number);
    text = `${address.slice(0, quad.index)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [head = '', tail] = text.split('::');
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const before = read(head);
  const after = tail === undefined ? [] : read(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
