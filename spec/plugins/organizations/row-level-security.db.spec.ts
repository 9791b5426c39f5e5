import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { organizations } from '../../../lib/index.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { dialect, rows } from '../../support/database.js';
import { person } from '../../support/organizations.js';

const plugins = [password(), organizations()] as const;
const onPostgres = dialect === 'postgres' ? test : test.skip;
/** The role that the app connects as. The specs connect as a superuser, who sees all rows. */
const role = `latchkey_spec_${randomBytes(6).toString('hex')}`;

let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({ plugins });
  if (dialect !== 'postgres') return;
  const page = await readFile(new URL('../../../docs/organizations.md', import.meta.url), 'utf8');
  const [, policy = ''] = /^```sql\n([\s\S]*?)^```$/m.exec(page) ?? [];
  await rows(app.database, `CREATE ROLE ${role}`);
  await rows(
    app.database,
    `CREATE TABLE projects (
       organization_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
       name text NOT NULL, UNIQUE (organization_id, name));
     ALTER TABLE projects OWNER TO ${role};
     GRANT SELECT, REFERENCES ON organizations TO ${role};
     ${policy}`,
  );
});
afterAll(async () => {
  if (dialect === 'postgres') await rows(app.database, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
  await app?.stop();
});

/** Runs a query of the app in a transaction, for an organization or for none. */
function asApp(organizationId: string | null, sql: string): Promise<unknown[]> {
  const { sequelize } = app.database;
  return sequelize.transaction(async (transaction) => {
    await sequelize.query(`SET LOCAL ROLE ${role}`, { transaction });
    const replacements = { id: organizationId };
    if (organizationId !== null)
      await sequelize.query("SELECT set_config('app.organization_id', :id, true)", {
        replacements,
        transaction,
      });
    return (await sequelize.query(sql, { transaction }))[0];
  });
}

onPostgres('the policy in the docs shows and admits only rows of the organization that is set', async () => {
  const ada = await person(app, 'ada');
  const create = (slug: string) => app.auth.organizations.create({ name: slug, slug, ownerId: ada.id });
  const [acme, zen] = [await create('acme'), await create('zen')];
  const insert = (id: string) => `INSERT INTO projects VALUES ('${id}', 'First')`;
  await asApp(acme.id, insert(acme.id));
  await asApp(zen.id, insert(zen.id));
  for (const by of [acme.id, null])
    await expect(asApp(by, `INSERT INTO projects VALUES ('${zen.id}', 'Planted')`)).rejects.toThrow(
      /row-level security/,
    );

  // These queries forget the organization.
  const all = 'SELECT organization_id FROM projects';
  expect(await asApp(acme.id, all)).toEqual([{ organization_id: acme.id }]);
  expect(await asApp(null, all)).toEqual([]);
  await asApp(acme.id, 'DELETE FROM projects');
  expect(await rows(app.database, all)).toEqual([{ organization_id: zen.id }]);

  await app.auth.organizations.delete(zen.id);
  expect(await rows(app.database, all)).toEqual([]);
});
