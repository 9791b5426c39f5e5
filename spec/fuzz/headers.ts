import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import fc from 'fast-check';
import { addressBucket, clientAddress } from '../../lib/context/address.js';
import { createToken, isWellFormedToken } from '../../lib/crypto/token.js';
import { uuidv7 } from '../../lib/crypto/uuid.js';
import { AuthError } from '../../lib/errors.js';
import { composeNotice, deviceInWords } from '../../lib/mail/messages.js';
import { cookieValues, tokenIn } from '../../lib/sessions/carriers.js';
import type { User } from '../../lib/tables/core.js';
import { encodeCursor, readPage } from '../../lib/tables/pages.js';
import { english } from '../../lib/words/emails/index.js';
import { changed, headerText, PREFIXES, piecesOf, text, token } from './inputs.js';
import { fuzz, quickly } from './property.js';

const cookiePart = piecesOf(
  ['latchkey', 'latchkey-device', '=', ';', '; ', ' ', '\t', ',', '"', '\u00a0', '__Host-', 'j:{}', 's:'],
  6,
);
const prefix = fc.constantFrom(...PREFIXES);
const agent = fc.oneof(
  headerText,
  text,
  piecesOf(
    [
      'Mozilla/5.0 ',
      '(Windows NT 10.0; Win64; x64) ',
      'Chrome/120 ',
      'Safari/605 ',
      'curl/8.1',
      'Firefox/',
      '(',
      ')',
      ';',
      '\n',
      'http://evil.example',
      '()'.repeat(500),
    ],
    8,
  ),
);
const LOOK = { appName: null, logo: null, color: '#000', footer: null };
const USER = {
  id: '1',
  email: 'ada@example.com',
  username: null,
  emailVerifiedAt: new Date(0),
} as unknown as User;

/** Headers, tokens and cursors. */
export const headers = [
  fuzz(
    'the value of a cookie is found among whatever other cookies there are',
    1000,
    fc.property(fc.array(cookiePart), token, fc.array(cookiePart), (before, given, after) => {
      const sent = given.replace(/[;\t ]/g, '');
      const header = [...before, `latchkey=${sent}`, ...after].join(';');
      const values = quickly(() => cookieValues(header, 'latchkey'));
      assert.equal(new Set(values).size, values.length);
      if (sent !== '') assert.ok(values.includes(sent));
    }),
  ),
  fuzz(
    'an Authorization header is read as a Bearer token or as none',
    1000,
    fc.property(
      fc.oneof(headerText, piecesOf(['Bearer', 'bearer', 'Basic', ' ', '\t', '=', ',', 'lks_', 'ApiKey'], 6)),
      (authorization) => {
        const found = quickly(() => tokenIn({ headers: { authorization } }, ['Bearer']));
        if (found !== null) assert.match(authorization, /^bearer/i);
      },
    ),
  ),
  fuzz(
    'a token with any change is none',
    1000,
    fc.property(
      prefix.chain((one) =>
        fc.tuple(fc.constant(one), changed(fc.constant(createToken(one))), fc.constant(one).map(createToken)),
      ),
      ([one, other, whole]) => {
        assert.equal(isWellFormedToken(one, whole), true);
        if (isWellFormedToken(one, other)) assert.match(other, /^lk[a-z]_[\w-]{48}$/);
      },
    ),
  ),
  fuzz(
    'what is no token is refused, of whatever type it is',
    2000,
    fc.property(prefix, fc.oneof(text, fc.anything()), (one, given) => {
      assert.equal(
        quickly(() => isWellFormedToken(one, given)),
        false,
      );
    }),
  ),
  fuzz(
    'a cursor is one that was given out, or it is refused',
    1000,
    fc.property(
      fc.oneof(text, changed(fc.constant(encodeCursor(uuidv7(1e12)))), fc.stringMatching(/^[\w-]{22}$/)),
      (cursor) => {
        try {
          const { before } = quickly(() => readPage({ cursor }));
          assert.equal(encodeCursor(before ?? ''), cursor);
        } catch (error) {
          assert.ok(error instanceof AuthError && error.code === 'invalid_request', String(error));
        }
      },
    ),
  ),
  fuzz(
    'an address has one limit, however it is written',
    1000,
    fc.property(fc.ipV6(), fc.ipV4(), (six, four) => {
      assert.equal(addressBucket(`::ffff:${four}`), four);
      assert.equal(addressBucket(`${four}:${1234}`), four);
      assert.equal(clientAddress(`[::ffff:${four}]:443`), four);
      if (!isIPv6(six)) return;
      const bucket = addressBucket(six);
      for (const other of [
        six.toUpperCase(),
        `${six}%eth0`,
        `[${six}]:443`,
        new URL(`http://[${six}]`).hostname.slice(1, -1),
      ]) {
        assert.equal(addressBucket(other), bucket);
        assert.equal(clientAddress(other), clientAddress(six));
      }
    }),
  ),
  fuzz(
    'any text for an address has a short limit of its own, or that of the unknown ones',
    1000,
    fc.property(
      fc.oneof(text, headerText, piecesOf(['127', '.', ':', '::', 'ffff', '%', '/', ',', '1', '[', ']'], 12)),
      (ip) => {
        assert.match(
          quickly(() => addressBucket(ip)),
          /^(unknown|[\d.]{7,15}|[0-9a-f:]{2,20}::\/64)$/,
        );
      },
    ),
  ),
  fuzz(
    'a user agent is told in words that it cannot choose',
    400,
    fc.asyncProperty(agent, async (userAgent) => {
      const started = performance.now();
      const words = await deviceInWords(userAgent, english);
      assert.ok(performance.now() - started < 2000);
      assert.match(words, /^[\w .()/+-]{1,80}$/);
    }),
  ),
  fuzz(
    'whatever a client sends, a notice has its lines and no other',
    400,
    fc.asyncProperty(agent, fc.oneof(text, fc.ipV4()), text, async (userAgent, ip, subject) => {
      const template = { kind: 'passkey-added', text: 'passkey-added' } as const;
      const client = { ip, userAgent };
      const facts = { at: new Date(0), client, subject, undo: null };
      const notice = { template, user: USER, to: 'ada@example.com', facts };
      const mail = await composeNotice(notice, {
        origin: null,
        look: LOOK,
        support: null,
        words: english,
        pageOf: () => null,
        now: new Date(),
      });
      const names = mail.text
        .split('\n')
        .filter((line) => /^[A-Z][\w ]*: /.test(line))
        .map((line) => line.split(':')[0]);
      const all = ['Account', 'Passkey', 'Time', 'Device', 'IP address'];
      assert.deepEqual(
        names.filter((name) => !all.includes(name ?? '')),
        [],
      );
      assert.equal(new Set(names).size, names.length);
      assert.doesNotMatch(mail.subject + mail.to, /[\p{Cc}]/u);
      const elements = new Set(mail.html.replace(/^[\s\S]*<body/, '').match(/<\/?\w+/g));
      assert.deepEqual([...elements], ['<div', '<p', '</p', '<br', '</div', '</body', '</html']);
      assert.doesNotMatch(mail.text, /[^\P{C}\n]/u);
    }),
  ),
];
