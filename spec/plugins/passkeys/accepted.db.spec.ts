import { afterEach, describe, expect, test } from '@jest/globals';
import { admin, passkeys, suspension } from '../../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { type Authenticator, base64url } from '../../support/authenticator.js';
import { beforeChange } from '../../support/changes.js';
import { rows } from '../../support/database.js';
import { proveMailbox } from '../../support/email-proof.js';
import { mailbox } from '../../support/mailbox.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import { ago, DAY, SECOND } from '../../support/sessions.js';

// Which passkeys browsers should keep, and when a sign-in says that no account has one.
const plugins = [password(), passkeys(), suspension(), admin({ adminEmails: ['root@example.com'] })] as const;

let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;

async function start(config: object = {}, email: object = {}) {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: PAGE, ...config, email: { send: mails.send, ...email } },
  });
  return person();
}

/** A person with a passkey, in the browser in which they first signed in. */
async function person(account = ada) {
  const browser = await signedIn(app, account);
  const { id } = (await browser.get('/auth/me').expect(200)).body.user;
  await proveMailbox(app.auth, id);
  const phone = authenticator();
  const passkey = await addPasskey(browser, phone);
  return {
    id,
    browser,
    phone,
    credentialId: idOf(phone),
    remove: () => remove(browser, passkey.id, account),
  };
}

/** Removes a passkey, and returns the token of the notice about it. */
async function remove(browser: Browser, passkeyId: string, { email } = ada): Promise<string> {
  const mail = await mails.mailOf(email, 'passkey-removed', () =>
    browser.delete(`/auth/passkeys/${passkeyId}`).expect(204),
  );
  return mail.token as string;
}

const idOf = (device: Authenticator) => base64url(device.credentials[0]!.id);
const signalIn = async (browser: Browser) => (await browser.get('/auth/passkeys').expect(200)).body.signal;
const acceptedIn = async (browser: Browser): Promise<string[]> => (await signalIn(browser)).accepted;
const undo = (browser: Browser, token: string) =>
  browser.post('/auth/undo-change').send({ token, password: ada.password }).expect(200);
const endLinks = (kind: string) =>
  rows(app.database, 'UPDATE account_changes SET expires_at = :at WHERE kind = :kind', {
    at: ago(SECOND),
    kind,
  });
const refusal = async (device: Authenticator, code: string) =>
  expectProblem(await signInWith(app.browser(), device), code.startsWith('account') ? 403 : 401, code);

describe('the signal of GET /passkeys', () => {
  test('has the user handle of the options, and the passkeys of the account', async () => {
    const { browser, credentialId } = await start();
    const key = authenticator();
    const options = await optionsOf(browser, '/passkeys/options');
    await browser
      .post('/auth/passkeys')
      .send({ response: key.create(options) })
      .expect(201);
    expect(await signalIn(browser)).toEqual({
      rp_id: 'localhost',
      user_id: options.user.id,
      accepted: [idOf(key), credentialId],
    });
  });

  test('is that of the options before there is a passkey, and after the last one was removed', async () => {
    const { browser, id, phone, remove } = await start();
    const newcomer = await signedIn(app, { ...ada, email: 'new@example.com' });
    const { user } = (await newcomer.get('/auth/me').expect(200)).body;
    const before = await signalIn(newcomer);
    await proveMailbox(app.auth, user.id);
    const options = await optionsOf(newcomer, '/passkeys/options');
    expect(before).toEqual({ rp_id: 'localhost', user_id: options.user.id, accepted: [] });
    await remove();
    await app.auth.endUndo(id);
    const handle = base64url(phone.credentials[0]!.userHandle);
    expect(await signalIn(browser)).toEqual({ rp_id: 'localhost', user_id: handle, accepted: [] });
    expect((await optionsOf(browser, '/passkeys/options')).user.id).toBe(handle);
  });

  test('is that of the passkeys of a previous system, removed ones too', async () => {
    const { browser, id, credentialId, remove } = await start();
    await rows(app.database, `UPDATE passkeys SET user_handle = 'AAEC' WHERE user_id = :id`, { id });
    expect(await signalIn(browser)).toMatchObject({ user_id: 'AAEC' });
    await remove();
    expect(await signalIn(browser)).toMatchObject({ user_id: 'AAEC', accepted: [credentialId] });
    expect((await optionsOf(browser, '/passkeys/options')).user.id).toBe('AAEC');
  });

  test("has nobody else's passkeys, removed ones neither", async () => {
    const { browser, credentialId } = await start();
    const eve = await person({ email: 'eve@example.com', password: ada.password });
    expect(await acceptedIn(eve.browser)).toEqual([eve.credentialId]);
    await eve.remove();
    expect(await acceptedIn(browser)).toEqual([credentialId]);
    expect(await acceptedIn(eve.browser)).toEqual([eve.credentialId]);
  });
});

