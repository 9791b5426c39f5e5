import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { apiKeys, twoFactor } from '../../../lib/index.js';
import { ageSessions } from '../../support/account-pages.js';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import type { PageBrowser } from '../../support/page-browser.js';
import {
  createPerson,
  createProtected,
  type PagesApp,
  signInOn,
  startPagesApp,
} from '../../support/pages-app.js';
import { codeOf } from '../../support/two-factor.js';

const plugins = [password(), apiKeys(), twoFactor()] as const;
/** The pages with forms that need a proof, and the forms. */
const FORMS = [
  ['/auth/account', ['/auth/account/email', '/auth/account/download', '/auth/account/delete']],
  ['/auth/account/api-keys', ['/auth/account/api-keys/create']],
] as const;
const PASSWORD_FORMS = ['/auth/account/security/change-password', '/auth/account/security/set-password'];

let app: PagesApp<typeof plugins>;
beforeAll(async () => {
  app = await startPagesApp(plugins);
});
afterAll(() => app.stop());

describe.each(['a second factor', 'no password'])('with %s, a session that is not fresh', (has) => {
  const person = { email: `${has.replaceAll(' ', '-')}@example.com`, password: ada.password };
  let browser: PageBrowser;
  beforeAll(async () => {
    browser = app.open();
    if (has === 'no password') {
      const id = await createPerson(app as never, person);
      await signInOn(browser, person);
      await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = ?', [id] as never);
    } else {
      const { secret } = await createProtected(app as never, person);
      await signInOn(browser, person);
      const typed = { code: codeOf(secret) };
      const page = await browser.open('/auth/second-factor');
      expect((await browser.submit(page, 'confirm', typed, { method: 'totp' })).location).toBe('/home');
    }
    await ageSessions(app as never);
  });

  test.each(FORMS)(
    'on %s, gets links to confirm who it is, and no form that must fail',
    async (path, forms) => {
      const page = await browser.open(path);
      for (const form of forms) expect(page.actions).not.toContain(form);
      const confirm = `/auth/reauthenticate?return_to=${encodeURIComponent(path)}`;
      expect(page.links.filter((href) => href === confirm)).toHaveLength(forms.length);
      expect(page.text).toContain('Confirm that it is you');
    },
  );

  test('gets such a link in place of the form of the password', async () => {
    const page = await browser.open('/auth/account/security');
    for (const form of PASSWORD_FORMS) expect(page.actions).not.toContain(form);
  });
});
