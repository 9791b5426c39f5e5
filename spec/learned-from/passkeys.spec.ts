import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passkeys } from '../../lib/index.js';
import { password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { addPasskey, authenticator, optionsOf, PAGE } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';

// What contributing/learned-from.md says of passkeys. An authenticator in software makes real ones.
let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof passkeys>]>;
beforeAll(async () => {
  app = await startApp({ plugins: [password(), passkeys()], config: { baseUrl: PAGE } });
});
afterAll(() => app.stop());

let people = 0;
/** A user of their own with a session and, if wanted, a passkey. */
async function person({ hasPasskey = true } = {}) {
  const email = `person-${++people}@example.com`;
  const browser = await signedIn(app, { email, password: 'an analytical engine' });
  const device = authenticator();
  const passkey = hasPasskey ? await addPasskey(browser, device) : null;
  return { email, browser, device, id: passkey?.id as string };
}
const countOf = async () =>
  Number((await rows<{ n: number }>(app.database, 'SELECT COUNT(*) AS n FROM passkeys'))[0]?.n);

describe("a passkey is its owner's alone", () => {
  test('CVE-2021-3632: one is added by a recent session of the account alone, which also asked for it', async () => {
    const victim = await person({ hasPasskey: false });
    const mallory = await person({ hasPasskey: false });
    expectProblem(await app.http.post('/auth/passkeys/options').send({}), 401, 'unauthenticated');
    expectProblem(await app.http.post('/auth/passkeys').send({ response: {} }), 401, 'unauthenticated');
    // What Mallory's session asked for, in the victim's session and the other way round.
    const asked = await optionsOf(mallory.browser, '/passkeys/options');
    const response = mallory.device.create(asked);
    expectProblem(await victim.browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    const theirs = await optionsOf(victim.browser, '/passkeys/options');
    const made = mallory.device.create(theirs);
    expectProblem(
      await mallory.browser.post('/auth/passkeys').send({ response: made }),
      401,
      'invalid_passkey',
    );
    expect((await victim.browser.get('/auth/passkeys')).body.passkeys).toEqual([]);
    // A session that somebody has found does not begin with it.
    await rows(app.database, 'UPDATE sessions SET authenticated_at = :past', {
      past: new Date(Date.now() - 601_000),
    });
    expectProblem(
      await victim.browser.post('/auth/passkeys/options').send({}),
      403,
      'reauthentication_required',
    );
  });
});

describe('a challenge is ours, and is used once', () => {
  test('CVE-2022-42731: a registration that was used registers nothing again', async () => {
    const { browser, device } = await person({ hasPasskey: false });
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    await browser.post('/auth/passkeys').send({ response }).expect(201);
    const before = await countOf();
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    const { id } = (await browser.get('/auth/passkeys')).body.passkeys[0];
    await browser.delete(`/auth/passkeys/${id}`).expect(204);
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    expect(await countOf()).toBe(before - 1);
  });
});
