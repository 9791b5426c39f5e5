import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { emailSignIn, oauth } from '../../lib/index.js';
import { oauth2, oidc } from '../../lib/providers.js';
import { ada, password } from '../support/app.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { attribute, elementsIn, type PageBrowser, type Shown, textOf } from '../support/page-browser.js';
import { createPerson, type PagesApp, signInOn, startPagesApp } from '../support/pages-app.js';

const NAME = 'Acme <b> & ID';
const client = { clientId: 'c', clientSecret: 's' };
const plugins = [
  password(),
  emailSignIn(),
  oauth(),
  fixedProvider(),
  oidc({
    id: 'acme-work',
    issuer: 'https://acme.example',
    ...client,
    name: NAME,
    icon: '/icons/acme.svg?a=1&b="',
  }),
  oauth2({
    id: 'own-service',
    ...client,
    authorizationUrl: 'https://own.example/authorize',
    tokenUrl: 'https://own.example/token',
    userinfoUrl: 'https://own.example/me',
  }),
] as const;

let app: PagesApp<typeof plugins>;
let id: string;
let browser: PageBrowser;
beforeAll(async () => {
  app = await startPagesApp(plugins);
  id = await createPerson(app as never, ada);
  browser = app.open();
  await signInOn(browser, ada);
});
afterAll(() => app.stop());

/** The links to providers on a page, with their icons. */
const buttons = (page: Shown) =>
  page
    .all('a')
    .filter((link) => attribute(link, 'href')?.includes('/oauth/'))
    .map((link) => ({
      text: textOf(link).trim(),
      icons: [...elementsIn(link)]
        .filter(({ tagName }) => tagName === 'img')
        .map((icon) => [attribute(icon, 'src'), attribute(icon, 'alt')]),
    }));

const SECURITY = '/auth/account/security';

const link = (userId: string, provider: string) =>
  app.auth.models.Account.create({
    id: randomUUID(),
    userId,
    provider,
    issuer: `https://${provider}.example`,
    providerAccountId: '1',
    createdAt: new Date(),
    refreshedAt: new Date(),
    updatedAt: new Date(),
    scopes: '',
    relinkRequired: false,
  } as never);

const ICON = [['/icons/acme.svg?a=1&b="', '']];

test.each(['sign-in', 'sign-up'])(
  '%s shows the names and icons of providers, escaped, as listed',
  async (name) => {
    expect(buttons(await app.open().open(`/auth/${name}`))).toEqual([
      { text: 'Continue with Fixed', icons: [] },
      { text: `Continue with ${NAME}`, icons: ICON },
      { text: 'Continue with Own Service', icons: [] },
    ]);
  },
);

test('so do the linked accounts, even of a provider that is no longer configured', async () => {
  const page = await browser.open(SECURITY);
  expect(buttons(page)).toContainEqual({ text: `Link ${NAME}`, icons: ICON });
  for (const provider of ['acme-work', 'github']) await link(id, provider);
  const linked = await browser.open(SECURITY);
  expect(buttons(linked).map(({ text }) => text)).toEqual(['Link Fixed', 'Link Own Service']);
  expect(linked.text).toContain(`${NAME}Linked on`);
  expect(linked.text).toContain('GitHubLinked on');
  expect(linked.text).toMatch(/Sign-in methods: .*Acme <b> & ID/);
});

test('so does the notice, whose subject stays the id', async () => {
  const mail = await app.mailOf(ada.email, 'provider-unlinked', () => app.auth.oauth.unlink(id, 'acme-work'));
  expect(mail.details?.subject).toBe('acme-work');
  expect(mail.text).toContain(`Service: ${NAME}\n`);
  expect(mail.html).toContain('Acme &lt;b&gt; &amp; ID');
});
