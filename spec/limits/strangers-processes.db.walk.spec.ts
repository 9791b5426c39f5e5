import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { password, type SpecApp, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { outboxOf } from '../support/outbox.js';
import { startProcess } from '../support/processes.js';
import { smtpEmail, startSmtp } from '../support/smtp.js';

const REDIS_URL = process.env.LATCHKEY_SPEC_REDIS ?? '';
/** Separates this run from others on the same server. */
const KEY_PREFIX = `spec_${randomBytes(6).toString('hex')}_`;
const LIMIT = 6;
const PROCESSES = 2;
const EACH = 20;
/** As in the process. */
const AT_ONCE = 4;

let smtp: Awaited<ReturnType<typeof startSmtp>>;
let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeEach(async () => {
  smtp = await startSmtp();
  app = await startApp({
    plugins: [password()],
    config: { baseUrl: 'http://app.example.com', email: smtpEmail(smtp.port) },
  });
});
afterEach(async () => {
  await app.stop();
  await smtp.stop();
});

const namesOf = (process: number, prefix = 'stranger') =>
  Array.from({ length: EACH }, (_, index) => `${prefix}-${process}-${index}`);

/** Lets processes sign people up, or deliver, at the same time. */
async function together(names: readonly (readonly string[])[], store?: string): Promise<readonly string[]> {
  const task = { url: app.database.url, port: smtp.port, limit: LIMIT, ...(store && { store }) };
  const processes = await Promise.all(
    names.map((some) => startProcess<string[]>('flood', { ...task, names: some })),
  );
  return (await Promise.all(processes.map((one) => one.go()))).flat();
}

const stores: readonly (readonly [string, string | undefined, () => Promise<unknown>])[] = [
  [
    'the database',
    undefined,
    () => rows(app.database, "UPDATE rate_limits SET expires_at = '2020-01-01 00:00:00.000'"),
  ],
  // What Redis counts does not depend on the database.
  ...(REDIS_URL && dialect === 'sqlite'
    ? [
        [
          'Redis',
          `${REDIS_URL}?keyPrefix=${KEY_PREFIX}`,
          async () => {
            const redis = new Redis(REDIS_URL);
            await redis.del(await redis.keys(`${KEY_PREFIX}*`));
            await redis.quit();
          },
        ] as const,
      ]
    : []),
];

test.each(stores)(
  'several processes send exactly the limit in a window, and the newest first in the next, counted in %s',
  async (_name, store, endWindow) => {
    const flood = Array.from({ length: PROCESSES }, (_, index) => namesOf(index));
    const lines = await together(flood, store);
    expect(smtp.mails).toHaveLength(LIMIT);
    const held = () => outboxOf(app.database).then((all) => all.filter(({ state }) => state === 'held'));
    expect(await held()).toHaveLength(PROCESSES * EACH - LIMIT);
    expect(lines.filter((line) => !line.includes('rateLimit.strangers is reached'))).toEqual([]);

    // Honest people, at the end of the window. Their emails are the newest.
    const honest = Array.from({ length: LIMIT / 2 }, (_, index) => `honest-${index}`);
    await together([honest], store);
    expect(smtp.mails).toHaveLength(LIMIT);

    await endWindow();
    await together(Array(PROCESSES).fill([]), store);
    expect(smtp.mails).toHaveLength(2 * LIMIT);
    const next = smtp.mails.slice(LIMIT).map(({ to }) => to);
    expect(next.filter((to) => to.startsWith('honest-'))).toHaveLength(honest.length);
    // Each person got one email.
    expect(new Set(smtp.mails.map(({ to }) => to)).size).toBe(2 * LIMIT);
    expect(await held()).toHaveLength(PROCESSES * EACH + honest.length - 2 * LIMIT);
  },
);

test('several processes keep ten times the limit, or hardly more', async () => {
  const flood = Array.from({ length: PROCESSES }, (_, index) => [
    ...namesOf(index),
    ...namesOf(index, 'more'),
  ]);
  await together(flood);
  expect(smtp.mails).toHaveLength(LIMIT);
  const states = (await outboxOf(app.database)).map(({ state }) => state);
  const held = states.filter((state) => state === 'held').length;
  expect(held).toBeGreaterThanOrEqual(10 * LIMIT);
  // Each process that finds the last place at the same time as another one adds an email.
  expect(held).toBeLessThanOrEqual(10 * LIMIT + PROCESSES * AT_ONCE);
  // The others are deleted.
  expect(states).toHaveLength(LIMIT + held);
});
