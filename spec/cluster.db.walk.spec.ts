import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { type AuthConfig, createAuth } from '../lib/index.js';
import { ada, password, SECRET, sessionCookie } from './support/app.js';
import { createDatabase, type SpecDatabase } from './support/database.js';
import { startProcess } from './support/processes.js';

// The server that run.mjs found; empty if there is none.
const REDIS_URL = process.env.LATCHKEY_SPEC_REDIS ?? '';

// Also runs after a failed test.
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Starts an app in two workers of Node's cluster, on one port, with one account. @returns its origin */
async function startCluster(rateLimit: AuthConfig<[]>['rateLimit']): Promise<string> {
  const database: SpecDatabase = await createDatabase();
  ends.push(() => database.drop());
  // Redis is shared by all specs.
  const tablePrefix = `spec_${randomBytes(6).toString('hex')}_`;
  const config = { database: database.url, tablePrefix, rateLimit };
  const auth = createAuth({ ...config, secret: SECRET, plugins: [password()] });
  await auth.migrate();
  await auth.credential.signUp(ada);
  await auth.close();
  const cluster = await startProcess<number>('cluster', config);
  ends.push(() => cluster.kill());
  return `http://127.0.0.1:${await cluster.go()}`;
}

type Ask = (method: 'get' | 'post', path: string, cookie?: string) => request.Test;

/** Opens connections to the app until each of the workers has one. */
async function workersOf(origin: string): Promise<[Ask, Ask]> {
  const workers = new Map<string, Ask>();
  while (workers.size < 2) {
    const connection = new Agent({ keepAlive: true, maxSockets: 1 });
    ends.push(() => connection.destroy());
    const ask: Ask = (method, path, cookie = '') =>
      request(origin)[method](path).agent(connection).set('cookie', cookie);
    const id = (await ask('get', '/guarded').expect(401)).headers['x-worker'] ?? '';
    const onlyHere: Ask = (...given) => ask(...given).expect('x-worker', id);
    workers.set(id, workers.get(id) ?? onlyHere);
  }
  return [...workers.values()] as [Ask, Ask];
}

const signIn = (test: request.Test) => test.send({ credential: ada.email, password: ada.password });

describe('two workers of a cluster', () => {
  test('refuse a session as soon as either of them has revoked it', async () => {
    const origin = await startCluster(false);
    const [one, other] = await workersOf(origin);
    const newSession = async (ask: Ask) => {
      const answer = await signIn(ask('post', '/auth/signin/credential')).expect(200);
      return `latchkey=${sessionCookie(answer)?.value}`;
    };
    for (const [here, there] of Array.from({ length: 10 }, () => [
      [one, other] as const,
      [other, one] as const,
    ]).flat()) {
      const cookie = await newSession(here);
      // The other one is busy with the session while it is revoked.
      const before = Array.from({ length: 10 }, () => request(origin).get('/guarded').set('cookie', cookie));
      await there('get', '/guarded', cookie).expect(200);
      const settled = Promise.all(before);
      await here('post', '/auth/signout', cookie).expect(204);
      await there('get', '/guarded', cookie).expect(401);
      for (const { status } of await settled) expect([200, 401]).toContain(status);
    }
    // Revoked all together.
    const cookies = [await newSession(one), await newSession(other)] as const;
    const { body } = await one('post', '/auth/revoke-sessions', cookies[0]).expect(200);
    expect(body).toEqual({ revoked: 2 });
    for (const cookie of cookies) await other('get', '/guarded', cookie).expect(401);
  });

  const stores: [name: string, store: object][] = [['the database', {}]];
  if (REDIS_URL) stores.push(['Redis', { store: REDIS_URL }]);

  test.each(stores)('count sign-ins together, in %s', async (_name, store) => {
    const origin = await startCluster({
      ...store,
      signIn: { limit: 40, window: 600 },
      account: { failures: 5, firstPause: 600, maxPause: 600 },
    });
    const tryAll = async (credentials: string[]) => {
      const send = (credential: string) =>
        request(origin).post('/auth/signin/credential').send({ credential, password: 'wrong' });
      const answers = await Promise.all(credentials.map(send));
      expect(new Set(answers.map(({ headers }) => headers['x-worker'])).size).toBe(2);
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      return { refused: count(401), limited: count(429), all: answers.length };
    };
    const onAda = Array.from({ length: 30 }, () => ada.email);
    expect(await tryAll(onAda)).toEqual({ refused: 5, limited: 25, all: 30 });
    const onOthers = Array.from({ length: 30 }, (_, index) => `nobody${index}@example.com`);
    expect(await tryAll(onOthers)).toEqual({ refused: 10, limited: 20, all: 30 });
    // With the correct password too, and in both.
    for (const ask of await workersOf(origin))
      await signIn(ask('post', '/auth/signin/credential')).expect(429);
  });
});
