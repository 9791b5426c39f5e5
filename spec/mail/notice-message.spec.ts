import { describe, expect, test } from '@jest/globals';
import type { User } from '../../lib/index.js';
import { composeNotice, type NoticeFacts } from '../../lib/mail/messages.js';
import type { NoticeTemplate } from '../../lib/mail/notice-kinds.js';
import { english } from '../../lib/words/emails/index.js';

const at = new Date('2026-11-22T10:14:59.999Z');
const ada = {
  ...{ id: '1', email: 'ada@example.com', emailVerifiedAt: at },
  ...{ username: 'ada', usernameDisplay: 'Ada' },
} as unknown as User;
const template: NoticeTemplate = { kind: 'api-key-created', text: 'api-key-created', help: 'notYou' };
const texts = { subject: 'An API key was created', lines: ['A key was <created>.'], about: 'API key' };
const words = {
  ...english,
  texts: { ...english.texts, 'api-key-created': texts },
  help: { ...english.help, notYou: () => 'Ask us.' },
};
const facts: NoticeFacts = {
  at,
  client: { ip: '2001:db8::1', userAgent: null },
  subject: null,
  undo: {
    page: '/undo-change?lang=de',
    token: 'lku_token',
    browsers: ['Firefox on Windows', null, 'Firefox on Windows'],
  },
};
const settings = {
  origin: 'https://app.example.com',
  look: { appName: null, logo: null, color: '#000', footer: null },
  support: 'https://help.example.com/',
  words,
  now: at,
};
const compose = (more: Partial<NoticeFacts> = {}, user = ada) =>
  composeNotice(
    { template, user, to: 'ada@example.com', facts: { ...facts, ...more } },
    { ...settings, pageOf: () => null },
  );

test('a notice says what happened, to which account, when, from where, and how to undo it', async () => {
  const mail = await compose({ subject: 'nightly import' });
  const url = 'https://app.example.com/undo-change?lang=de&token=lku_token';
  expect(mail).toMatchObject({ to: ada.email, subject: texts.subject, token: 'lku_token', url });
  expect(mail.text).toBe(
    [
      'A key was <created>.',
      [
        'Account: ada@example.com',
        'API key: nightly import',
        'Time: 22 November 2026 at 10:14 UTC',
        'Device: an unknown device',
        'IP address: 2001:db8::1',
      ].join('\n'),
      'If it was not you, undo it here within 7 days:',
      url,
      'Open it on a device that you used before this change, such as Firefox on Windows. It might ask for your password.\n',
    ].join('\n\n'),
  );
  expect(mail.html).toContain('>A key was &lt;created&gt;.</p>');
  expect(mail.html).toContain('>Account: ada@example.com<br>\nAPI key: nightly');
  const href = url.replace('&', '&amp;');
  expect(mail.html).toMatch(/<a href="([^"]*)" style="[^"]*">This was not me<\/a>/);
  expect(mail.html.split(`<a href="${href}" `)).toHaveLength(3);
  expect(mail.html).toContain(`>${href}</a>`);
});

describe('a link that works in no browser is for support, and the text says what to do', () => {
  const none = { undo: { ...facts.undo!, browsers: [] } };
  test.each([
    ['with a page for a new password', '/forgot-password', {}, true],
    ['without that page', null, {}, false],
    ['for an address that the account loses', '/forgot-password', { losesAddress: true }, false],
  ])('%s', async (_what, page, more, resets) => {
    const { text, html, token, url } = await composeNotice(
      { template: { ...template, ...more }, user: ada, to: 'ada@example.com', facts: { ...facts, ...none } },
      { ...settings, pageOf: () => page },
    );
    const [last, ...rest] = [
      `ask https://help.example.com/. To undo what was done, support needs this link within 7 days: ${url}\n`,
      ...(resets
        ? ['If it was not you, choose a new password:', 'https://app.example.com/forgot-password', 'Then ']
        : ['If it was not you, ']),
    ];
    expect(text).toContain(`IP address: 2001:db8::1\n\n${rest.join('\n\n')}${last}`);
    expect(html).not.toContain(`href="${url}"`);
    expect(url).toContain(token);
  });
});

test('an undo link names no browser whose name is not known', async () => {
  const mail = await compose({ undo: { ...facts.undo!, browsers: [null] } });
  expect(mail.text).toContain('Open it on a device that you used before this change. It might');
});

test('one that cannot be undone says what to do instead, and has no link', async () => {
  const { text, html, token, url } = await compose({ undo: null });
  expect([token, url]).toEqual(['', '']);
  expect(text).toMatch(/\n\nAsk us\.\n$/);
  expect(html).not.toContain('<a');
});

test('what an administrator did is told without device and address, and a strange address not at all', async () => {
  const byApp = await compose({ client: null });
  expect(byApp.details).toMatchObject({ device: null, ip: null });
  expect(byApp.text).not.toMatch(/Device|IP/);
  const strange = await compose({ client: { ip: 'evil.example', userAgent: 'curl/8.5' } });
  expect(strange.details).toMatchObject({ device: 'curl', ip: null });
});

test('an account without an email is named by its username, and who may have none is told so', async () => {
  expect((await compose({}, { ...ada, email: null })).text).toContain('Account: Ada\n');
  expect((await compose()).text).not.toContain('ignore this email');
  expect((await compose({}, { ...ada, emailVerifiedAt: null })).text).toContain('If you have no account');
});

describe('a name that a user has chosen', () => {
  test.each([
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['"><script>', '"><script>', '&quot;&gt;&lt;script&gt;'],
    [
      'see https://evil.example/a',
      'see https: / / evil. example/ a',
      'see https:\u200b/\u200b/\u200bevil.\u200bexample/\u200ba',
    ],
    ['www.evil.example', 'www. evil. example', 'www.\u200bevil.\u200bexample'],
    ['eve@evil.example', 'eve@ evil. example', 'eve@\u200bevil.\u200bexample'],
    ['v1.2, host:8080', 'v1.2, host: 8080', 'v1.2, host:\u200b8080'],
    ['a\r\nBcc: eve\n\nClick\there', 'a Bcc: eve Click here', 'a Bcc: eve Click here'],
    ['moc.live\u202e\u200b\u2066x', 'moc. live x', 'moc.\u200blive x'],
    ['YubiKey 5C – Büro 🔑', 'YubiKey 5C – Büro 🔑', 'YubiKey 5C – Büro 🔑'],
    ['a\ufdd0b', 'a b', 'a b'],
    ['\ud800x', '�x', '�x'],
  ])('%j becomes neither a link nor markup', async (subject, text, html) => {
    const mail = await compose({ subject });
    expect(mail.text.split('\n')).toContain(`API key: ${text}`);
    expect(mail.html.split('\n')).toContain(`API key: ${html}<br>`);
    expect(mail.html.match(/<a /g)).toHaveLength(2);
    expect(mail.subject).toBe(texts.subject);
  });

  test('is cut after 100 characters', async () => {
    const { details } = await compose({ subject: '🔑'.repeat(5000) });
    expect([...details!.subject!]).toHaveLength(100);
    expect(details!.subject).toMatch(/🔑…$/u);
  });
});
