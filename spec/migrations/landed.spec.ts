import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { createAuth, type Plugin } from '../../lib/index.js';
import { columnTypes, type Migration } from '../../lib/migrations/migration.js';
import { stepsOf } from '../../lib/migrations/steps.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { laterReports, reports, reportsWithoutMigrations } from '../support/later-plugin.js';

/**
 * A digest of the statements of each migration that has landed. Databases exist on which it has run, and they do not get
 * it again, so its statements must never change.
 *
 * The first migration of the core and of each plugin is derived from the declarations. Its digest leaves out what later
 * migrations of the same owner add, so that it never changes either.
 */
const LANDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0001-core': { mysql: 'abcadee8b488d1d4', postgres: '7a19b3631fad5b3e', sqlite: '2155f9132b0f83e9' },
  '0002-core': { mysql: '253dc4b80a6e322f', postgres: 'd8795e46fa8a8d8b', sqlite: '2bf2a8f556b45233' },
  '0003-core': { mysql: '95f2cdfb2553c00b', postgres: '8b3278788a024933', sqlite: '82f4bc086dbaee49' },
  '0001-admin': { mysql: '8ceb9c53ff0cb58c', postgres: '2465f357d078eb8a', sqlite: '5783312eaa7b5a62' },
  '0001-apiKeys': { mysql: '8fcf3cee66957aa5', postgres: 'de798514ef311444', sqlite: 'a6f87186a4a87de5' },
  '0001-auditLog': { mysql: '8eea6f136ab106e5', postgres: 'd5d17f0aedfaf243', sqlite: '7b01b055b508031a' },
  '0001-credential': { mysql: '4120222cab529aa3', postgres: '96f4e188352feb34', sqlite: '7fd3432131b3cab3' },
  '0001-emailSignIn': { mysql: 'c496db35a1e19852', postgres: '1760a898a8c7bb17', sqlite: '1e3f4496ad8aa4fe' },
  '0001-oauth': { mysql: 'b37384cba60ce627', postgres: '4051a7e21fcdc3b2', sqlite: '53f8857ef64b3e38' },
  '0001-passkeys': { mysql: 'fde347fac88563a6', postgres: 'b62f971f7bfb1e83', sqlite: '69782da02403de49' },
  '0001-organizations': {
    mysql: 'ba1fc420d6ba4ccf',
    postgres: '8a5bb1eb9bd3e85e',
    sqlite: 'd3afbb335c48c003',
  },
  '0001-roles': { mysql: '555f76d989519a36', postgres: '2c2e746febaaf21f', sqlite: '54300d992cffbd3b' },
  '0001-suspension': { mysql: '44c5bfcf91d2c900', postgres: '7efac92d23970450', sqlite: 'd4d180d6e6fac982' },
  '0001-twoFactor': { mysql: '443f1166fb3d6cb6', postgres: '1d3c442956d04fba', sqlite: '15f4a7f6ee798d29' },
};

const REMEDY = `Databases exist on which this migration has run: they do not get its new statements.
Put its statements back, and make the change in a new migration of the same owner.
If a declaration has changed (a column, an index, a table), the new migration makes the same change to existing tables.`;

const DATABASES = {
  mysql: { url: 'mysql://localhost/app', versions: ['8.4.0', '10.11.14-MariaDB'] },
  postgres: { url: 'postgres://localhost/app', versions: ['PostgreSQL 17.0'] },
  sqlite: { url: 'sqlite::memory:', versions: ['3.50.0'] },
} as const;

describe.each(Object.entries(DATABASES))('on %s', (dialect, { url, versions }) => {
  const open = (plugins: readonly Plugin[]) =>
    internalsOf(
      createAuth({
        database: url,
        secret: SECRET,
        baseUrl: 'http://localhost:3000',
        email: { send: () => {} },
        plugins,
      }),
    );
  const { core, migrations } = open([...everyPlugin({ sendsEmails: true }), fixedProvider()]);

  /** The statements in both directions, one a line. */
  async function statementsOf(migration: Migration): Promise<string[]> {
    const { database } = core;
    const all: string[] = [];
    for (const version of versions)
      for (const direction of ['up', 'down'] as const) {
        const tools = { database, types: columnTypes(database.dialect, version) };
        all.push(...(await stepsOf(migration, direction, tools)).map(({ sql }) => sql));
      }
    return all;
  }

  async function digestOf(migration: Migration, among: readonly Migration[]): Promise<string> {
    const later = among.filter(({ first }) => first === migration.name);
    const added = (await Promise.all(later.map(statementsOf))).flat();
    const lines = without(await statementsOf(migration), added);
    return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  }

  test('no landed migration has changed', async () => {
    for (const migration of migrations) {
      const landed = LANDED[migration.name]?.[dialect];
      const digest = await digestOf(migration, migrations);
      if (landed === undefined) {
        throw new Error(
          `${migration.name} has no digest for ${dialect}. Once its statements are final, add '${digest}' to LANDED`,
        );
      }
      if (digest !== landed)
        throw new Error(`${migration.name} has changed on ${dialect}: ${digest}. ${REMEDY}`);
    }
  });

  test('no landed migration is missing', () => {
    const names = migrations.map(({ name }) => name);
    expect(Object.keys(LANDED).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('the digest of a first migration changes with the declarations, unless later migrations make the same change', async () => {
    const digest = (plugin: Plugin) => {
      const all = open([plugin]).migrations;
      return digestOf(all.find(({ name }) => name === '0001-reports') as Migration, all);
    };
    expect(await digest(laterReports)).toBe(await digest(reports));
    expect(await digest(reportsWithoutMigrations)).not.toBe(await digest(reports));
  });
});

/** Returns the lines of a first migration, without the columns, indexes and tables that later ones add. */
function without(statements: readonly string[], added: readonly string[]): string[] {
  const columns = new Map<string, string[]>();
  for (const sql of added) {
    const [, table, column] = /^ALTER TABLE (\w+) ADD COLUMN (.*)$/.exec(sql) ?? [];
    if (table && column) columns.set(table, [...(columns.get(table) ?? []), column]);
  }
  return statements
    .map((sql) => {
      const [, table = ''] = /^CREATE TABLE (\w+)/.exec(sql) ?? [];
      const later = columns.get(table)?.map((column) => `  ${column},`) ?? [];
      const lines = sql.split('\n').filter((line) => !later.includes(line));
      return lines.join('\n');
    })
    .filter((sql) => !added.includes(sql));
}
