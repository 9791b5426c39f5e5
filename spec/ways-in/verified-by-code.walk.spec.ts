import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rows } from '../support/database.js';
import { app, newPerson, startWays, stopWays } from '../support/ways-in.js';
import { cellsOf } from '../support/ways-in-table.js';

/** Every way in, where only verified emails may sign in, and a code verifies them. */
beforeAll(() =>
  startWays({ requireVerifiedEmail: true, verifyEmailBy: 'code', sendVerificationOnSignUp: undefined }),
);
afterAll(stopWays);

/**
 * A session that the app creates cannot have a second step. A second step of an account whose email has become unverified since
 * the first one starts again, with the code.
 */
const WITHOUT_CODE: Readonly<Record<string, string>> = {
  createSession: 'email_not_verified',
  'POST /signin/second-factor, 1': 'sign_in_expired',
  'POST /signin/second-factor, 2': 'sign_in_expired',
  'completeSignIn, 1': 'sign_in_expired',
  'completeSignIn, 2': 'sign_in_expired',
};

const refused = cellsOf('verifiedEmail').filter(({ outcome }) => outcome === 'email_not_verified');

test.each(refused)('an account whose email is not verified: $name', async ({ name, way }) => {
  const { id, ...person } = await newPerson();
  const { wrong, right } = await way({ id, ...person });
  await rows(app.database, 'UPDATE users SET email_verified_at = NULL WHERE id = :id', { id });
  const before = await app.auth.listSessions(id);
  const waiting = () =>
    rows(
      app.database,
      "SELECT user_id FROM unfinished_sign_ins WHERE user_id = :id AND step = 'email_code'",
      {
        id,
      },
    );
  const pending = (await waiting()).length;
  if (wrong) expect(await wrong[0]()).toBe(wrong[1]);
  const code = await right();
  const isWaiting = (await waiting()).length > pending;
  expect(isWaiting ? 'waits for a code' : code).toBe(WITHOUT_CODE[name] ?? 'waits for a code');
  expect(code === 'ok').toBe(isWaiting);
  const ids = before.map((session) => session.id);
  expect((await app.auth.listSessions(id)).filter((session) => !ids.includes(session.id))).toEqual([]);
});
