import { afterEach, expect, test } from '@jest/globals';
import type { AuthConfig } from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';

type Plugins = readonly [ReturnType<typeof password>];

let app: MailApp<Plugins>;
afterEach(() => app.stop());

/** The links in both emails, with `…` instead of the tokens. */
const linksOf = async (config: object) => {
  app = await startMailApp({ plugins: [password()], config: config as Partial<AuthConfig<Plugins>> });
  const { id } = (await app.auth.credential.signUp({ ...ada }))!.user;
  const mails = [
    await app.mailOf(() => app.auth.credential.requestPasswordReset({ email: ada.email })),
    await app.mailOf(() => app.auth.credential.sendVerification({ userId: id })),
  ];
  for (const { url, text, html } of mails) {
    expect(text).toContain(`\n${url}\n`);
    expect(html.split(`<a href="${url.replaceAll('&', '&amp;')}" `)).toHaveLength(3);
  }
  return mails.map(({ url, token }) => url.replace(token, '…'));
};

const pages = { verifyUrl: '/confirm?lang=de&next=%2Fhome', resetUrl: '/#/reset?a=b' };

test.each([
  ['no baseUrl', { baseUrl: undefined }, ['/reset-password?token=…', '/verify-email?token=…']],
  [
    'paths and no baseUrl',
    { baseUrl: undefined, email: pages },
    ['/?token=…#/reset?a=b', '/confirm?lang=de&next=%2Fhome&token=…'],
  ],
  [
    'paths and a baseUrl',
    { baseUrl: 'https://app.example.com', email: pages },
    [
      'https://app.example.com/?token=…#/reset?a=b',
      'https://app.example.com/confirm?lang=de&next=%2Fhome&token=…',
    ],
  ],
  [
    'absolute URLs',
    {
      baseUrl: 'https://app.example.com',
      email: { resetUrl: 'myapp://reset', verifyUrl: 'http://b.example/v' },
    },
    ['myapp://reset?token=…', 'http://b.example/v?token=…'],
  ],
])('links in emails lead to the configured page with %s', async (_what, config, links) => {
  expect(await linksOf(config)).toEqual(links);
});
