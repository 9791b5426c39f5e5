import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Op } from 'sequelize';
import type request from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import type { Client } from '../../lib/context/call.js';
import { createToken, digestToken } from '../../lib/crypto/token.js';
import { isPending } from '../../lib/sessions/signed-in.js';
import { ada, password, sessionCookie } from '../support/app.js';
import { byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
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
const forgetMails = async () => {
  await core().settle();
  app.mails.length = 0;
};
const devices = () => app.auth.models.Device.unscoped();
const rowOf = (device: string) => ({ where: { tokenHash: digestToken(device) as never } });
const clientWith = (device: string): Client => {
  const request = { headers: { cookie: `latchkey-device=${device}` } };
  return { ip: null, userAgent: null, request };
};
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
    await forgetMails();
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
    await core().context.forClient(clientWith(''), () => core().signInGate.attach(issued));
    expect(await told()).toHaveLength(1);
  });

  test('is not told for the first session, which the app has made', async () => {
    const issued = await app.auth.createSession(userId);
    await core().context.forClient(clientWith(''), () => core().signInGate.attach(issued));
    expect(await told()).toEqual([]);
    expect(await devices().count()).toBe(1);
  });
});

describe('the token of a browser', () => {
  /** Makes the former tokens be accepted until a time. */
  const endFormer = async (at: Date) => {
    await devices().update({ tokenUntil: at }, { where: { tokenUntil: { [Op.not]: null } } });
    await app.auth.models.DeviceToken.update({ expiresAt: at }, { where: { expiresAt: { [Op.not]: null } } });
  };
  const passDay = () => endFormer(new Date(Date.now() + 6 * DAY));
  const passWeek = () => endFormer(ago(1000));

  const isKnown = async (device: string, who: string) => {
    const found = await core().devices.knows(digestToken(device), who);
    return found;
  };

  test('is a new one whenever an account comes to be known in it, for all accounts there', async () => {
    const planted = await newDevice(eve);
    const own = cookieOf(await signIn(planted));
    expect(own).toMatch(/^lkd_/);
    expect(own).not.toBe(planted);
    const { id: evesId } = (await app.auth.users.find({ email: eve.email }))!;
    // Whoever has planted the first one has nothing of the account that came.
    expect(await isKnown(planted, userId)).toBe(false);
    expect(await isKnown(own, userId)).toBe(true);
    expect(await isKnown(own, evesId)).toBe(true);
    // The browser might not have got the new one.
    expect(await isKnown(planted, evesId)).toBe(true);
    await passWeek();
    expect(await isKnown(planted, evesId)).toBe(false);
  });

  test('stays as it is when a known account signs in', async () => {
    const device = await newDevice();
    expect(cookieOf(await signIn(device))).toBe(device);
  });

  test('is replaced again for a browser that did not get the new one', async () => {
    const first = await newDevice(eve);
    await signIn(first);
    await forgetMails();
    const again = cookieOf(await signIn(first, eve));
    expect(again).not.toBe(first);
    expect(await told(eve.email)).toEqual([]);
    expect(cookieOf(await signIn(again, eve))).toBe(again);
  });

  /** Ada's browser of 40 days. */
  const oldBrowser = async () => {
    const device = await newDevice();
    await devices().update({ createdAt: ago(40 * DAY) }, rowOf(device));
    await rows(app.database, 'UPDATE users SET created_at = :at', { at: ago(40 * DAY) });
    return device;
  };
  const forgetAll = () =>
    byUser(app.auth, userId, (own) => app.auth.users.setPassword(userId, ada.password, own));
  /** Whether a browser proves who undoes a change of Ada's account. */
  const proves = (value: string) =>
    core().context.forClient(
      clientWith(value),
      async () => (await core().devices.proves(userId, new Date())) !== null,
    );

  test('leads back to an account that had forgotten the browser, as a proof and no more', async () => {
    const device = await oldBrowser();
    await forgetAll();
    await forgetMails();
    const renewed = cookieOf(await signIn(device));
    expect(renewed).not.toBe(device);
    expect(await told()).toHaveLength(1);
    for (const token of [device, renewed]) expect(await proves(token)).toBe(true);
    expect(await proves(createToken('lkd_'))).toBe(false);
    await passWeek();
    expect(await proves(device)).toBe(false);
    expect(await proves(renewed)).toBe(true);
    // Whoever has the former one gets nothing for it.
    const mallorys = cookieOf(await signIn(device, eve));
    expect(await proves(mallorys)).toBe(false);
    expect(await proves(renewed)).toBe(true);
  });

  test('that is former and over is of no use to whoever has it', async () => {
    const device = await oldBrowser();
    const renewed = cookieOf(await signIn(device, eve));
    await passWeek();
    await forgetAll();
    const { id: other } = (await app.auth.credential.signUp({ ...eve, email: 'mallory@example.com' }))!.user;
    const mallorys = cookieOf(await signIn(device, { ...eve, email: 'mallory@example.com' }));
    expect(other).not.toBe(userId);
    for (const token of [device, mallorys]) expect(await proves(token)).toBe(false);
    expect(await proves(renewed)).toBe(true);
  });

  test('that is former stays good for its week, though answers are lost again', async () => {
    const device = await oldBrowser();
    await signIn(device, eve);
    // Later than two sign-ins at once.
    await passDay();
    await signIn(device);
    expect(await proves(device)).toBe(true);
    expect(await isKnown(device, userId)).toBe(true);
  });

  test('is a proof for an account that had forgotten the browser, though an answer is lost', async () => {
    const device = await oldBrowser();
    await forgetAll();
    await signIn(device);
    await passDay();
    const renewed = cookieOf(await signIn(device));
    await passWeek();
    expect(await proves(renewed)).toBe(true);
  });

  test('stays known to all accounts there, though the answer to one that came is lost', async () => {
    const device = await oldBrowser();
    await signIn(device, eve);
    await passDay();
    const renewed = cookieOf(await signIn(device, eve));
    await passWeek();
    expect(await proves(renewed)).toBe(true);
    expect(await isKnown(renewed, userId)).toBe(true);
  });

  test('is not replaced by sign-ins of a known account in the same millisecond', async () => {
    const device = await newDevice();
    const user = (await app.auth.users.find({ email: ada.email }))!;
    const recognized = await Promise.all(
      Array.from({ length: 30 }, () =>
        core().context.forClient(clientWith(device), () => core().devices.recognize(user)),
      ),
    );
    for (const one of recognized) expect(one).toEqual({ cookie: device, isNew: false });
  });

  test('does not refuse sign-ins, however often a browser is forgotten and answers are lost', async () => {
    const device = await oldBrowser();
    const values = [device];
    for (const at of [0, 0, 1, 0, 2, 1, 3]) {
      await forgetAll();
      values.push(cookieOf(await signIn(values[at]!).expect(200)));
      await signIn(values[at]!).expect(200);
      await passDay();
    }
    for (const value of values) expect(await proves(value)).toBe(true);
  });

  test('is known, whichever of those that sign-ins at once gave it the browser keeps', async () => {
    const device = await oldBrowser();
    const emails = ['bob@example.com', 'carol@example.com', 'dan@example.com'];
    const given = [];
    for (const email of emails) {
      await app.auth.credential.signUp({ ...eve, email });
      given.push(cookieOf(await signIn(device, { ...eve, email })));
    }
    await passWeek();
    for (const value of given) expect(await proves(value)).toBe(true);
    expect(await proves(device)).toBe(false);
  });

  test('gives a stranger who has copied the former one no time, and takes nothing from the browser', async () => {
    const device = await oldBrowser();
    const renewed = cookieOf(await signIn(device, eve));
    await passDay();
    await app.auth.credential.signUp({ ...eve, email: 'mallory@example.com' });
    const copied = cookieOf(await signIn(device, { ...eve, email: 'mallory@example.com' }));
    expect(await isKnown(renewed, userId)).toBe(true);
    await passWeek();
    for (const token of [device, copied]) expect(await isKnown(token, userId)).toBe(false);
    expect(await isKnown(renewed, userId)).toBe(true);
  });

  test('that is former, in an undo, does not take the place of the present one', async () => {
    const device = await oldBrowser();
    const renewed = cookieOf(await signIn(device, eve));
    const { token } = await mailedChange();
    await app.http
      .post('/auth/undo-change')
      .set('cookie', `latchkey-device=${device}`)
      .send({ token, password: ada.password })
      .expect(200);
    await passWeek();
    expect(await proves(device)).toBe(false);
    expect(await proves(renewed)).toBe(true);
  });

  const mailedChange = async () => {
    await forgetMails();
    await byUser(app.auth, userId, (own) =>
      app.auth.users.setPassword(userId, 'a difference engine', { keepSessions: true, ...own }),
    );
    await core().settle();
    return app.mails.find(({ kind }) => kind === 'password-changed')!;
  };
});

