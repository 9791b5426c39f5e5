import { beforeEach, expect, test } from '@jest/globals';
import type { MailMessage } from '../../lib/index.js';
import { Mailer } from '../../lib/mail/messages.js';

// What version 0.1.0 has left in the outbox: its templates have the texts, in English.

const at = new Date('2026-11-22T10:14:59.999Z');
const until = new Date('2026-11-29T10:14:59.999Z');
const user = { id: '1', email: 'ada@example.com', emailVerifiedAt: at } as never;
const to = { user, to: 'ada@example.com' };
const facts = { at, client: null, subject: null, undo: null };

const sent: MailMessage[] = [];
const mailer = new Mailer(
  {
    origin: 'https://app.example.com',
    look: { appName: 'Example', logo: null, color: '#000', footer: null },
    support: 'https://help.example.com/',
    pages: {
      'sign-in': '/sign-in',
      'forgot-password': null,
      'account/security': null,
      'account/sessions': null,
    },
    send: (mail) => sent.push(mail),
  },
  {
    pageUrl: (page) => page,
    now: () => at,
    textsIn: () => ({}),
    wordsFor() {
      throw new Error('these emails have a language');
    },
  },
);
const { signal } = new AbortController();

beforeEach(() => {
  sent.length = 0;
});

test('an earlier link is sent with its own texts', async () => {
  const template = {
    kind: 'reset-password',
    page: '/reset-password',
    subject: 'An earlier subject',
    first: { text: 'You have an account.', page: 'sign-in', action: 'Sign in' },
    before: 'Choose one here:',
    action: 'Choose',
    after: '{expiry} Earlier.',
  };
  await mailer.link({ ...to, template: template as never, token: 'lkm_x', lifetimeMs: 3_600_000 }, signal);
  expect(sent[0]).toMatchObject({
    kind: 'reset-password',
    language: 'en',
    subject: 'An earlier subject - Example',
  });
  expect(sent[0]?.text).toBe(
    [
      'You have an account.',
      'https://app.example.com/sign-in',
      'Choose one here:',
      'https://app.example.com/reset-password?token=lkm_x',
      'The link expires in one hour. Earlier.',
      '— Example\n',
    ].join('\n\n'),
  );
  expect(sent[0]?.html).toContain('>Choose</a>');
});

test('earlier codes are sent with their own texts', async () => {
  const texts = { subject: 'A code', before: 'Enter it:', help: 'Do not share it.' };
  const code = { ...to, code: '20461938', until, facts };
  await mailer.code({ ...code, template: { kind: 'reset-code', ...texts } as never }, signal);
  const link = { page: '/sign-in', beforeLink: 'Or follow this:', action: 'Sign in' };
  const template = { kind: 'sign-in-code', ...texts, ...link } as never;
  await mailer.signInCode({ ...code, template, token: 'lkm_x' }, signal);
  await mailer.noAccount(
    { ...to, facts, template: { kind: 'no-account', ...texts, ...link } as never },
    signal,
  );
  const details = 'Account: ada@example.com\nTime: 22 November 2026 at 10:14 UTC';
  const works = 'The code works for 7 days, until 29 November 2026 at 10:14 UTC.';
  const url = 'https://app.example.com/sign-in';
  const rest = [details, 'Do not share it.', '— Example\n'];
  expect(sent.map(({ text }) => text.split('\n\n'))).toEqual([
    ['Enter it:', '20461938', works, ...rest],
    ['Enter it:', '20461938', works, 'Or follow this:', `${url}?token=lkm_x`, ...rest],
    ['Enter it:', 'Or follow this:', url, ...rest],
  ]);
});

test('an earlier notice is sent with its own texts, and with the contact of its time', async () => {
  const template = {
    kind: 'new-device',
    subject: 'A sign-in',
    lines: ['Someone signed in.'],
    about: 'Browser',
    undo: 'Undo it within {within}:',
    action: 'Undo',
    help: 'Ask us.',
  } as never;
  const undo = { page: '/undo', token: 'lku_x', until, browsers: ['Firefox on Windows'], support: 'Ada' };
  const send = (more: object) =>
    mailer.notice({ ...to, template, facts: { ...facts, subject: 'Safari', ...more } }, signal);
  await send({ undo });
  await send({ undo: { ...undo, browsers: [] } });
  await send({});
  const url = 'https://app.example.com/undo?token=lku_x';
  const details = 'Account: ada@example.com\nBrowser: Safari\nTime: 22 November 2026 at 10:14 UTC';
  const within = 'within 7 days, until 29 November 2026';
  expect(sent.map(({ text }) => text.split('\n\n').slice(1, -1))).toEqual([
    [
      details,
      `Undo it ${within}:`,
      url,
      'Open it on a device that you used before this change, such as Firefox on Windows. It might ask for your password.',
    ],
    [details, `If it was not you, ask Ada. To undo what was done, support needs this link ${within}: ${url}`],
    [details, 'Ask us.'],
  ]);
});
