// A sign-in is one change: the new session, the end of the browser's earlier one, the device, and the notice of that.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { lockWait } from '../support/lock-waits.js';
import { startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let userId: string;
beforeEach(async () => {
  app = await startMailApp({ plugins: [password()] });
  userId = (await app.auth.credential.signUp(ada))!.user.id;
});
afterEach(() => app.stop());

const signIn = (client: request.Agent | typeof app.http = app.http) =>
  client.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password });
const query = (sql: string) => app.database.sequelize.query(sql);
const idsIn = async (table: string) =>
  (await rows<{ id: string }>(app.database, `SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id);
const state = async () => ({
  sessions: await idsIn('sessions'),
  devices: await idsIn('known_devices'),
  notices: (await rows(app.database, "SELECT id FROM outbox WHERE kind = 'new-device'")).length,
});

describe.each(['known_devices', 'outbox', 'sessions'])('if %s cannot be written', (table) => {
  test('a sign-in in a new browser is 503, and leaves everything as it was', async () => {
    const browser = app.browser();
    await signIn(browser).expect(200);
    const cookie = { latchkey: sessionCookie(await signIn(browser).expect(200))?.value };
    const before = await state();
    // With the session, but not with the device.
    const again = () => signIn().set('cookie', `latchkey=${cookie.latchkey}`);

    await query(`ALTER TABLE ${table} RENAME TO elsewhere`);
    expectProblem(await again(), 503, 'unavailable');
    await query(`ALTER TABLE elsewhere RENAME TO ${table}`);
    expect(await state()).toEqual(before);
    await browser.get('/auth/me').expect(200);

    const answer = await again().expect(200);
    await browser.get('/auth/me').expect(401);
    const session = answer.body.session.id;
    const after = await state();
    expect(after.sessions).toEqual([session]);
    expect(after.devices).toHaveLength(before.devices.length + 1);
  });
});

test('without emails, a sign-in in a new browser is as much one change', async () => {
  const quiet = await startApp({ plugins: [password()] });
  await quiet.auth.credential.signUp(ada);
  const enter = () =>
    quiet.http.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password });
  await quiet.database.sequelize.query('ALTER TABLE known_devices RENAME TO elsewhere');
  expectProblem(await enter(), 503, 'unavailable');
  await quiet.database.sequelize.query('ALTER TABLE elsewhere RENAME TO known_devices');
  expect(await rows(quiet.database, 'SELECT id FROM sessions')).toEqual([]);
  await enter().expect(200);
  await quiet.stop();
});

test('a session of a user who has been deleted is not attached', async () => {
  const { core } = internalsOf(app.auth);
  const issued = await app.auth.createSession(userId);
  await app.auth.users.delete(userId);
  const request = { headers: {} };
  await expect(core.forClient({ request }, () => core.signInGate.attach(issued))).rejects.toMatchObject({
    code: 'invalid_session',
  });
  expect(await idsIn('known_devices')).toEqual([]);
});

test('a session that an app attaches to a browser later takes the place of its earlier one in one change', async () => {
  const { core } = internalsOf(app.auth);
  const { token, session } = await app.auth.credential.signIn({
    credential: ada.email,
    password: ada.password,
  });
  const issued = await app.auth.createSession(userId);
  const before = await state();
  const attach = () =>
    core.forClient({ request: { headers: { cookie: `latchkey=${token}` } } }, () =>
      core.signInGate.attach(issued),
    );

  await query('ALTER TABLE known_devices RENAME TO elsewhere');
  await expect(attach()).rejects.toMatchObject({ code: 'unavailable' });
  await query('ALTER TABLE elsewhere RENAME TO known_devices');
  expect(await state()).toEqual(before);
  expect(before.sessions).toContain(session.id);

  await attach();
  expect(await idsIn('sessions')).toEqual([issued.session.id]);
  expect(await idsIn('known_devices')).toHaveLength(1);
});

// SQLite has one writer at a time.
(dialect === 'sqlite' ? test.skip : test)(
  'a device is not known by a sign-in that what ended all sessions overtook',
  async () => {
    await signIn().expect(200);
    const reset = await app.database.sequelize.transaction();
    // The connection is made like those of the app, which are ended when a transaction is idle for three seconds.
    if (dialect === 'postgres')
      await app.database.sequelize.query('SET LOCAL idle_in_transaction_session_timeout = 0', {
        transaction: reset,
      });
    await app.database.sequelize.query('UPDATE users SET auth_epoch = auth_epoch + 1', {
      transaction: reset,
    });
    await app.database.sequelize.query('UPDATE known_devices SET forgotten_at = created_at', {
      transaction: reset,
    });
    const overtaken = signIn().then((answer) => answer);
    await lockWait(app.database);
    await reset.commit();

    const answer = await overtaken;
    expect(sessionCookie(answer, 'latchkey-device')).toBeUndefined();
    await app.http
      .get('/auth/me')
      .set('cookie', `latchkey=${sessionCookie(answer)?.value}`)
      .expect(401);
    expect(await rows(app.database, 'SELECT id FROM known_devices WHERE forgotten_at IS NULL')).toEqual([]);
  },
);
