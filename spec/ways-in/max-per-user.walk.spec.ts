import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rows } from '../support/database.js';
import { app, newPerson, startWays, stopWays } from '../support/ways-in.js';
import { WAYS } from '../support/ways-in-table.js';

/** Every way in, to an account that has as many sessions as it can have. */
const MAX = 3;
beforeAll(() => startWays({}, { session: { maxPerUser: MAX } }));
afterAll(stopWays);

/**
 * What happens to the session of the account that was unused for longest. A new way needs a row.
 *
 * - `evicted`: a new session ends it, and no other
 * - `all`: it ends with all sessions of the account
 * - `stays`: there is no new session
 */
const OUTCOMES: Readonly<Record<string, 'evicted' | 'all' | 'stays'>> = {
  'POST /signin/credential, 1': 'evicted',
  'POST /signin/credential, 2': 'evicted',
  'POST /signin/credential, 3': 'evicted',
  'POST /passwords/reset, 1': 'all',
  'POST /passwords/reset, 2': 'all',
  'POST /passwords/reset, 3': 'all',
  'POST /verify-email': 'stays',
  'POST /undo-change': 'all',
  'POST /email-changes/confirm': 'all',
  'GET /oauth/:provider/callback, 1': 'evicted',
  'GET /oauth/:provider/callback, 2': 'evicted',
  'POST /oauth/:provider/callback': 'evicted',
  'POST /signin/link': 'all',
  'POST /signin/passkey': 'evicted',
  'POST /signin/second-factor, 1': 'evicted',
  'POST /signin/second-factor, 2': 'evicted',
  'POST /signin/email/confirm, 1': 'all',
  'POST /signin/email/confirm, 2': 'all',
  getSession: 'stays',
  createSession: 'evicted',
  'apiKeys.create': 'stays',
  'credential.signIn': 'evicted',
  'credential.changePassword': 'all',
  'credential.reauthenticate': 'stays',
  'credential.setPassword': 'stays',
  'credential.resetPassword': 'all',
  'credential.verifyEmail, 1': 'stays',
  'credential.verifyEmail, 2': 'stays',
  'oauth.callback': 'evicted',
  'passkeys.signIn': 'evicted',
  'completeSignIn, 1': 'evicted',
  'completeSignIn, 2': 'evicted',
  'emailSignIn.confirm, 1': 'all',
  'emailSignIn.confirm, 2': 'all',
  'links.signIn': 'all',
};

/** The ids of a user's active sessions, newest first. */
const sessionsOf = async (id: string) => (await app.auth.listSessions(id)).map((session) => session.id);

test('every way in has an outcome', () => {
  expect(Object.keys(OUTCOMES).sort()).toEqual(WAYS.map(({ name }) => name).sort());
});

describe('an account with as many sessions as it can have', () => {
  test.each(WAYS)('$name', async ({ name, way }) => {
    const { id, ...person } = await newPerson();
    const { right } = await way({ id, ...person });
    while ((await sessionsOf(id)).length < MAX) await app.auth.createSession(id);
    const [newest, oldest, first] = await sessionsOf(id);
    // The session in the middle was unused for longest.
    await rows(app.database, 'UPDATE sessions SET last_active_at = :at WHERE id = :oldest', {
      at: new Date(Date.now() - 3_600_000),
      oldest,
    });
    const told: object[] = [];
    const off = app.auth.on('session.revoked', ({ userId, sessionId, reason }) => {
      if (userId === id) told.push({ sessionId, ...(reason && { reason }) });
    });
    expect(await right()).toBe('ok');
    off();
    const after = await sessionsOf(id);
    const begun = after.filter((one) => ![newest, oldest, first].includes(one));
    if (OUTCOMES[name] === 'evicted') {
      expect(begun).toHaveLength(1);
      expect(after).toEqual([...begun, newest, first]);
      expect(told).toEqual([{ sessionId: oldest, reason: 'limit' }]);
    } else if (OUTCOMES[name] === 'all') {
      expect(after).toEqual(begun);
      expect(told).toHaveLength(MAX);
      expect(told.filter((one) => 'reason' in one)).toEqual([]);
    } else {
      expect(after).toEqual([newest, oldest, first]);
      expect(told).toEqual([]);
    }
  });
});
