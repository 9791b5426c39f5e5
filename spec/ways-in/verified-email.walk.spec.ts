import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rows } from '../support/database.js';
import { app, newPerson, startWays, stopWays } from '../support/ways-in.js';
import { cellsOf } from '../support/ways-in-table.js';

/** Every way in, where only verified emails may sign in. */
beforeAll(() => startWays({ requireVerifiedEmail: true }));
afterAll(stopWays);

describe('an account whose email is not verified', () => {
  test.each(cellsOf('verifiedEmail'))('$name: $outcome', async ({ way, outcome }) => {
    const { id, ...person } = await newPerson();
    const { wrong, right } = await way({ id, ...person });
    await rows(app.database, 'UPDATE users SET email_verified_at = NULL WHERE id = :id', { id });
    const before = await app.auth.listSessions(id);
    if (wrong) expect(await wrong[0]()).toBe(wrong[1]);
    expect(await right()).toBe(outcome);
    if (outcome !== 'ok') expect(await app.auth.listSessions(id)).toEqual(before);
  });
});
