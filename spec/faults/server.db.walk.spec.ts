// A database server of its own, which is frozen and killed, and a process of the app in front of it.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../bench/load/http.mjs';
import type { Surroundings } from '../support/crash/app.js';
import { AppProcess } from '../support/crash/processes.js';
import { migrateForCrashes, startServer } from '../support/crash/storm.js';
import { createOnServer, dialect, rows, type SpecDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';

const PASSWORD = 'an analytical engine';
const PAGE_KB = 4;

// Its file is locked in spec/outage.db.express.spec.ts, and full in full-disk.walk.spec.ts.
(dialect === 'sqlite' ? describe.skip : describe)('when the database server', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let database: SpecDatabase;
  let surroundings: Surroundings;
  let app: AppProcess;
  beforeAll(async () => {
    server = await startServer(dialect as 'mysql');
    database = await createOnServer(dialect as 'mysql', server.url);
    // Nobody goes to the provider.
    const provider = { issuer: 'http://127.0.0.1:1', clientId: 'latchkey', clientSecret: 'none' };
    surroundings = { database: database.url, lanes: 1, provider };
    await migrateForCrashes(surroundings);
    app = await startProcess();
  });
  afterAll(async () => {
    server.thaw();
    await app.stop();
    // It does not wait for clients that are still connected.
    await server.stop();
    await database.sequelize.close();
  });

  const startProcess = () => AppProcess.start(1, surroundings, () => undefined);
  const signUp = (email: string) =>
    app.client.send('POST', '/auth/signup/credential', { body: { email, password: PASSWORD } });
  const signIn = (email: string) =>
    app.client.send('POST', '/auth/signin/credential', { body: { credential: email, password: PASSWORD } });
  /** The answer of a request, which comes before a user would give up waiting. */
  const inTime = async (request: Promise<Answer>) => {
    const started = performance.now();
    const { status } = await request;
    expect(performance.now() - started).toBeLessThan(6000);
    return status;
  };
  const works = async () => {
    const until = performance.now() + 20_000;
    while ((await signIn('nobody@example.com')).status !== 401)
      if (performance.now() > until) throw new Error('it does not work again');
  };

  test('is frozen, each of a hundred requests is 503 in time, and memory stays flat', async () => {
    await signUp('frozen@example.com');
    const resident = () =>
      Number(readFileSync(`/proc/${app.child.pid}/statm`, 'utf8').split(' ')[1]) * PAGE_KB;
    const before = resident();
    server.freeze();
    const hundred = Array.from({ length: 100 }, () => inTime(signIn('frozen@example.com')));
    expect(new Set(await Promise.all(hundred))).toEqual(new Set([503]));
    expect(resident() - before).toBeLessThan(150 * 1024);
    server.thaw();
    await works();
    expect((await signIn('frozen@example.com')).status).toBe(200);
    expect(await brokenInvariants(database)).toEqual([]);
  });

  test('is killed during sign-ups, those that were answered are stored, and the rest wholly or not', async () => {
    const emails = Array.from({ length: 60 }, (_, count) => `person-${count}@example.com`);
    const answered: string[] = [];
    let killed: Promise<void> | undefined;
    await Promise.all(
      emails.map(async (email) => {
        const status = await inTime(signUp(email));
        if (status === 201) answered.push(email);
        else expect(status).toBe(503);
        killed ??= server.kill();
      }),
    );
    await killed;
    expect(await inTime(signIn('frozen@example.com'))).toBe(503);
    await server.restart();
    await works();
    const stored = (await rows<{ email: string }>(database, 'SELECT email FROM users')).map(({ email }) =>
      String(email),
    );
    expect(answered.filter((email) => !stored.includes(email))).toEqual([]);
    expect(answered.length).toBeGreaterThan(0);
    for (const email of emails)
      expect([email, (await signIn(email)).status]).toEqual([email, stored.includes(email) ? 200 : 401]);
    expect(await brokenInvariants(database)).toEqual([]);
  });

  test('is down while the app starts, the app answers 503, and works when it is there', async () => {
    await app.stop();
    await server.kill();
    app = await startProcess();
    expect(await inTime(signIn('frozen@example.com'))).toBe(503);
    expect((await app.client.send('GET', '/page')).status).toBe(401);
    await server.restart();
    await works();
    expect((await signIn('frozen@example.com')).status).toBe(200);
    expect(await brokenInvariants(database)).toEqual([]);
  });
});
