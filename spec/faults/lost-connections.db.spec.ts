// Connections that are lost in the middle of a change: before each of its statements, and before each of their results.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'supertest';
import { apiKeys } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { expectProblem } from '../support/problem.js';
import { type DatabaseProxy, startProxy } from '../support/proxy.js';
import { startReceiver } from '../support/receiver.js';
import { settled } from '../support/sessions.js';

/** But for what records that something was sent. */
const STATEMENT = /\b(INSERT|UPDATE(?! outbox)|DELETE|COMMIT|START TRANSACTION)\b/;
const MOST_STATEMENTS = 20;
const other = 'a difference engine';

const plugins = () => [password(), apiKeys()] as const;
type App = SpecApp<ReturnType<typeof plugins>>;

/** Somebody with a session and an API key. */
interface Person {
  readonly id: string;
  readonly email: string;
  readonly cookie: string;
  readonly keyId: string;
}

interface Change {
  /** The event that is written down with it. */
  readonly event: string;
  send(app: App, person: Person): PromiseLike<Response>;
  /** Of its parts, which are done. */
  parts(app: App, person: Person): Promise<boolean[]>;
}

const accepts = async (app: App, email: string, password: string) =>
  (await app.http.post('/auth/signin/credential').send({ credential: email, password })).status === 200;
const isOpen = async (app: App, cookie: string) =>
  (await app.http.get('/auth/me').set('cookie', cookie)).status === 200;
const count = async (app: App, table: string, id: string, column = 'user_id') =>
  (await rows(app.database, `SELECT * FROM ${table} WHERE ${column} = :id`, { id })).length;
const eventsOf = (app: App, name: string) => count(app, 'outbox', name, 'kind');

const CHANGES: Record<string, Change> = {
  'a sign-up': {
    event: 'user.created',
    send: ({ http }, { email }) =>
      http.post('/auth/signup/credential').send({ email: `new-${email}`, password: ada.password }),
    parts: async (app, { email }) => [await accepts(app, `new-${email}`, ada.password)],
  },
  'a sign-in in place of a session': {
    event: 'session.revoked',
    send: ({ http }, { email, cookie }) =>
      http
        .post('/auth/signin/credential')
        .set('cookie', cookie)
        .send({ credential: email, password: ada.password }),
    // If it is not answered, a session may be left whose token nobody has.
    parts: async (app, { id, cookie }) => [
      !(await isOpen(app, cookie)),
      (await count(app, 'known_devices', id)) === 1,
      (
        await rows(
          app.database,
          'SELECT id FROM sessions WHERE user_id = :id AND replaced_token_hash IS NOT NULL',
          {
            id,
          },
        )
      ).length === 1,
    ],
  },
  'a sign-out': {
    event: 'session.revoked',
    send: ({ http }, { cookie }) => http.post('/auth/signout').set('cookie', cookie),
    parts: async (app, { id, cookie }) => [
      !(await isOpen(app, cookie)),
      (await count(app, 'sessions', id)) === 0,
    ],
  },
  'a change of password': {
    event: 'password.changed',
    send: ({ http }, { cookie }) =>
      http
        .post('/auth/passwords/change')
        .set('cookie', cookie)
        .send({ current_password: ada.password, new_password: other }),
    parts: async (app, { email, cookie }) => [
      !(await isOpen(app, cookie)),
      await accepts(app, email, other),
      !(await accepts(app, email, ada.password)),
    ],
  },
  'a revocation of all sessions': {
    event: 'session.revoked',
    send: ({ http }, { cookie }) => http.post('/auth/revoke-sessions').set('cookie', cookie),
    parts: async (app, { id, cookie }) => [
      !(await isOpen(app, cookie)),
      (
        await rows<{ auth_epoch: number }>(app.database, 'SELECT auth_epoch FROM users WHERE id = :id', {
          id,
        })
      )[0]?.auth_epoch === 1,
    ],
  },
  'a revocation of an API key': {
    event: 'api_key.revoked',
    send: ({ http }, { cookie, keyId }) => http.delete(`/auth/api-keys/${keyId}`).set('cookie', cookie),
    parts: async (app, { id }) => [(await count(app, 'api_keys', id)) === 0],
  },
  'a deletion': {
    event: 'user.deleted',
    send: ({ http }, { cookie }) => http.delete('/auth/me').set('cookie', cookie).send({}),
    parts: async (app, { id, email, cookie }) => [
      !(await isOpen(app, cookie)),
      !(await accepts(app, email, ada.password)),
      (await count(app, 'users', id, 'id')) === 0,
      (await count(app, 'api_keys', id)) === 0,
    ],
  },
};

// A connection to a file cannot be lost. spec/faults/crash.db.walk.spec.ts kills its process.
(dialect === 'sqlite' ? describe.skip : describe)(
  'a lost connection leaves the whole or nothing, and what was answered is stored:',
  () => {
    let app: App;
    let proxy: DatabaseProxy;
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    let people = 0;
    beforeAll(async () => {
      app = await startApp({
        plugins: plugins(),
        async config({ url }) {
          [proxy, receiver] = await Promise.all([startProxy(url), startReceiver()]);
          const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
          return { database: proxy.url, webhooks: [{ url: `${receiver.origin}/hooks`, secret }] };
        },
      });
    });
    afterAll(async () => {
      await app.stop();
      await proxy.stop();
      await receiver.stop();
    });

    const newPerson = async (): Promise<Person> => {
      const email = `person-${people++}@example.com`;
      const { user } = (
        await app.http.post('/auth/signup/credential').send({ email, password: ada.password }).expect(201)
      ).body;
      const { token } = await app.auth.credential.signIn({ credential: email, password: ada.password });
      const { apiKey } = await app.auth.apiKeys.create(user.id, { name: 'nightly import' });
      return { id: user.id, email, cookie: `latchkey=${token}`, keyId: apiKey.id };
    };

    test.each(Object.entries(CHANGES))('%s', async (_name, { event, send, parts }) => {
      for (const moment of ['before', 'after'] as const) {
        let cuts = 0;
        for (; cuts < MOST_STATEMENTS; cuts++) {
          const person = await newPerson();
          // What is sent is written down too, which would be a statement to cut.
          await settled(app.auth);
          const before = await eventsOf(app, event);
          const hasCut = proxy.cutAt(STATEMENT, moment, cuts);
          const answer = await send(app, person);
          const isCut = hasCut();
          await proxy.pass();
          await proxy.drained();
          const done = [(await eventsOf(app, event)) > before, ...(await parts(app, person))];
          const at = `${moment} statement ${cuts + 1}`;
          if (answer.status >= 400) expectProblem(answer, 503, 'unavailable');
          // All or nothing; all, if it was answered.
          expect([at, done]).toEqual([at, done.map(() => (answer.status < 400 ? true : done[0]))]);
          expect([at, await brokenInvariants(app.database)]).toEqual([at, []]);
          if (!isCut) break;
        }
        // Each of its statements was cut once, and then none.
        expect(cuts).toBeGreaterThan(0);
        expect(cuts).toBeLessThan(MOST_STATEMENTS);
      }
    });
  },
);