describe('a forgotten device', () => {
  test('is that of every other browser, once the password has changed', async () => {
    const [own, other] = [app.browser(), await newDevice()];
    const body = { credential: ada.email, password: ada.password };
    const device = cookieOf(await own.post('/auth/signin/credential').send(body));
    const changed = { current_password: ada.password, new_password: 'a difference engine' };
    await own.post('/auth/passwords/change').send(changed).expect(200);
    const who = { ...ada, password: changed.new_password };
    await forgetMails();
    expect(cookieOf(await signIn(device, who))).toBe(device);
    expect(await told()).toEqual([]);
    const renewed = cookieOf(await signIn(other, who));
    expect(renewed).not.toBe(other);
    expect(await told()).toHaveLength(1);
  });

  test('stays as a proof for 37 days', async () => {
    const [early, late] = [await newDevice(), await newDevice()];
    await newDevice();
    await devices().update({ forgottenAt: ago(38 * DAY) }, rowOf(early));
    await devices().update({ forgottenAt: ago(36 * DAY) }, rowOf(late));
    await app.auth.prune();
    expect(await devices().count(rowOf(early))).toBe(0);
    expect(await devices().count(rowOf(late))).toBe(1);
  });

  test('of the owner outlives any number of sign-ins by an intruder', async () => {
    const first = await newDevice();
    const own = await newDevice();
    await devices().update({ createdAt: ago(41 * DAY) }, rowOf(first));
    await devices().update({ createdAt: ago(40 * DAY), lastUsedAt: ago(20 * DAY) }, rowOf(own));
    const template = (await devices().findOne(rowOf(own)))!.get({ plain: true });
    await devices().bulkCreate(
      Array.from({ length: 200 }, (_, index) => ({
        ...template,
        id: `ffffffff-ffff-7000-8000-000000000${100 + index}`,
        tokenHash: digestToken(`intruder ${index}`),
        forgottenAt: index < 120 ? new Date() : null,
        createdAt: new Date(),
        lastUsedAt: new Date(),
      })),
    );
    await newDevice();
    // 50 new ones, and those known for long.
    expect(await devices().count({ where: { userId, forgottenAt: null as never } })).toBe(52);
    for (const one of [first, own])
      expect((await devices().findOne(rowOf(one)))?.get({ plain: true })).toMatchObject({
        forgottenAt: null,
      });
    expect(await devices().count({ where: { userId } })).toBe(152);
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
