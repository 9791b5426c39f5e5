import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { rows } from '../support/database.js';
import { app, named, newPerson, startWays, stopWays } from '../support/ways-in.js';
import { cellsOf } from '../support/ways-in-table.js';

/** Every way in, of an account that must have a second factor, from a client that is no browser of the account. */
beforeAll(() => startWays({ unknownBrowser: 'notify' }));
afterAll(stopWays);

describe('an account that must have a second factor', () => {
  test.each(cellsOf('required'))('$name: $outcome', async ({ name, way, outcome }) => {
    // A way that waits for the code of an unknown browser is prepared by the rule itself.
    const isWaiting = /^(POST \/signin\/second-factor|completeSignIn), 2$/.test(name);
    const { id, ...person } = await newPerson();
    if (isWaiting) named.add(id);
    const { right } = await way({ id, ...person });
    const verified = 'UPDATE users SET email_verified_at = created_at WHERE id = :id';
    await rows(app.database, verified, { id });
    const before = (await app.auth.listSessions(id)).map((session) => session.id);
    named.add(id);
    const code = await right();
    const begun = (await app.auth.listSessions(id)).filter((session) => !before.includes(session.id));
    const waiting = await rows(
      app.database,
      "SELECT step FROM unfinished_sign_ins WHERE user_id = :id AND step = 'email_code'",
      { id },
    );
    const { core } = internalsOf(app.auth);
    const user = (await core.users.findRecord({ id }))?.user;
    const seen = begun.map((session) => {
      const open = user ? core.tasks.open(user, session) : [];
      return open.includes('enroll_second_factor') ? 'enrol' : `aal ${session.aal}, ${open.join()}`;
    });
    if (waiting.length > 0) seen.push('code');
    const allowed = outcome === 'aal 2' ? 'aal 2, ' : outcome;
    expect(code === 'ok' && seen.length > 0 ? seen : [code]).toEqual([allowed]);
  });
});
