import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Auth, apiKeys } from '../../lib/index.js';
import { ada, password, type SpecApp, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { begin, type OAuthApp, pathOf, startWithOidc } from '../support/oauth-app.js';
import { type OidcServer, visitProvider } from '../support/oidc.js';

const ROUNDS = 12;
const plugins = [password(), apiKeys()] as const;

let app: MailApp<typeof plugins>;
let serial = 0;
beforeAll(async () => {
  app = await startMailApp({ plugins });
});
afterAll(() => app.stop());

const newEmail = () => `somebody-${++serial}@example.com`;
const statusesOf = (responses: readonly { status: number }[]) => responses.map(({ status }) => status).sort();

/** An account, and a browser that is signed in to it. */
async function account() {
  const email = newEmail();
  const { id } = await app.auth.users.create({ email, password: ada.password });
  const browser = app.browser();
  await browser
    .post('/auth/signin/credential')
    .send({ credential: email, password: ada.password })
    .expect(200);
  return { id, email, browser };
}

/** Asks for a change, and returns the token of its link. */
async function changeTo(email: string, browser: Awaited<ReturnType<typeof account>>['browser']) {
  await browser.post('/auth/email-changes').send({ new_email: email }).expect(202);
  return linkTo(email);
}

async function linkTo(email: string): Promise<string> {
  for (;;) {
    const mail = app.mails.find(({ kind, to }) => kind === 'verify-new-email' && to === email);
    if (mail) return mail.token;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

type Client = Awaited<ReturnType<typeof account>>['browser'];
const confirm = (token: string, browser: Client) =>
  browser.post('/auth/email-changes/confirm').send({ token });

/** Lets a round begin a little later than the one before. */
async function delay(auth: Auth, round: number) {
  for (let i = 0; i < round % 4; i++) await auth.users.get('nobody-in-particular'.padEnd(36, '0'));
  for (let i = 0; i < (round * 3) % 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

const OWNED = ['sessions', 'api_keys', 'accounts', 'one_time_tokens', 'known_devices'];

/** The tables with rows of users who do not exist. */
async function orphansIn({ database }: Pick<SpecApp<never>, 'database'>, tables: readonly string[]) {
  const found: string[] = [];
  for (const table of tables) {
    const sql = `SELECT t.user_id FROM ${table} t LEFT JOIN users u ON u.id = t.user_id
      WHERE u.id IS NULL AND t.user_id IS NOT NULL`;
    if ((await rows(database, sql)).length > 0) found.push(table);
  }
  return found;
}

describe('changes of email at once', () => {
  test('by one user leave one link that works: the newest', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, browser } = await account();
      const emails = Array.from({ length: 6 }, newEmail);
      const tokens = await Promise.all(emails.map((email) => changeTo(email, browser)));
      const left = await rows<{ email: string }>(
        app.database,
        'SELECT email FROM one_time_tokens WHERE user_id = :id',
        { id },
      );
      expect(left).toHaveLength(1);
      const winner = emails.indexOf(left[0]?.email ?? '');
      for (const [index, token] of tokens.entries())
        if (index !== winner) expect((await confirm(token, browser)).status).toBe(400);
      await confirm(tokens[winner] ?? '', browser).expect(200);
      expect((await app.auth.users.get(id))?.email).toBe(emails[winner]);
    }
  });

  test('by one link, confirmed 16 times, change it once', async () => {
    for (let round = 0; round < 3; round++) {
      const { id, browser } = await account();
      const email = newEmail();
      const token = await changeTo(email, browser);
      const responses = await Promise.all(Array.from({ length: 16 }, () => confirm(token, browser)));
      expect(statusesOf(responses).filter((status) => status === 200)).toHaveLength(1);
      // The others come too late for the link, or for the token of the session.
      expect(new Set(statusesOf(responses))).toEqual(new Set([200, ...statusesOf(responses).slice(1)]));
      for (const { status } of responses) expect([200, 400, 401]).toContain(status);
      expect((await app.auth.users.get(id))?.email).toBe(email);
      expect(await app.auth.listSessions(id)).toHaveLength(1);
    }
  });

  test('by several users and a sign-up, to one address: one gets it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const email = newEmail();
      const users = await Promise.all([account(), account(), account()]);
      const tokens: string[] = [];
      for (const { browser } of users) {
        tokens.push(await changeTo(email, browser));
        app.mails.length = 0;
      }
      const signUp = app.http.post('/auth/signup/credential').send({ email, password: ada.password });
      const [signedUp, ...confirmed] = await Promise.all([
        signUp,
        ...users.map(({ browser }, index) => confirm(tokens[index] ?? '', browser)),
      ]);
      const statuses = [signedUp.status === 201 ? 200 : signedUp.status, ...statusesOf(confirmed)].sort();
      expect(statuses).toEqual([200, 409, 409, 409]);
      expect(await rows(app.database, 'SELECT id FROM users WHERE email = :email', { email })).toHaveLength(
        1,
      );
      // Each link is used up, and whoever did not get the address is where they were.
      for (const [index, { browser, id, email: before }] of users.entries()) {
        if (confirmed[index]?.status === 200) continue;
        expect((await confirm(tokens[index] ?? '', browser)).status).toBe(400);
        expect((await app.auth.users.get(id))?.email).toBe(before);
      }
    }
  });
});

