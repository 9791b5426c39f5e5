import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rows } from '../support/database.js';
import { app, newPerson, startWays, stopWays } from '../support/ways-in.js';
import { cellsOf } from '../support/ways-in-table.js';

/** Every way in, from a client that is no browser of the account, whose email is verified. */
beforeAll(() => startWays());
afterAll(stopWays);

describe('in an unknown browser', () => {
  test.each(cellsOf('unknownBrowser'))('$name: $outcome', async ({ way, outcome }) => {
    const { id, ...person } = await newPerson();
    const { right } = await way({ id, ...person });
    const verified = 'UPDATE users SET email_verified_at = created_at WHERE id = :id';
    await rows(app.database, verified, { id });
    const before = (await app.auth.listSessions(id)).map((session) => session.id);
    const code = await right();
    const waiting = await rows(
      app.database,
      "SELECT step FROM unfinished_sign_ins WHERE user_id = :id AND step = 'email_code'",
      { id },
    );
    expect(code === 'ok' && waiting.length > 0 ? 'code' : code).toBe(outcome);
    if (outcome !== 'code') return;
    const begun = (await app.auth.listSessions(id)).filter((session) => !before.includes(session.id));
    expect(begun).toEqual([]);
  });
});
