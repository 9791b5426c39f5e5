import { isIP, isIPv4, isIPv6 } from 'node:net';

/** Longer than any address with a zone and a port. */
const MAX_LENGTH = 100;

/**
 * Reads the address of a client, which a proxy might have written with a port, with brackets or with a zone. Returns
 * each address in one form, and an IPv4-mapped IPv6 address as IPv4. Text that is not an address is returned as it is.
 *
 * @example
 * clientAddress('[2001:DB8:0::1]:443') // '2001:db8::1'
 */
export function clientAddress(given: string): string {
  if (isIPv4(given) || given.length > MAX_LENGTH) return given;
  const [, four] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(given) ?? [];
  if (four !== undefined) return isIPv4(four) ? four : given;
  const [, six = given] = /^\[([^\]]*)\](?::\d+)?$/.exec(given) ?? [];
  const address = six.replace(/%.*$/s, '');
  if (!isIPv6(address)) return given;
  // URLs have the form of RFC 5952, with IPv4 in hexadecimal.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}

/** Whether text that {@link clientAddress} has returned is an address. */
export function isAddress(address: string): boolean {
  return isIP(address) !== 0;
}

/**
 * Returns the key for limits on an address: an IPv4 address itself, or the /64 prefix of an IPv6 address, because every
 * subscriber has at least a whole /64. All unknown (null) addresses share one key.
 */
export function addressBucket(ip: string | null): string {
  const address = clientAddress(ip ?? '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return 'unknown';
  const [head = '', tail] = address.split('::');
  const groups = (part = '') => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
