import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rows } from '../support/database.js';
import { app, named, newPerson, startWays, stopWays } from '../support/ways-in.js';
import { outcomeOf, WAYS } from '../support/ways-in-table.js';

/** Every way in, to an account with a second factor, from a browser that its user trusts. */
let device: string | null = null;
beforeAll(async () => {
  await startWays({ unknownBrowser: 'notify' });
  // Every request comes from the trusted browser, whichever client sends it.
  app.server.prependListener('request', ({ headers }: IncomingMessage) => {
    const others = headers.cookie ? `${headers.cookie}; ` : '';
    if (device) headers.cookie = `${others}latchkey-device=${device}`;
  });
});
afterAll(stopWays);

/** Makes the account's browser a trusted one, as a sign-in with `trust_device` does. */
const trust = (id: string) =>
  rows(
    app.database,
    `UPDATE known_devices SET trusted_until = :until,
       trusted_epoch = (SELECT u.auth_epoch FROM users u WHERE u.id = user_id) WHERE user_id = :id`,
    { id, until: new Date(Date.now() + 3_600_000) },
  );

// Only the route for passwords, because the calls from code pass no request.
const BY_PASSWORD = /^POST \/signin\/credential/;

describe.each([false, true])('an account with a second factor, which it must have: %s', (isRequired) => {
  // The others begin no session.
  const signIns = WAYS.filter(({ secondFactor }) => /^(pending|aal)/.test(outcomeOf(secondFactor)));

  test.each(signIns)('$name', async ({ name, way, secondFactor }) => {
    const { id, ...person } = await newPerson();
    const { right } = await way({ id, ...person });
    const times = ['second_factor_at', 'email_verified_at', 'mailbox_proved_at'].map(
      (at) => `${at} = created_at`,
    );
    await rows(app.database, `UPDATE users SET ${times} WHERE id = :id`, { id });
    await trust(id);
    if (isRequired) named.add(id);
    const before = await app.auth.listSessions(id);
    const waiting = () =>
      rows(app.database, 'SELECT user_id FROM unfinished_sign_ins WHERE user_id = :id', { id });
    const pending = (await waiting()).length;
    ({ device } = person);
    const code = await right();
    device = null;
    const begun = (await app.auth.listSessions(id)).filter(
      ({ id: one }) => !before.some((it) => it.id === one),
    );
    const seen = begun.map(({ aal, authenticatedAt }) =>
      authenticatedAt.getTime() === 0 ? `aal ${aal}, not fresh` : `aal ${aal}`,
    );
    if ((await waiting()).length > pending) seen.push('pending');
    const isTrusted = BY_PASSWORD.test(name) && !isRequired;
    expect([code, ...seen]).toEqual(['ok', isTrusted ? 'aal 1, not fresh' : outcomeOf(secondFactor)]);
    if (isTrusted) expect(begun[0]?.amr).toEqual(['pwd']);
  });
});
