import { describe, expect, test } from '@jest/globals';
import { deviceInWords } from '../../lib/mail/messages.js';
import { english } from '../../lib/words/emails/index.js';

const MOZILLA = 'Mozilla/5.0 (';
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0';

describe('a device in words', () => {
  test.each([
    [`${MOZILLA}Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0`, 'Firefox on Windows'],
    [
      `${MOZILLA}Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/126.0.0.0`,
      'Microsoft Edge on Windows',
    ],
    [`${MOZILLA}Linux; Android 14; Pixel 8) ${CHROME} Mobile Safari/537.36`, 'Chrome on Android'],
    [
      `${MOZILLA}iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1`,
      'Safari on iOS',
    ],
    [`${MOZILLA}X11; Linux x86_64) ${CHROME} Safari/537.36`, 'Chrome on Linux'],
    ['Windows NT 10.0', 'a browser on Windows'],
    ['curl/8.5.0', 'curl'],
    ['okhttp/4.9.0', 'okhttp'],
    [null, 'an unknown device'],
    ['', 'an unknown device'],
    [' ', 'an unknown device'],
    ['node', 'an unknown device'],
  ])('%j is %j', async (userAgent, words) => {
    expect(await deviceInWords(userAgent, english)).toBe(words);
  });

  test.each([
    'https://evil.example/1.0 x',
    'evil.example/1.0 x',
    '<b>you</b>/1.0 x',
    'your account is locked, call 555/1.0 x',
    '__proto__/1.0 x',
    'constructor',
    '\u202e/1.0 x',
  ])('repeats nothing that a client makes up: %j', async (userAgent) => {
    expect(await deviceInWords(userAgent, english)).toBe('an unknown device');
  });

  test('takes no time for a user agent of a megabyte, or one that is made to take long', async () => {
    const before = process.cpuUsage();
    for (const part of ['a', 'Mozilla/5.0 (', '((((', ' ; ', 'Version/1.', 'Chrome/1 Safari/'])
      await deviceInWords(part.repeat(1_000_000 / part.length), english);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(1);
  });
});
