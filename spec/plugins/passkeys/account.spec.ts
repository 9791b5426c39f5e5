import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import type { AuthEvents } from '../../../lib/index.js';
import { passkeys } from '../../../lib/index.js';
import { endWaiting } from '../../../lib/waiting/tables.js';
import { password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { Authenticator, type AuthenticatorOptions, base64url } from '../../support/authenticator.js';
import { rows } from '../../support/database.js';
import { takeMailbox } from '../../support/email-proof.js';
import { mailbox } from '../../support/mailbox.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';

const plugins = [password(), passkeys()] as const;
const mail = mailbox();
let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE, email: { send: mail.send } } });
});
afterAll(() => app.stop());

let people = 0;
let email: string;
let userId: string;
let sessionId: string;
let browser: Awaited<ReturnType<typeof signedIn>>;
let device: Authenticator;
beforeEach(async () => {
  email = `user-${people++}@example.com`;
  browser = await signedIn(app, { email, password: 'an analytical engine' });
  const { user, session } = (await browser.get('/auth/me').expect(200)).body;
  [userId, sessionId, device] = [user.id, session.id, authenticator()];
});
const verified = () => app.auth.markEmailVerified(userId);
const passkeysOf = (id = userId) => app.auth.passkeys.list(id);

describe('an account with an email that is not verified', () => {
  test('gets no passkey', async () => {
    expectProblem(await browser.post('/auth/passkeys/options'), 403, 'email_not_verified');
    await verified();
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    // It may be changed in the meantime.
    await rows(app.database, 'UPDATE users SET email_verified_at = NULL WHERE id = :userId', { userId });
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 403, 'email_not_verified');
    expect(await passkeysOf()).toEqual([]);
  });

  test('loses those that it had when the address is proved', async () => {
    await verified();
    await addPasskey(browser, device);
    await rows(
      app.database,
      'UPDATE users SET email_verified_at = NULL, mailbox_proved_at = NULL, email_vouched_at = NULL WHERE id = :userId',
      { userId },
    );
    await takeMailbox(app.auth, userId);
    expect(await passkeysOf()).toEqual([]);
    expectProblem(await signInWith(app.browser(), device), 401, 'unknown_passkey');
  });
});

test('an account without an email gets a passkey', async () => {
  const { id } = await app.auth.users.create({ passwordHash: null, email: 'later@example.com' });
  await rows(app.database, 'UPDATE users SET email = NULL WHERE id = :id', { id });
  const { session } = await app.auth.createSession(id);
  const owner = { userId: id, sessionId: session.id };
  const { options } = await app.auth.passkeys.registrationOptions(owner);
  expect(options.user.name).toBe('localhost');
  const response = device.create(options as never);
  await app.auth.passkeys.register({ ...owner, response });
  expect((await signInWith(app.browser(), device)).body.user).toMatchObject({ id, email: null });
});

describe('the owner is told', () => {
  beforeEach(verified);

  test('of a passkey that was added', async () => {
    const sent = await mail.mailOf(email, 'passkey-added', () => addPasskey(browser, device, 'my phone'));
    expect(sent.text).toContain('Passkey: my phone');
    expect(sent.subject).toBe('A passkey was added to your account - localhost');
    expect(sent.url).toMatch(/^http:\/\/localhost:3000\/undo-change\?token=lku_/);
    expect(sent.text).toContain(sent.url);
  });

  test('of a passkey that was removed', async () => {
    const { id } = await addPasskey(browser, device);
    const sent = await mail.mailOf(email, 'passkey-removed', () => browser.delete(`/auth/passkeys/${id}`));
    expect(sent.url).toMatch(/\?token=lku_/);
  });

  test('of nothing that was refused', async () => {
    await addPasskey(browser, device);
    const { id: credentialId } = device.credentials[0]!;
    const before = await rows(app.database, 'SELECT id FROM account_changes');
    const response = authenticator().create(await optionsOf(browser, '/passkeys/options'), { credentialId });
    await browser.post('/auth/passkeys').send({ response }).expect(409);
    expect(await rows(app.database, 'SELECT id FROM account_changes')).toEqual(before);
  });

  test('of what was written down, nothing can be read', async () => {
    await addPasskey(browser, device);
    await addPasskey(browser, authenticator());
    const dump = JSON.stringify(await rows(app.database, 'SELECT * FROM account_changes'));
    expect(dump).not.toContain(base64url(device.credentials[0]!.id));
  });
});

