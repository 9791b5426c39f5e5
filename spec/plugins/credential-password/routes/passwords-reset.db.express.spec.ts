import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthEvents, apiKeys, oauth } from '../../../../lib/index.js';
import { oidc } from '../../../../lib/providers.js';
import { ada, password, signedIn } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { type MailApp, startMailApp } from '../../../support/mail-app.js';
import { expectProblem } from '../../../support/problem.js';
import { settled } from '../../../support/sessions.js';

const plugins = [
  password({ sendVerificationOnSignUp: true }),
  apiKeys(),
  oauth(),
  oidc({ id: 'oidc', issuer: 'https://id.example.com', clientId: 'id', clientSecret: 'secret' }),
] as const;
const REQUEST = '/auth/passwords/request-reset';
const RESET = '/auth/passwords/reset';
const NEW_PASSWORD = 'a difference engine';

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({ plugins, config: { session: { touchInterval: 1 } } });
});
afterAll(() => app.stop());

let people = 0;
let email: string;
let browser: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
beforeEach(async () => {
  email = `person-${++people}@example.com`;
  await app.mailOf(async () => {
    browser = await signedIn(app, { email, password: ada.password });
  });
  userId = (await browser.get('/auth/me')).body.user.id;
});

const requestReset = (to = email) => app.http.post(REQUEST).send({ email: to });
const tokenFor = async (to = email) => (await app.mailOf(() => requestReset(to).expect(202))).token;
const reset = (token: string, new_password = NEW_PASSWORD) =>
  app.http.post(RESET).send({ token, new_password });
const signIn = (given: string) =>
  app.http.post('/auth/signin/credential').send({ credential: email, password: given });
const invalid = async (token: string) => expectProblem(await reset(token), 400, 'invalid_token');
const countOf = async (table: string) =>
  Number(
    (
      await rows<{ n: number }>(app.database, `SELECT COUNT(*) AS n FROM ${table} WHERE user_id = :userId`, {
        userId,
      })
    )[0]?.n,
  );

