import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { internalsOf } from '../lib/auth.js';
import { runChores } from '../lib/database/chores.js';
import { type SpecApp, startApp } from './support/app.js';
import { rows } from './support/database.js';
import { everyPlugin } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { fillOrganizations, fillTables } from './support/many-rows.js';
import { tablesOf } from './support/plans.js';

const plugins = () => [...everyPlugin({ sendsEmails: true }), fixedProvider()] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
beforeAll(async () => {
  const email = { send: () => undefined };
  app = await startApp({
    plugins: plugins(),
    config: { baseUrl: 'http://localhost:3000', rateLimit: {}, email },
  });
}, 120_000);
afterAll(() => app.stop());

/** The number of rows of each table, and of the devices that are known to be kept. */
async function everything(): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of [...(await tablesOf(app.database)), 'known_devices WHERE kept IS NOT NULL']) {
    const [row] = await rows<{ n: number }>(app.database, `SELECT COUNT(*) AS n FROM ${table}`);
    found[table] = Number(row?.n);
  }
  return found;
}

test('prune({ dryRun: true }) counts what prune() then deletes in every table, and changes nothing', async () => {
  // Accounts whose grace is over have rows that have expired too, sessions are expired and idle, devices old and forgotten.
  await fillTables(app.database);
  await fillOrganizations(app.database);
  const { expired } = internalsOf(app.auth).chores;
  const before = await everything();
  const { tables: would } = await runChores(expired, true);
  expect(await app.auth.prune({ dryRun: true })).toBe(
    Object.values(would).reduce((sum, count) => sum + count, 0),
  );
  expect(await everything()).toEqual(before);
  expect(Object.keys(would).filter((table) => would[table] === 0)).toEqual([]);

  expect((await runChores(expired, false)).tables).toEqual(would);
  expect(await app.auth.prune({ dryRun: true })).toBe(0);
  expect(await app.auth.prune()).toBe(0);
}, 120_000);

test.each([[{ dryrun: true }], [{ dryRun: 'yes' }]])('prune(%j) is refused', async (given) => {
  await expect(app.auth.prune(given as never)).rejects.toThrow(/^latchkey: prune: .*dry/i);
  await expect(app.auth.rotateSecrets(given as never)).rejects.toThrow(/^latchkey: rotateSecrets: .*dry/i);
});
