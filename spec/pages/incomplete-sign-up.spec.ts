import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pages } from '../../lib/pages.js';
import { type OAuthApp, pathOf, startWithOidc } from '../support/oauth-app.js';
import { visitProvider } from '../support/oidc.js';
import { PageBrowser } from '../support/page-browser.js';

let app: OAuthApp;
beforeAll(async () => {
  ({ app } = await startWithOidc({
    providers: () => [pages({ home: '/home' }) as never],
    config: { user: { fields: { motto: { type: 'string', required: true } } } },
  }));
});
afterAll(() => app.stop());

const LACKS = 'Oidc did not share everything that an account needs.';

test.each([
  ['sign-in', LACKS, ['Create an account']],
  ['sign-up', `${LACKS} Fill in the form instead.`, []],
])('a sign-up by a provider that lacks a field says on %s what to do', async (name, text, steps) => {
  const browser = new PageBrowser(app.origin);
  const button = (await browser.open(`/auth/${name}`)).links.find((href) => href.includes('/authorize'));
  const { location } = await browser.open(`${button}`, { 'sec-fetch-site': 'same-origin' });
  const page = await browser.follow(await browser.open(pathOf(await visitProvider(`${location}`))));
  expect(page.error?.replace('There is a problem', '').trim()).toBe([text, ...steps].join(' '));
  expect(page.heading).toContain(name === 'sign-in' ? 'Sign in' : 'Create an account');
});
