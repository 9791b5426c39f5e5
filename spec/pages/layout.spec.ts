import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { admin, apiKeys, organizations } from '../../lib/index.js';
import { HOSTILE, PageVisitor, startPages } from '../support/account-pages.js';
import { ada, password } from '../support/app.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const start = () =>
  startPages(
    [password({ username: true }), apiKeys(), organizations(), admin({ adminEmails: [root.email] })] as const,
    { appName: `Notes ${HOSTILE}` } as never,
  );

let app: Awaited<ReturnType<typeof start>>['app'];
beforeAll(async () => {
  ({ app } = await start());
  const { id } = await app.auth.users.create(root);
  await app.auth.markEmailVerified(id);
});
afterAll(() => app.stop());

/** The text of a part of the header. */
const textOf = (body: string, part: string) =>
  new RegExp(`<header.*<(\\w+)[^>]* data-part="${part}">(.*?)</\\1>.*</header>`, 's')
    .exec(body)?.[2]
    ?.replace(/<[^>]*>/g, '');

test.each([
  'account',
  'account/security',
  'account/sessions',
  'account/api-keys',
  'account/organizations',
  'administration/users',
])('%s says whose account it is, and leads back to the app', async (page) => {
  const visitor = await new PageVisitor(app.origin).signIn(root);
  const { status, body } = await visitor.get(`/auth/${page}`);
  expect(status).toBe(200);
  expect(textOf(body, 'user')).toBe(`Signed in as ${root.email}Sign out`);
  expect(body).toContain('<a href="/" data-part="back">Back to Notes &lt;script&gt;');
  expect(body).not.toContain('<script>alert');
});

test('an account without an email has its username there', async () => {
  await app.auth.users.create({ username: 'lovelace', password: ada.password });
  const visitor = await new PageVisitor(app.origin).signIn({ email: 'lovelace', password: ada.password });
  expect(textOf((await visitor.get('/auth/account')).body, 'user')).toBe('Signed in as lovelaceSign out');
});

test('a page before the sign-in has only the name of the app', async () => {
  const { body } = await new PageVisitor(app.origin).get('/auth/sign-in');
  expect(textOf(body, 'brand')).toContain('Notes');
  expect([textOf(body, 'user'), textOf(body, 'back')]).toEqual([undefined, undefined]);
});
