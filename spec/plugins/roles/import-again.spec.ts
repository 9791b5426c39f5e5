import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { admin, roles } from '../../../lib/index.js';
import { movingIn } from '../../../lib/moving-in.js';
import { acting, ROOT } from '../../support/acting.js';
import { password } from '../../support/app.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

const plugins = [
  password(),
  admin({ adminEmails: [ROOT], role: 'admin', actAs: {} }),
  roles({ roles: { admin: [], editor: ['posts:write'] } }),
  movingIn(),
] as const;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({ plugins });
});
afterAll(() => app.stop());

test('an import that changes the roles of an account ends acting sessions, and tells of it', async () => {
  const changes: unknown[] = [];
  app.auth.on('user.roles_changed', ({ before, after, adminId }) => changes.push([before, after, adminId]));
  const importAgain = (given: readonly string[]) =>
    app.auth.movingIn.importUsers(
      [{ ref: 'a', email: 'ada@example.com', emailVerified: true, roles: given }],
      { source: 'old', update: true },
    );
  await importAgain(['editor']);
  const { cookie } = await acting(app);
  await settled(app.auth);
  app.mails.length = 0;

  expect(await importAgain(['admin', 'editor'])).toMatchObject({ updated: 1 });
  expectProblem(await app.http.get('/auth/me').set({ cookie }), 401, 'invalid_session');
  await settled(app.auth);
  expect(changes).toEqual([[['editor'], ['admin', 'editor'], null]]);
  const told = app.mails.filter(({ kind }) => kind === 'administrator-added');
  expect(told.map(({ to }) => to).sort()).toEqual(['ada@example.com', ROOT]);
});