describe('a removed passkey', () => {
  test('is accepted while its link can restore it, and after it did', async () => {
    const { browser, id, phone, credentialId, remove } = await start();
    const token = await remove();
    expect(await acceptedIn(browser)).toEqual([credentialId]);
    await refusal(phone, 'invalid_passkey');
    await undo(browser, token);
    const again = app.browser();
    expect((await signInWith(again, phone)).status).toBe(200);
    expect(await acceptedIn(again)).toEqual([credentialId]);
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
  });

  test.each<[string, (id: string) => PromiseLike<unknown>]>([
    [
      'has expired',
      () => rows(app.database, 'UPDATE account_changes SET expires_at = :at', { at: ago(SECOND) }),
    ],
    ['was ended by support', (id) => app.auth.endUndo(id)],
    ['was ended by a change of the app', (id) => app.auth.users.setPassword(id, 'another analytical engine')],
  ])('is unknown once its link %s', async (_name, end) => {
    const { id, phone, remove } = await start();
    await remove();
    await end(id);
    await refusal(phone, 'unknown_passkey');
    expect(await acceptedIn(await signedInAgain(id))).toEqual([]);
  });

  test('is unknown if no notice is sent about it', async () => {
    const { browser, phone } = await start({}, { notices: ['password-changed'] });
    const [{ id } = { id: '' }] = (await browser.get('/auth/passkeys')).body.passkeys;
    await browser.delete(`/auth/passkeys/${id}`).expect(204);
    expect(await acceptedIn(browser)).toEqual([]);
    await refusal(phone, 'unknown_passkey');
  });

  test('is accepted while the link of an earlier change can restore it', async () => {
    const { browser, id, phone, credentialId, remove } = await start();
    const token = await beforeChange(app.auth, id);
    await remove();
    await endLinks('passkey-removed');
    expect(await acceptedIn(browser)).toEqual([credentialId]);
    await refusal(phone, 'invalid_passkey');
    await undo(browser, token);
    expect((await signInWith(app.browser(), phone)).status).toBe(200);
  });

  test('is unknown while only the link of a later change works', async () => {
    const { browser, id, phone, remove } = await start();
    await remove();
    await beforeChange(app.auth, id);
    await endLinks('passkey-removed');
    expect(await acceptedIn(browser)).toEqual([]);
    await refusal(phone, 'unknown_passkey');
  });

  test('is accepted while the link about a new device can restore it', async () => {
    const { browser, phone, credentialId, remove } = await start();
    await mails.mailOf(ada.email, 'new-device', () =>
      app
        .browser()
        .post('/auth/signin/credential')
        .send({ credential: ada.email, password: ada.password })
        .expect(200),
    );
    await remove();
    await endLinks('passkey-removed');
    await refusal(phone, 'invalid_passkey');
    expect(await acceptedIn(browser)).toEqual([credentialId]);
    await rows(app.database, 'UPDATE known_devices SET created_at = :at', { at: ago(8 * DAY) });
    expect(await acceptedIn(browser)).toEqual([]);
    await refusal(phone, 'unknown_passkey');
  });

  test('that an intruder had added is unknown after the undo', async () => {
    const { browser, id } = await start();
    const token = await beforeChange(app.auth, id);
    const stolen = authenticator();
    await addPasskey(browser, stolen);
    await undo(browser, token);
    await refusal(stolen, 'unknown_passkey');
  });

  test('is not made unknown by another account that has had its id', async () => {
    const { phone, credentialId, remove } = await start();
    await remove();
    const eve = await person({ email: 'eve@example.com', password: ada.password });
    const response = authenticator().create(await optionsOf(eve.browser, '/passkeys/options'), {
      credentialId: Buffer.from(credentialId, 'base64url'),
    });
    const { passkey } = (await eve.browser.post('/auth/passkeys').send({ response }).expect(201)).body;
    await eve.browser.delete(`/auth/passkeys/${passkey.id}`).expect(204);
    await app.auth.endUndo(eve.id);
    await refusal(phone, 'invalid_passkey');
  });
});

