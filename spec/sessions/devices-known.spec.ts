import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import type { Client } from '../../lib/context/call.js';
import { createToken, digestToken } from '../../lib/crypto/token.js';
import { isPending } from '../../lib/sessions/signed-in.js';
import { ada, password, sessionCookie } from '../support/app.js';
import { byUser } from '../support/changes.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { ago, DAY } from '../support/sessions.js';

const plugins = [password()] as const;
const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };

let app: MailApp<typeof plugins>;
let userId: string;
beforeEach(async () => {
  app = await startMailApp({ plugins });
  userId = (await app.auth.credential.signUp(ada))!.user.id;
  await app.auth.credential.signUp(eve);
});
afterEach(() => app.stop());

const cookieOf = (response: request.Response) => sessionCookie(response, 'latchkey-device')?.value ?? '';
const signIn = (device = '', who = ada) =>
  app.http
    .post('/auth/signin/credential')
    .set('cookie', device && `latchkey-device=${device}`)
    .send({ credential: who.email, password: who.password })
    .expect(200);
const newDevice = async (who = ada) => cookieOf(await signIn('', who));
const core = () => internalsOf(app.auth).core;
/** The notices of new devices, once all have been sent. */
const told = async (to = ada.email) => {
  await core().settle();
  return app.mails.filter((mail) => mail.kind === 'new-device' && mail.to === to);
};
const devices = () => app.auth.models.Device.unscoped();
const rowOf = (device: string) => ({ where: { tokenHash: digestToken(device) as never } });
const clientWith = (device: string): Client => {
  const request = { headers: { cookie: `latchkey-device=${device}` } };
  return { ip: null, userAgent: null, request };
};
const knewAt = (device: string, time: Date) =>
  core().context.forClient(clientWith(device), () => core().devices.knewAt(userId, time));

describe('a sign-in from a new device', () => {
  test('is told, except for the first session, and not where the account has signed in before', async () => {
    const device = await newDevice();
    expect(await told()).toEqual([]);
    await signIn(device);
    expect(await told()).toEqual([]);
    const evesDevice = await newDevice(eve);
    for (const [times, unknown] of ['', 'junk', createToken('lkd_'), evesDevice].entries()) {
      await signIn(unknown);
      expect(await told()).toHaveLength(times + 1);
    }
    expect(await told(eve.email)).toEqual([]);
  });

  test('has the hash of its link in its own row', async () => {
    await newDevice();
    const device = await newDevice();
    const [notice] = await told();
    expect(notice?.token).toMatch(/^lku_/);
    const row = (await devices().findOne(rowOf(device)))!.get({ plain: true });
    expect(row.undoTokenHash?.equals(digestToken(notice!.token))).toBe(true);
    expect((await app.auth.models.Device.findOne())!.toJSON()).not.toHaveProperty('undoTokenHash');
  });

  test('is told if the first session was that of a program', async () => {
    await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    await newDevice();
    expect(await told()).toHaveLength(1);
  });

  test('is told even if the account has been asleep for so long that all else is pruned', async () => {
    await newDevice();
    await newDevice();
    await devices().update({ lastUsedAt: ago(98 * DAY) }, { where: {} });
    await app.auth.revokeAllSessions(userId);
    await app.auth.prune();
    expect(await devices().count()).toBe(1);
    app.mails.length = 0;
    // What was kept is not looked at again until there is a newer one.
    await app.auth.prune();
    const isKept = async () => (await devices().unscoped().findAll()).map((one) => one.get('kept'));
    expect(await isKept()).toEqual([true]);
    await newDevice();
    expect(await told()).toHaveLength(1);
    expect(await isKept()).toEqual([null, null]);
    expect(await app.auth.prune()).toBe(1);
    expect(await devices().count()).toBe(1);
  });

  test('is told to all but the first of several first sign-ins at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => signIn()));
    expect(await told()).toHaveLength(4);
    expect(await devices().count()).toBe(5);
  });

  test('is told for a session of the app’s own when the browser gets it, and not for one without a browser', async () => {
    await newDevice();
    const issued = await app.auth.createSession(userId);
    expect(await told()).toEqual([]);
    await core().context.forClient(clientWith(''), () => core().gate.attach(issued));
    expect(await told()).toHaveLength(1);
  });

  test('is not told for the first session, which the app has made', async () => {
    const issued = await app.auth.createSession(userId);
    await core().context.forClient(clientWith(''), () => core().gate.attach(issued));
    expect(await told()).toEqual([]);
    expect(await devices().count()).toBe(1);
  });
});