describe('a deletion', () => {
  test('during sign-ins leaves no session', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, email } = await account();
      const signIn = () =>
        app.browser().post('/auth/signin/credential').send({ credential: email, password: ada.password });
      const before = Array.from({ length: 3 }, () => signIn().then((response) => response));
      await delay(app.auth, round);
      const deletion = app.auth.users.delete(id);
      const after = Array.from({ length: 3 }, () => signIn().then((response) => response));
      await deletion;
      for (const { status, headers } of await Promise.all([...before, ...after])) {
        expect([200, 401]).toContain(status);
        if (status !== 200) continue;
        const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
        await app.http.get('/auth/me').set('cookie', cookie).expect(401);
      }
      expect(
        await orphansIn(
          app,
          OWNED.filter((table) => table !== 'accounts'),
        ),
      ).toEqual([]);
    }
  });

  test('while API keys are made, a password is changed and an email confirmed leaves nothing', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, browser } = await account();
      const token = await changeTo(newEmail(), browser);
      const makeKey = () =>
        browser
          .post('/auth/api-keys')
          .send({ name: 'program' })
          .then((response) => response);
      const makers = [
        makeKey(),
        makeKey(),
        confirm(token, browser).then((response) => response),
        browser
          .post('/auth/passwords/change')
          .send({ current_password: ada.password, new_password: 'a difference engine' })
          .then((response) => response),
        browser
          .post('/auth/email-changes')
          .send({ new_email: newEmail() })
          .then((response) => response),
        browser.patch('/auth/me').then((response) => response),
      ];
      await delay(app.auth, round);
      await app.auth.users.delete(id);
      const made = [...(await Promise.all(makers)), await makeKey()];
      for (const { status } of made) expect([200, 201, 202, 400, 401, 404, 405]).toContain(status);
      for (const { body } of made)
        if (body.key) await app.http.get('/auth/me').set('x-service-api-key', body.key).expect(401);
      expect(await app.auth.users.get(id)).toBeNull();
      expect(
        await orphansIn(
          app,
          OWNED.filter((table) => table !== 'accounts'),
        ),
      ).toEqual([]);
    }
  });

  test('by its user, while they sign out and change it, ends with nothing or with the account', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { id, browser } = await account();
      const [deleted] = await Promise.all([
        browser.delete('/auth/me').then((response) => response),
        browser.post('/auth/revoke-sessions').then((response) => response),
        app.auth.users.changeEmail(id, newEmail()).catch(() => undefined),
      ]);
      expect([204, 401]).toContain(deleted.status);
      expect((await app.auth.users.get(id)) === null).toBe(deleted.status === 204);
      expect(
        await orphansIn(
          app,
          OWNED.filter((table) => table !== 'accounts'),
        ),
      ).toEqual([]);
    }
  });
});

describe('a deletion of a user of a provider', () => {
  let withProvider: OAuthApp;
  let provider: OidcServer;
  beforeAll(async () => {
    ({ app: withProvider, provider } = await startWithOidc());
  });
  afterAll(async () => {
    await withProvider.stop();
    await provider.stop();
  });
  const tables = OWNED.filter((table) => table !== 'api_keys');

  test('during a link leaves no link', async () => {
    for (let round = 0; round < 6; round++) {
      const browser = await signedIn(withProvider, { email: newEmail(), password: ada.password });
      const { id } = (await browser.get('/auth/me')).body.user;
      const callback = pathOf(await visitProvider(await begin(browser, '/auth/oauth/oidc/link')));
      const returned = browser.get(callback).then((response) => response);
      await delay(withProvider.auth, round);
      await withProvider.auth.users.delete(id);
      const { status, headers } = await returned;
      expect([303, 400]).toContain(status);
      if (status === 303) expect(headers.location).toMatch(/^\/(\?error=invalid_flow)?$/);
      expect(await orphansIn(withProvider, tables)).toEqual([]);
      expect(await rows(withProvider.database, 'SELECT id FROM accounts')).toEqual([]);
    }
  });

  test('during a refresh and a sign-in ends the tokens, and a sign-in makes a new account at most', async () => {
    for (let round = 0; round < 6; round++) {
      const first = withProvider.browser();
      const signInAgain = async () =>
        pathOf(await visitProvider(await begin(first, '/auth/oauth/oidc/authorize')));
      await first.get(await signInAgain()).expect(303);
      const { id } = (await first.get('/auth/me').expect(200)).body.user;
      const callback = await signInAgain();
      const refresh = first.post('/auth/oauth/oidc/tokens/refresh').then((response) => response);
      const returned = first.get(callback).then((response) => response);
      await delay(withProvider.auth, round);
      await withProvider.auth.users.delete(id);
      expect([200, 401, 404, 409, 502]).toContain((await refresh).status);
      expect((await returned).status).toBe(303);
      expect(await withProvider.auth.users.get(id)).toBeNull();
      expect(await orphansIn(withProvider, tables)).toEqual([]);
      const left = await rows<{ user_id: string }>(withProvider.database, 'SELECT user_id FROM accounts');
      expect(left.length).toBeLessThanOrEqual(1);
      for (const { user_id } of left) await withProvider.auth.users.delete(user_id);
    }
  });
});