describe('the passkeys of an account that is', () => {
  test('suspended are known, and removed ones as long as a link can restore them', async () => {
    const { browser, id, phone, remove } = await start();
    const key = authenticator();
    await addPasskey(browser, key);
    const token = await remove();
    await app.auth.suspension.suspend(id);
    await refusal(key, 'account_suspended');
    await refusal(phone, 'invalid_passkey');
    await undo(browser, token);
    await refusal(phone, 'account_suspended');
  });

  test('closed are known until it is deleted', async () => {
    const { browser, phone } = await start({ accountDeletion: { graceDays: 10 } });
    await browser.delete('/auth/me').expect(204);
    await refusal(phone, 'account_deleted');
    await rows(app.database, 'UPDATE users SET deleted_at = :at', { at: ago(11 * DAY) });
    await app.auth.prune();
    await refusal(phone, 'unknown_passkey');
    expect(await rows(app.database, 'SELECT id FROM removed_passkeys')).toEqual([]);
  });

  test('restored are accepted while the link of its deletion works, though they were removed since', async () => {
    const { browser, id, phone, credentialId } = await start({ accountDeletion: { graceDays: 30 } });
    await browser.delete('/auth/me').expect(204);
    await app.auth.users.restore(id);
    const again = await signedInAgain(id);
    const [{ id: passkeyId } = { id: '' }] = (await again.get('/auth/passkeys')).body.passkeys;
    await remove(again, passkeyId);
    await endLinks('passkey-removed');
    await app.auth.prune();
    expect(await acceptedIn(again)).toEqual([credentialId]);
    await refusal(phone, 'invalid_passkey');
    await endLinks('account-deleted');
    expect(await acceptedIn(again)).toEqual([]);
    await refusal(phone, 'unknown_passkey');
  });
});

describe('unknown_passkey', () => {
  const wrong = { id: base64url(Buffer.alloc(32, 7)), rawId: base64url(Buffer.alloc(32, 7)) };

  test('says the same of a passkey that never was and of one that is gone', async () => {
    const { id, phone } = await start();
    const never = await signInWith(app.browser(), phone, { lies: wrong });
    await app.auth.users.delete(id);
    const gone = await signInWith(app.browser(), phone);
    expectProblem(gone, 401, 'unknown_passkey');
    expect(gone.text).toBe(never.text);
  });

  test('is the answer to a good challenge only, which it uses up', async () => {
    const { phone } = await start();
    const browser = app.browser();
    const response = phone.get(await optionsOf(browser, '/signin/passkey/options'), wrong);
    const send = (from: Browser) => from.post('/auth/signin/passkey').send({ response });
    expectProblem(await send(app.browser()), 401, 'invalid_passkey');
    expectProblem(await send(browser), 401, 'unknown_passkey');
    expectProblem(await send(browser), 401, 'invalid_passkey');
  });

  test('is no answer to a reauthentication', async () => {
    const { browser, phone } = await start();
    const passkey = phone.get(await optionsOf(browser, '/reauthenticate/options'), wrong);
    expectProblem(await browser.post('/auth/reauthenticate').send({ passkey }), 401, 'invalid_passkey');
  });
});

test('what is stored of a removed passkey is a hash, and deleted once no link can restore it', async () => {
  const { id, credentialId, remove } = await start();
  await remove();
  const stored = await rows(app.database, 'SELECT * FROM removed_passkeys');
  expect(stored).toMatchObject([{ user_id: id }]);
  expect(JSON.stringify(stored)).not.toContain(credentialId);
  await app.auth.prune();
  expect(await rows(app.database, 'SELECT id FROM removed_passkeys')).toHaveLength(1);
  await rows(app.database, 'UPDATE removed_passkeys SET expires_at = :at', { at: ago(SECOND) });
  await app.auth.prune();
  expect(await rows(app.database, 'SELECT id FROM removed_passkeys')).toEqual([]);
});

/** A browser with a fresh session of a user. */
async function signedInAgain(userId: string): Promise<Browser> {
  const { token } = await app.auth.createSession(userId);
  const browser = app.browser();
  browser.set('Cookie', `latchkey=${token}`);
  return browser;
}
