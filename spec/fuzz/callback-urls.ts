import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AuthError } from '../../lib/errors.js';
import { checkCallbackUrl, withError, withSecondFactor } from '../../lib/http/callback-url.js';
import { changed, piecesOf, text } from './inputs.js';
import { fuzz, quickly } from './property.js';

const OWN = 'https://app.example.com';
const TRUSTED = new Set([OWN, 'https://trusted.example', 'http://localhost:3000']);

/** Pages of the app, at which a browser could get the redirect. */
const PAGES = ['/', '/auth/oauth/fixed/callback?code=x', '/a/b/../c//d', '//a', '/.//b?x#y'].map(
  (path) => OWN + path,
);

const PIECES = [
  ...[
    '/',
    '//',
    '///',
    '\\',
    '/\\',
    '\\/',
    '.',
    '..',
    '/.',
    '/..',
    './/',
    '?',
    '#',
    ':',
    '@',
    ';',
    '&',
    '=',
    ' ',
    '\t',
    '\n',
    '\r',
    '\0',
  ],
  ...[
    'https:',
    'http:',
    'HTTPS:',
    'javascript:',
    'data:',
    'blob:',
    'ftp:',
    'file:',
    'https://',
    'https:/',
    '//evil.example',
  ],
  ...[
    'evil.example',
    'app.example.com',
    'trusted.example',
    'localhost',
    ':3000',
    ':443',
    ':80',
    'user:pw@',
    '.evil.example',
  ],
  ...[
    '%2f',
    '%2F',
    '%5c',
    '%09',
    '%0a',
    '%00',
    '%2e',
    '%2e%2e',
    '%',
    '%ff',
    '。',
    '／',
    '＼',
    '\u200b',
    '\u00ad',
    '\ufeff',
    '\u2028',
    '[::1]',
    '0x7f.1',
  ],
];
const url = fc.oneof(
  { weight: 6, arbitrary: piecesOf(PIECES, 8) },
  { weight: 2, arbitrary: piecesOf(PIECES, 6).map((rest) => `/${rest}`) },
  { weight: 2, arbitrary: piecesOf(PIECES, 6).map((rest) => `${OWN}${rest}`) },
  { weight: 1, arbitrary: fc.webUrl({ withFragments: true, withQueryParameters: true }) },
  {
    weight: 2,
    arbitrary: changed(fc.constantFrom(`${OWN}/done?x=1#y`, 'http://localhost:3000/', '/done?x=1#y')),
  },
  { weight: 1, arbitrary: text },
);

function accepted(given: unknown): string | null {
  try {
    return quickly(() => checkCallbackUrl(given, TRUSTED));
  } catch (error) {
    assert.ok(error instanceof AuthError && error.code === 'invalid_callback_url', String(error));
    return null;
  }
}

/** URLs to which browsers are redirected. */
export const callbackUrls = [
  fuzz(
    'a callback URL that is accepted leads to a trusted origin, whichever page a browser comes from',
    4000,
    fc.property(url, (given) => {
      const target = accepted(given);
      if (target === null) return;
      for (const page of PAGES) {
        for (const one of [
          target,
          withError(target, 'invalid_flow', { fields: ['email', 'a b&c=d'], task: 'a b&c=d' }),
          withSecondFactor(target),
        ]) {
          const { origin, protocol, username, password } = new URL(one, page);
          assert.ok(TRUSTED.has(origin), `${one} at ${page} leads to ${origin}`);
          assert.match(protocol, /^https?:$/);
          assert.equal(username + password, '');
          // Nothing in it ends the header that it is sent in.
          assert.match(one, /^[\x21-\x7e]+$/);
        }
      }
    }),
  ),
  fuzz(
    'a callback URL that is accepted means the same when it is read again',
    1000,
    fc.property(url, (given) => {
      const target = accepted(given);
      if (target !== null) assert.equal(accepted(target), target);
    }),
  ),
  fuzz(
    'a callback URL of any other type is refused',
    500,
    fc.property(
      fc.anything().filter((given) => typeof given !== 'string'),
      (given) => assert.equal(accepted(given), null),
    ),
  ),
];
