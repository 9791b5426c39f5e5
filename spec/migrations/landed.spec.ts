import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { createAuth } from '../../lib/index.js';
import { columnTypes, type Migration } from '../../lib/migrations/migration.js';
import { stepsOf } from '../../lib/migrations/steps.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

/**
 * A digest of the statements of each migration that has landed. Databases exist on which it has run, and they do not get
 * it again, so its statements must never change.
 *
 * The first migration of the core and of each plugin is derived from the declarations. Its digest leaves out what later
 * migrations of the same owner add, so that it never changes either.
 */
const LANDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0001-core': { mysql: 'fd1156b93e6785ee', postgres: '55dc94803781a55d', sqlite: 'ea5a72f26e2972be' },
  '0002-core': { mysql: '280ca3209fe5da62', postgres: '42ed2a23fb966a57', sqlite: 'fb760ce06aa36918' },
  '0003-core': { mysql: '62f92b7f119d42bd', postgres: 'fa9dbb6e9346d4ac', sqlite: '38ff9ce6d72ab3c2' },
  '0004-core': { mysql: 'e04d1f826ccb155b', postgres: 'a54d656eb2569ec2', sqlite: 'ab8c09d5f99afba4' },
  '0005-core': { mysql: '684a4ddb4a2b478b', postgres: '73ddfb81257146f8', sqlite: '0c75aff0dbd37780' },
  '0006-core': { mysql: '694345caa73c429d', postgres: '8149231a98be338e', sqlite: '957faae13a10afe9' },
  '0007-core': { mysql: '510092503d72cd0f', postgres: '7252c33acf312e34', sqlite: '9efc9128c3c6e975' },
  '0008-core': { mysql: '465a975feefb1ea3', postgres: '560e7d6f4ba41f55', sqlite: 'fb683a3d19430264' },
  '0001-apiKeys': { mysql: '8fcf3cee66957aa5', postgres: 'de798514ef311444', sqlite: 'a6f87186a4a87de5' },
  '0001-auditLog': { mysql: '8eea6f136ab106e5', postgres: 'd5d17f0aedfaf243', sqlite: '7b01b055b508031a' },
  '0001-emailSignIn': { mysql: 'db195d06aead94a4', postgres: '99c56914c215c7e5', sqlite: '5d0211a2bd8aa7a9' },
  '0002-emailSignIn': { mysql: '2c880e805a5166f2', postgres: '675e66d502f95c92', sqlite: '0fb317126c67941f' },
  '0001-oauth': { mysql: 'a2d83104165cb0a2', postgres: '9b7b5efc07380d4b', sqlite: '78aeaa4e09b60f31' },
  '0001-passkeys': { mysql: '6d3dcb2c7a61db4e', postgres: '62397cfda8e5f4c3', sqlite: '7b8c3d09418b0e79' },
  '0002-passkeys': { mysql: 'e768a1eda5577251', postgres: '622b671335696af5', sqlite: '9ebbe151177c9939' },
  '0001-suspension': { mysql: '44c5bfcf91d2c900', postgres: '7efac92d23970450', sqlite: 'd4d180d6e6fac982' },
  '0001-twoFactor': { mysql: '8507bad4d889cabc', postgres: '621483d849b46799', sqlite: '70716078521ee6c3' },
  '0002-twoFactor': { mysql: 'c21156dd6af49dc0', postgres: '390851e76eea65dd', sqlite: '946cf02940d44c8c' },
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
  const { core, migrations } = internalsOf(
    createAuth({
      database: url,
      secret: SECRET,
      baseUrl: 'http://localhost:3000',
      email: { send: () => {} },
      plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
    }),
  );

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

  async function digestOf(migration: Migration): Promise<string> {
    const later = migrations.filter(({ first }) => first === migration.name);
    const added = (await Promise.all(later.map(statementsOf))).flat();
    const lines = without(await statementsOf(migration), added);
    return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  }

  test('no landed migration has changed', async () => {
    for (const migration of migrations) {
      const landed = LANDED[migration.name]?.[dialect];
      const digest = await digestOf(migration);
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
