import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ageSessions, PageVisitor, startPages } from '../../support/account-pages.js';
import { ada, password } from '../../support/app.js';

const start = () => startPages([password({ username: true })]);

let app: Awaited<ReturnType<typeof start>>['app'];
beforeAll(async () => {
  ({ app } = await start());
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());

test('each form of an account that asks for a password says whose password it is', async () => {
  const visitor = await new PageVisitor(app.origin).signIn();
  await ageSessions(app);
  const { body } = await visitor.get('/auth/account/security');
  const forms = (body.match(/<form[\s\S]*?<\/form>/g) ?? []).filter((form) =>
    form.includes('type="password"'),
  );
  expect(forms.length).toBeGreaterThan(0);
  const named = `<input type="text" hidden readonly autocomplete="username" value="${ada.email}">`;
  expect(forms.filter((form) => !form.includes(named))).toEqual([]);
});