describe('undoing a change', () => {
  const undo = async (snapshot: unknown) => {
    const { core } = internalsOf(app.auth);
    const undo = core.contributions.find((one) => one.undo?.name === 'passkeys')?.undo;
    await core.database.transaction(async (transaction) => {
      const record = await core.users.lock(userId, transaction);
      // What every undo does before it restores the parts of plugins.
      await endWaiting(core, userId, transaction);
      const then = { record: record!, at: new Date(), part: snapshot, later: [] };
      await undo?.restore(then, transaction, null);
    });
  };
  const snapshot = async () => {
    const { core } = internalsOf(app.auth);
    const undo = core.contributions.find((one) => one.undo?.name === 'passkeys')?.undo;
    const taken = await core.database.transaction((transaction) => undo!.snapshot(userId, transaction));
    return JSON.parse(JSON.stringify(taken));
  };
  const stored = () =>
    rows(app.database, 'SELECT * FROM passkeys WHERE user_id = :userId ORDER BY id', { userId });
  beforeEach(verified);

  test('puts back what was there, and takes away what was not', async () => {
    const key = authenticator({ counter: 5 });
    const { id } = await addPasskey(browser, key, 'mine');
    await signInWith(app.browser(), key);
    const [before, state] = [await stored(), await snapshot()];
    await addPasskey(browser, device, 'of an intruder');
    await browser.delete(`/auth/passkeys/${id}`).expect(204);
    await undo(state);
    expect(await stored()).toEqual(before);
    expect((await signInWith(app.browser(), key)).status).toBe(200);
    expectProblem(await signInWith(app.browser(), device), 401, 'invalid_passkey');
  });

  test('ends challenges that are open', async () => {
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    await undo(await snapshot());
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
  });

  test('does not turn a counter back', async () => {
    const key = authenticator({ counter: 5, backupEligible: false });
    await addPasskey(browser, key);
    const state = await snapshot();
    await signInWith(app.browser(), key);
    await undo(state);
    const { counter } = key.credentials[0]!;
    expectProblem(await signInWith(app.browser(), key, { lies: { counter } }), 401, 'invalid_passkey');
  });

  test('takes a passkey back from an account that has got hold of its id', async () => {
    const { id } = await addPasskey(browser, device);
    const state = await snapshot();
    await browser.delete(`/auth/passkeys/${id}`).expect(204);
    const other = await signedIn(app, { email: `squatter-${email}`, password: 'an analytical engine' });
    const { id: otherId } = (await other.get('/auth/me')).body.user;
    await app.auth.markEmailVerified(otherId);
    const { id: credentialId } = device.credentials[0]!;
    const response = authenticator().create(await optionsOf(other, '/passkeys/options'), { credentialId });
    await other.post('/auth/passkeys').send({ response }).expect(201);
    await undo(state);
    expect((await signInWith(app.browser(), device)).body.user.id).toBe(userId);
    expect(await passkeysOf(otherId)).toEqual([]);
  });

  test('of the time before the plugin, leaves none', async () => {
    await addPasskey(browser, device);
    await undo(undefined);
    expect(await passkeysOf()).toEqual([]);
  });
});

describe('events', () => {
  const heard: [string, unknown][] = [];
  beforeAll(() => {
    for (const name of ['passkey.added', 'passkey.removed', 'sign_in.failed'] as (keyof AuthEvents)[])
      app.auth.on(name, (event) => heard.push([name, event]));
  });
  beforeEach(async () => {
    await verified();
    heard.length = 0;
  });

  test('name the user and the passkey', async () => {
    const { id: passkeyId } = await addPasskey(browser, device);
    await browser.delete(`/auth/passkeys/${passkeyId}`).expect(204);
    const details = { userId, passkeyId, ip: '127.0.0.1', userAgent: null };
    expect(heard).toEqual([
      ['passkey.added', details],
      ['passkey.removed', details],
    ]);
  });

  test('of a failed sign-in name the owner, if there is one', async () => {
    await addPasskey(browser, device);
    heard.length = 0;
    await signInWith(app.browser(), device, { lies: { userVerified: false } });
    await signInWith(app.browser(), device, { lies: { id: base64url(Buffer.alloc(32)) } });
    const details = { ip: '127.0.0.1', userAgent: null };
    expect(heard).toEqual([
      ['sign_in.failed', { userId, reason: 'user_verification', ...details }],
      ['sign_in.failed', { userId: null, reason: 'unknown', ...details }],
    ]);
  });

  test('are not emitted for junk, which nobody counts', async () => {
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    await browser.post('/auth/signin/passkey').send({ response: { ...response } });
    expect(heard).toEqual([]);
  });
});

