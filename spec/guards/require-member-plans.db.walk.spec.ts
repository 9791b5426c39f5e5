import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { authRouter, requireMember } from '../../lib/index.js';
import { type SpecApp, startApp } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { fillOrganizations, fillTables } from '../support/many-rows.js';
import { person } from '../support/organizations.js';
import { analyze, planOf, recordingSequelize } from '../support/plans.js';

// The statements of requireMember, and of the routes that read a membership in the same way, in a database with many rows.
const plugins = [...everyPlugin({ sendsEmails: true }), fixedProvider()] as const;

let app: SpecApp<typeof plugins>;
let sent: Set<string>;
/** Requests wait until as many have arrived. */
let number = 1;
const crowd: (() => void)[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins,
    async config(database) {
      const own = recordingSequelize(database);
      sent = own.sent;
      // With a log, lookups are sent in the recorded way too.
      Object.assign((own.sequelize as unknown as { options: object }).options, { logging: () => undefined });
      const baseUrl = 'http://app.example.com';
      return { baseUrl, database: own.sequelize, email: { send: () => undefined } };
    },
    mount(express, auth) {
      express.use((_req, _res, next) => {
        crowd.push(next);
        if (crowd.length === number) for (const go of crowd.splice(0)) go();
      });
      express.use('/auth', authRouter(auth));
      express.get('/:organization', requireMember(auth), (_req, res) => void res.sendStatus(204));
    },
  });
  await fillTables(app.database);
  await fillOrganizations(app.database);
  await analyze(app.database);
}, 120_000);
afterAll(() => app.stop());

// PostgreSQL reads a whole table if it has only a few hundred times as many rows as a lookup needs.
test.each([1, 2, 8])('the statements of %i lookups read no table as a whole', async (lookups) => {
  const ada = await person(app, `ada${lookups}`);
  const { key } = await app.auth.apiKeys.create(ada.id, { name: 'program' });
  const own = { name: 'Own', slug: `own-${lookups}`, ownerId: ada.id };
  const { id, slug } = await app.auth.organizations.create(own);
  const names = [slug, ...Array.from({ length: lookups - 1 }, (_, index) => `acme-${index}`)];
  const { sequelize } = app.database;
  const [rows] = await sequelize.query("SELECT id FROM organizations WHERE slug LIKE 'acme-%' ORDER BY id");
  const ids = [id, ...(rows as { id: string }[]).slice(0, lookups - 1).map((one) => one.id)];
  number = lookups;
  const paths = [names, ids].map((all) => all.map((name) => `/${name}`));
  const ofRoute = ids.map((one) => `/auth/organizations/${one}`);
  for (const [headers, all] of [
    [ada.headers, [...paths, ofRoute]],
    [{ 'x-service-api-key': key }, paths],
  ] as const)
    for (const some of all) {
      sent.clear();
      const answers = await Promise.all(some.map((path) => app.http.get(path).set(headers)));
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
      const lookedUp = [...sent].filter((sql) => /organization_members/.test(sql));
      // After a single lookup, the next one does not wait for others.
      expect([1, Math.min(lookups, 2)]).toContain(lookedUp.length);
      for (const sql of lookedUp) {
        const { accesses } = await planOf(app.database, sql);
        expect(accesses.length).toBeGreaterThanOrEqual(4);
        const read = accesses.filter(({ by, table }) => by !== 'keys' && table !== 'pair');
        expect([read, sql]).toEqual([[], sql]);
      }
    }
});
