import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PageVisitor, startPages } from '../support/account-pages.js';
import { password } from '../support/app.js';

const start = () => startPages([password()]);
let app: Awaited<ReturnType<typeof start>>['app'];
beforeAll(async () => {
  ({ app } = await start());
});
afterAll(() => app.stop());

/** The shape of the icon above the title of a page, and the title. */
async function iconAndTitle(path: string): Promise<readonly (string | undefined)[]> {
  const { body } = await new PageVisitor(app.origin).get(path);
  const [, icon, title] =
    /<main[^>]*>\n(?:<svg data-part="mark"[^>]*>(.*?)<\/svg>)?<h1>(.*?)<\/h1>/.exec(body) ?? [];
  expect(body.match(/data-part="mark"/g) ?? []).toHaveLength(icon === undefined ? 0 : 1);
  return [/<(rect|circle) /.exec(icon ?? '')?.[1], title];
}

test.each([
  ['/auth/sign-up?done=check-mail', 'rect', 'Check your email'],
  ['/auth/forgot-password?done=check-mail', 'rect', 'Check your email'],
  ['/auth/verify-email?waiting=true', 'rect', 'Confirm your email first'],
  ['/auth/verify-email?done=email-verified', 'circle', 'Your email is confirmed'],
  ['/auth/change-email?done=email-changed', 'circle', 'Your email was changed'],
  ['/auth/sign-up', undefined, 'Create an account'],
  ['/auth/verify-email', undefined, 'This link is no longer valid'],
  ['/auth/change-email', undefined, 'This link is no longer valid'],
])('%s has the icon of its state above the title', async (path, shape, title) => {
  expect(await iconAndTitle(path)).toEqual([shape, title]);
});