describe('a forgotten device', () => {
  test('is that of every other browser, once the password has changed', async () => {
    const [own, other] = [app.browser(), await newDevice()];
    const body = { credential: ada.email, password: ada.password };
    const device = cookieOf(await own.post('/auth/signin/credential').send(body));
    const changed = { current_password: ada.password, new_password: 'a difference engine' };
    const before = new Date(core().database.clock.now());
    await own.post('/auth/passwords/change').send(changed).expect(200);
    const who = { ...ada, password: changed.new_password };
    app.mails.length = 0;
    expect(cookieOf(await signIn(device, who))).toBe(device);
    expect(await told()).toEqual([]);
    // It never comes back, but proves what it knew.
    const renewed = cookieOf(await signIn(other, who));
    expect(renewed).toMatch(/^lkd_/);
    expect(renewed).not.toBe(other);
    expect(await told()).toHaveLength(1);
    expect(await knewAt(other, before)).toBe(true);
    expect(await knewAt(device, before)).toBe(true);
    expect(await knewAt(renewed, before)).toBe(false);
    expect(await knewAt(createToken('lkd_'), before)).toBe(false);
    const later = new Date(core().database.clock.now() + 1000);
    expect(await knewAt(other, later)).toBe(false);
    expect(await knewAt(renewed, later)).toBe(true);
  });

  test('does not come back through another account in the same browser', async () => {
    const device = await newDevice();
    expect(cookieOf(await signIn(device, eve))).toBe(device);
    await byUser(app.auth, userId, (own) =>
      app.auth.users.setPassword(userId, ada.password, { keepSessions: true, ...own }),
    );
    expect(cookieOf(await signIn(device))).not.toBe(device);
    expect(cookieOf(await signIn(device, eve))).toBe(device);
  });

  test('is no proof of an account that never knew it, nor of a time when it had expired', async () => {
    const [device, evesDevice] = [await newDevice(), await newDevice(eve)];
    const now = new Date(core().database.clock.now() + 1);
    expect(await knewAt(device, now)).toBe(true);
    expect(await knewAt(evesDevice, now)).toBe(false);
    await devices().update({ createdAt: ago(200 * DAY), lastUsedAt: ago(91 * DAY) }, rowOf(device));
    expect(await knewAt(device, now)).toBe(false);
    expect(await knewAt(device, ago(2 * DAY))).toBe(true);
  });

  test('stays as a proof for seven days', async () => {
    const [early, late] = [await newDevice(), await newDevice()];
    await newDevice();
    await devices().update({ forgottenAt: ago(8 * DAY) }, rowOf(early));
    await devices().update({ forgottenAt: ago(6 * DAY) }, rowOf(late));
    await app.auth.prune();
    expect(await devices().count(rowOf(early))).toBe(0);
    expect(await devices().count(rowOf(late))).toBe(1);
  });

  test('of the owner outlives any number of sign-ins by an intruder', async () => {
    const device = await newDevice();
    const before = new Date(core().database.clock.now() + 1);
    const template = (await devices().findOne(rowOf(device)))!.get({ plain: true });
    await devices().bulkCreate(
      Array.from({ length: 200 }, (_, index) => ({
        ...template,
        id: `ffffffff-ffff-7000-8000-000000000${100 + index}`,
        tokenHash: digestToken(`intruder ${index}`),
        forgottenAt: index < 120 ? new Date() : null,
        createdAt: new Date(before.getTime() + 1000),
        lastUsedAt: new Date(before.getTime() + 1000),
      })),
    );
    await newDevice();
    expect(await devices().count({ where: { userId, forgottenAt: null as never } })).toBe(50);
    expect(await devices().count({ where: { userId } })).toBe(150);
    expect((await devices().findOne(rowOf(device)))!.get({ plain: true }).forgottenAt).not.toBeNull();
    expect(await knewAt(device, before)).toBe(true);
  });
});

test('a sign-in that a new password overtakes leaves no device', async () => {
  const record = (await core().users.findRecord({ id: userId }))!;
  await core().context.forClient(clientWith(''), async () => {
    const checked = await core().checkSignIn({ ...record, amr: ['pwd'] });
    await app.auth.users.setPassword(userId, 'a difference engine');
    const signedIn = await checked.begin(record);
    expect(isPending(signedIn) || signedIn.device).toBeNull();
  });
  expect(await devices().count()).toBe(0);
});

describe('notices to an address that nobody has verified', () => {
  test('are 30 an hour, so that nobody has a stranger’s mailbox flooded', async () => {
    const limited = await startMailApp({ plugins, config: { rateLimit: { signIn: false, signUp: false } } });
    await limited.auth.credential.signUp(ada);
    const enter = () =>
      limited.http.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password });
    const settle = () => internalsOf(limited.auth).core.settle();
    for (let times = 0; times < 35; times++) await enter().expect(200);
    await settle();
    expect(limited.mails).toHaveLength(30);
    const { id } = (await limited.auth.users.find({ email: ada.email }))!;
    await limited.auth.markEmailVerified(id);
    await enter().expect(200);
    await settle();
    expect(limited.mails).toHaveLength(31);
    await limited.stop();
  });
});
