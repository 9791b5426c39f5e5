import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, suspension } from '../../../lib/index.js';
import { ada, password, sessionCookie, signedIn } from '../../support/app.js';
import { type MailApp, startMailApp } from '../../support/mail-app.js';
import { mailedLink } from '../../support/mailed-link.js';

const plugins = [
  password(),
  admin({ adminEmails: ['root@example.com'] }),
  apiKeys(),
  suspension(),
  mailedLink(),
] as const;
const ROUNDS = 6;
const AT_ONCE = 6;
const NEW = 'a difference engine';

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({ plugins });
});
afterAll(() => app.stop());

/** What an attempt got hold of: a header that may open the account. */
type Loot = Record<string, string> | null;

let people = 0;
async function newPerson() {
  const account = { email: `person${people++}@example.com`, password: ada.password };
  const browser = await signedIn(app, account);
  const { id } = (await browser.get('/auth/me').expect(200)).body.user;
  return { ...account, id: id as string, browser };
}
type Person = Awaited<ReturnType<typeof newPerson>>;

const linkTo = async (path: string, { email }: Person) =>
  (await app.mailOf(() => app.http.post(`/auth${path}`).send({ email }).expect(202))).token;
const cookieOf = (answer: Parameters<typeof sessionCookie>[0]): Loot => {
  const cookie = sessionCookie(answer);
  return cookie?.value ? { cookie: `latchkey=${cookie.value}` } : null;
};

const ATTEMPTS: Record<string, (person: Person) => Promise<() => Promise<Loot>>> = {
  'a sign-in': async ({ email, password }) => {
    return async () =>
      cookieOf(await app.http.post('/auth/signin/credential').send({ credential: email, password }));
  },
  'a session made by code': async ({ id }) => {
    return async () => {
      const issued = await app.auth.createSession(id).catch(() => null);
      return issued && { cookie: `latchkey=${issued.token}` };
    };
  },
  'a reset, and a sign-in after it': async (person) => {
    const token = await linkTo('/passwords/request-reset', person);
    return async () => {
      await app.http.post('/auth/passwords/reset').send({ token, new_password: NEW });
      const { email: credential } = person;
      return cookieOf(await app.http.post('/auth/signin/credential').send({ credential, password: NEW }));
    };
  },
  'a link': async (person) => {
    const token = await linkTo('/signin/link/request', person);
    return async () => cookieOf(await app.http.post('/auth/signin/link').send({ token }));
  },
  'a new API key': async ({ browser }) => {
    return async () => {
      const { body } = await browser.post('/auth/api-keys').send({ name: 'left behind' });
      return body.key ? { 'x-service-api-key': body.key } : null;
    };
  },
  'an API key made by code': async ({ id }) => {
    return async () => {
      const made = await app.auth.apiKeys.create(id, { name: 'left behind' }).catch(() => null);
      return made && { 'x-service-api-key': made.key };
    };
  },
  'a session that gets a new token': async ({ browser, password }) => {
    const body = { current_password: password, new_password: password };
    return async () => cookieOf(await browser.post('/auth/passwords/change').send(body));
  },
};

describe('nobody gets in after a suspension that comes in the middle of', () => {
  test.each(Object.entries(ATTEMPTS))('%s', async (_, prepare) => {
    for (let round = 0; round < ROUNDS; round++) {
      const person = await newPerson();
      const attempt = await prepare(person);
      const loot: Loot[] = [];
      const attempts = Array.from({ length: AT_ONCE }, async () => void loot.push(await attempt()));
      // First after all of them, to see that they would get in; then each round a little later than the one before.
      if (round === 0) {
        await Promise.all(attempts);
        expect(loot.some(Boolean)).toBe(true);
      }
      for (let turn = 0; turn < round * 4; turn++) await new Promise((resolve) => setImmediate(resolve));
      const { suspendedAt } = await app.auth.suspension.suspend(person.id);
      expect(suspendedAt).not.toBeNull();
      await Promise.all(attempts);
      expect((await person.browser.get('/auth/me')).body.code).toBe('invalid_session');
      for (const headers of loot) {
        if (headers === null) continue;
        const { status, body } = await app.http.get('/auth/me').set(headers);
        const expected = 'cookie' in headers ? [401, 'invalid_session'] : [403, 'account_suspended'];
        expect([status, body.code]).toEqual(expected);
      }
      expect(await app.auth.listSessions(person.id)).toEqual([]);
      await app.auth.suspension.reinstate(person.id);
      expect(await app.auth.listSessions(person.id)).toEqual([]);
    }
  });
});
