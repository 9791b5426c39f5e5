import { expect, test } from '@jest/globals';
import { clientAddress, isAddress } from '../../lib/context/address.js';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:80', '192.0.2.1'],
  ['2001:0DB8:0::0001', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[fe80::1%eth0]:443', 'fe80::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['[::ffff:c000:201]:1', '192.0.2.1'],
  ['2001:db8::192.0.2.1', '2001:db8::c000:201'],
])('%s is the address %s', (given, address) => {
  expect(clientAddress(given)).toBe(address);
  expect(clientAddress(address)).toBe(address);
  expect(isAddress(address)).toBe(true);
});

test.each(['192.0.2.300:80', '[192.0.2.1]:80', '[2001:db8::1]:x', `::1%${'x'.repeat(100)}`, 'unknown', ''])(
  '%s is no address, and stays as it is',
  (given) => {
    expect(clientAddress(given)).toBe(given);
  },
);
