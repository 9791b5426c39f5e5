import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { emailSignIn, organizations } from '../../../lib/index.js';
import { password } from '../../support/app.js';
import { type PagesApp, startPagesApp } from '../../support/pages-app.js';

const plugins = [password(), emailSignIn(), organizations()] as const;
let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
});
afterAll(() => app.stop());

test.each([
  'verify-email',
  'change-email',
  'reset-password',
  'invitation',
  'undo-change',
  'join',
  'sign-in/email',
])('the page %s of an invalid link says that the link might be incomplete', async (name) => {
  const page = await app.open().open(`/auth/${name}?token=cut`);
  expect(page.heading).toContain('no longer valid');
  expect(page.text).toContain('If the link is incomplete, copy the whole link from the email.');
});

test('the page of a change of the email says that a newer email might have replaced it', async () => {
  const page = await app.open().open('/auth/change-email?token=old');
  expect(page.text).toContain('A newer email might have replaced it: then open the link in the newest one.');
});

test.each([
  ['verify-email', 'confirm', { password: 'x' }],
  ['change-email', 'confirm', { password: 'x' }],
  ['reset-password', 'set', { new_password: 'a bird in a teapot' }],
  ['join', 'accept', {}],
])('the page %s gives the reason once after its form was rejected', async (name, form, fields) => {
  const page = await app.open().post(`/auth/${name}/${form}`, { token: 'used', ...fields });
  expect([page.status, page.error]).toEqual([400, null]);
  expect(page.text.match(/already used/g)).toHaveLength(1);
});