describe('POST /passwords/reset', () => {
  test('sets the password, ends all sessions, and verifies the email', async () => {
    const token = await tokenFor();
    const answer = await reset(token);
    expect([answer.status, answer.text, answer.headers['set-cookie']]).toEqual([204, '', undefined]);
    expectProblem(await browser.get('/auth/me'), 401, 'invalid_session');
    expectProblem(await signIn(ada.password), 401, 'invalid_credentials');
    const { body } = await signIn(NEW_PASSWORD).expect(200);
    expect(body.user.email_verified_at).toMatch(/^\d{4}-.*Z$/);
    await invalid(token);
  });

  test('invalidates the user’s other tokens, and no one else’s', async () => {
    const verification = (await app.mailOf(() => browser.post('/auth/email-verifications').expect(202)))
      .token;
    const [first, second] = [await tokenFor(), await tokenFor()];
    const other = { email: `other-${people}@example.com`, password: ada.password };
    await app.mailOf(() => app.http.post('/auth/signup/credential').send(other));
    const theirs = await tokenFor(other.email);
    await reset(second).expect(204);
    await invalid(first);
    const verify = app.http.post('/auth/verify-email').send({ token: verification, password: NEW_PASSWORD });
    expectProblem(await verify, 400, 'invalid_token');
    await reset(theirs).expect(204);
    expect(await countOf('one_time_tokens')).toBe(0);
  });

  test('succeeds for one of 16 concurrent requests with the same token', async () => {
    const token = await tokenFor();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => reset(token, `the password of try ${index}`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(15);
    await signIn(`the password of try ${statuses.indexOf(204)}`).expect(200);
  });

  test('succeeds for one of 8 concurrent requests with different tokens of the same user', async () => {
    const tokens = [];
    for (let index = 0; index < 8; index++) tokens.push(await tokenFor());
    const statuses = (await Promise.all(tokens.map((token) => reset(token)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, ...Array(7).fill(400)]);
  });

  test('does not use up the token if the new password is rejected', async () => {
    const token = await tokenFor();
    for (const bad of ['short', 'password1', email, 'x'.repeat(257)]) {
      const { errors } = expectProblem(await reset(token, bad), 422, 'validation_failed');
      expect(errors).toHaveLength(1);
      expect(errors?.[0]?.pointer).toBe('/new_password');
    }
    await signIn(ada.password).expect(200);
    await reset(token).expect(204);
  });

  test('rejects expired and malformed tokens and tokens for another purpose', async () => {
    const verification = (await app.mailOf(() => browser.post('/auth/email-verifications').expect(202)))
      .token;
    await invalid(verification);
    const token = await tokenFor();
    const verify = browser.post('/auth/verify-email').send({ token, password: ada.password });
    expectProblem(await verify, 400, 'invalid_token');
    for (const junk of [
      'junk',
      `lkm_${'A'.repeat(48)}`,
      token.slice(0, -1),
      token.toUpperCase(),
      `${token} `,
      "' OR 1=1 --",
    ])
      await invalid(junk);
    const hour = new Date(Date.now() - 1);
    await rows(app.database, 'UPDATE one_time_tokens SET expires_at = :end WHERE user_id = :userId', {
      userId,
      end: hour.toISOString().replace('T', ' ').replace('Z', ''),
    });
    await invalid(token);
    await signIn(ada.password).expect(200);
  });

  test('accepts a token for one hour, and expired tokens are pruned', async () => {
    await app.auth.prune();
    await tokenFor();
    const [row] = await rows<{ expires_at: string | Date; purpose: string }>(
      app.database,
      "SELECT expires_at, purpose FROM one_time_tokens WHERE user_id = :userId AND purpose = 'reset-password'",
      { userId },
    );
    const end = new Date(String(row?.expires_at).replace(/ \+00:00$/, 'Z')).getTime();
    expect(Math.abs(end - Date.now() - 3600_000)).toBeLessThan(20_000);
    await rows(
      app.database,
      "UPDATE one_time_tokens SET expires_at = '2020-01-01 00:00:00' WHERE user_id = :userId",
      {
        userId,
      },
    );
    expect(await app.auth.prune()).toBe(2);
    expect(await countOf('one_time_tokens')).toBe(0);
  });

  test('rejects a token that was sent to a previous address', async () => {
    const token = await tokenFor();
    await app.auth.models.User.update({ email: `moved-${people}@example.com` }, { where: { id: userId } });
    await invalid(token);
  });

  test('stores only a hash of the token', async () => {
    const token = await tokenFor();
    const stored = await rows(app.database, 'SELECT * FROM one_time_tokens');
    const dump = JSON.stringify(stored, (_key, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    );
    expect(dump).toContain(email);
    expect(dump).not.toContain(token.slice(4));
    expect(app.log.join()).not.toContain(token.slice(4));
  });

  test('emits events', async () => {
    const events: [string, object][] = [];
    const names: (keyof AuthEvents)[] = ['password.reset', 'session.revoked', 'user.email_verified'];
    const offs = names.map((name) => app.auth.on(name, (event) => events.push([name, event])));
    await reset(await tokenFor())
      .set('user-agent', 'a browser')
      .expect(204);
    await settled(app.auth);
    expect(events.map(([name]) => name).sort()).toEqual([...names].sort());
    for (const [, event] of events) expect(event).toMatchObject({ userId });
    expect(events.find(([name]) => name === 'password.reset')?.[1]).toEqual({
      userId,
      ip: '127.0.0.1',
      userAgent: 'a browser',
    });
    for (const off of offs) off();
  });
});

describe('a reset of an account that someone else may have created', () => {
  /** Adds everything that a stranger could leave behind in an account. */
  const leaveWaysIn = async () => {
    const { body } = await browser.post('/auth/api-keys').send({ name: 'a way back in' }).expect(201);
    await rows(
      app.database,
      `INSERT INTO accounts (id, user_id, provider, issuer, subject, scopes, relink_required,
         refreshed_at, created_at, updated_at)
       VALUES (:id, :userId, 'oidc', 'https://id.example.com', :subject, '', FALSE,
         '2026-01-01 00:00:00', '2026-01-01 00:00:00', '2026-01-01 00:00:00')`,
      { id: `01900000-0000-7000-8000-${String(people).padStart(12, '0')}`, userId, subject: `eve-${people}` },
    );
    return body.key as string;
  };
  const me = (key: string) => app.http.get('/auth/me').set('x-service-api-key', key);

  test('removes the password, sessions, API keys and links of the user who signed up with the address', async () => {
    const key = await leaveWaysIn();
    await me(key).expect(200);
    await reset(await tokenFor()).expect(204);
    expectProblem(await browser.get('/auth/me'), 401, 'invalid_session');
    expectProblem(await me(key), 401, 'invalid_api_key');
    expectProblem(await signIn(ada.password), 401, 'invalid_credentials');
    expect([await countOf('api_keys'), await countOf('accounts'), await countOf('sessions')]).toEqual([
      0, 0, 0,
    ]);
  });

  test('keeps API keys and links if the owner of the mailbox had verified the address', async () => {
    const { token } = await app.mailOf(() => browser.post('/auth/email-verifications').expect(202));
    await browser.post('/auth/verify-email').send({ token, password: ada.password }).expect(200);
    const key = await leaveWaysIn();
    await reset(await tokenFor()).expect(204);
    await me(key).expect(200);
    expect([await countOf('api_keys'), await countOf('accounts'), await countOf('sessions')]).toEqual([
      1, 1, 0,
    ]);
  });

  test('ends a sign-in with the old password that is in progress', async () => {
    const token = await tokenFor();
    const [signingIn] = await Promise.all([signIn(ada.password), reset(token).expect(204)]);
    const cookie = signingIn.headers['set-cookie']?.[0]?.split(';')[0] ?? 'latchkey=';
    await app.http.get('/auth/me').set('cookie', cookie).expect(401);
  });
});