describe('a session', () => {
  beforeEach(verified);

  test.each([
    [true, 'swk'],
    [false, 'hwk'],
  ])('says how it began, with a passkey that can be copied: %s', async (backupEligible, key) => {
    const its = authenticator({ backupEligible });
    await addPasskey(browser, its);
    const { body } = await signInWith(app.browser(), its);
    expect(body.session).toMatchObject({ aal: 2, amr: [key, 'user', 'mfa'] });
    const listed = (await browser.get('/auth/sessions').expect(200)).body.sessions;
    expect(listed[0]).toMatchObject({ aal: 2, amr: [key, 'user', 'mfa'], current: false });
    expect(listed.at(-1)).toMatchObject({ aal: 1, amr: ['pwd'] });
  });
});

describe('register() in code', () => {
  beforeEach(verified);

  test('is for the user and the session of the options only', async () => {
    const { options } = await app.auth.passkeys.registrationOptions({ userId, sessionId });
    const response = device.create(options as never);
    const other = await app.auth.users.create({ email: `other-${email}` });
    const elsewhere = (await app.auth.createSession(userId)).session.id;
    const register = (owner: { userId: string; sessionId: string }) =>
      app.auth.passkeys.register({ ...owner, response });
    for (const owner of [
      { userId: other.id, sessionId },
      { userId, sessionId: elsewhere },
    ])
      await expect(register(owner)).rejects.toMatchObject({ code: 'invalid_passkey' });
    await expect(register({ userId, sessionId })).resolves.toMatchObject({ name: 'Passkey' });
  });

  test('names the passkey after its authenticator, unless it gets a name', async () => {
    const known = { origin: PAGE, aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d' };
    const unknown = { origin: PAGE, aaguid: '11111111-2222-3333-4444-555555555555' };
    const add = async (options: AuthenticatorOptions, name?: string) => {
      const asked = await app.auth.passkeys.registrationOptions({ userId, sessionId });
      const response = new Authenticator(options).create(asked.options as never);
      return (await app.auth.passkeys.register({ userId, sessionId, response, name })).name;
    };
    await expect(add(known)).resolves.toBe('1Password');
    await expect(add(known, 'Mine')).resolves.toBe('Mine');
    await expect(add(unknown)).resolves.toBe('Passkey');
  });

  test('adds nothing in the name of a session that has ended', async () => {
    const { options } = await app.auth.passkeys.registrationOptions({ userId, sessionId });
    const response = device.create(options as never);
    await app.auth.revokeAllSessions(userId);
    const adding = app.auth.passkeys.register({ userId, sessionId, response });
    await expect(adding).rejects.toMatchObject({ code: 'invalid_session' });
    expect(await passkeysOf()).toEqual([]);
  });

  test('remove() removes nothing in the name of a session that has ended', async () => {
    const { id } = await addPasskey(browser, device);
    await app.auth.revokeAllSessions(userId);
    const removing = app.auth.passkeys.remove(userId, id, { sessionId });
    await expect(removing).rejects.toMatchObject({ code: 'invalid_session' });
    await app.auth.passkeys.remove(userId, id);
    expect(await passkeysOf()).toEqual([]);
  });

  test.each([undefined, null, {}, { response: null }, 'x', 7])(
    'refuses the response %j',
    async (response) => {
      const { pendingToken } = await app.auth.passkeys.signInOptions();
      const refusal = { code: 'invalid_passkey' };
      const given = response as never;
      await expect(app.auth.passkeys.register({ userId, sessionId, response: given })).rejects.toMatchObject(
        refusal,
      );
      await expect(app.auth.passkeys.signIn({ response: given, pendingToken })).rejects.toMatchObject(
        refusal,
      );
    },
  );
});
