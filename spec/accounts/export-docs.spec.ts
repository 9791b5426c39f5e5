import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { exportedTables } from '../../lib/accounts/export.js';
import { internalsOf } from '../../lib/auth.js';
import { createAuth } from '../../lib/index.js';
import { declaredEvents, type declareEvents } from '../../lib/outbox/events.js';
import type { PluginSetup } from '../../lib/plugin.js';
import { type Columns, column, columnName } from '../../lib/tables/column.js';
import { coreTables, users } from '../../lib/tables/core.js';
import { declareTable, type TableDeclaration } from '../../lib/tables/table.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

const auth = createAuth({
  database: 'sqlite:./unused.db',
  secret: SECRET,
  baseUrl: 'http://app.example.com',
  email: { send: () => undefined },
  plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
});
const { core } = internalsOf(auth);
const parts = core.contributions as readonly PluginSetup[];
const tables: readonly TableDeclaration[] = [
  ...Object.values({ ...coreTables, Session: core.sessions.declaration }).filter(
    ({ name }) => name !== users.name,
  ),
  core.users.declaration,
  ...parts.flatMap(({ tables = {} }) => Object.values(tables)),
] as never;

/** The columns that are not exported, by the reason. */
function leftOut(): Map<string, string[]> {
  const byReason = new Map<string, string[]>();
  for (const { name, exported, columns } of tables) {
    if (typeof exported === 'string') continue;
    for (const [attribute, one] of Object.entries(columns as Columns)) {
      const { inExport } = one;
      if (inExport === undefined)
        throw new Error(`${name}.${attribute} does not declare whether it is exported`);
      if (inExport === true) continue;
      byReason.set(inExport, [
        ...(byReason.get(inExport) ?? []),
        `\`${name}.${columnName(attribute, one)}\``,
      ]);
    }
  }
  return byReason;
}

/** The rows of the table below a heading, each as the text of its cells. */
async function rowsBelow(heading: string): Promise<string[][]> {
  const page = await readFile(new URL('../../docs/data-export.md', import.meta.url), 'utf8');
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) => line.slice(2, -2).split(' | '));
}

test('the docs list the keys of an export', async () => {
  const keys = exportedTables(core).map(({ rows }) => `\`${rows.as}\``);
  const documented = (await rowsBelow('What is in an export')).map(([key]) => key);
  expect(documented.sort()).toEqual(['`exported_at`', '`user`', '`app`', ...keys].sort());
});

test('the docs give the reason for each table that is not exported', async () => {
  const expected = tables.flatMap(({ name, exported }) =>
    typeof exported === 'string' ? [[`\`${name}\``, exported]] : [],
  );
  expect((await rowsBelow('Tables that are not exported')).sort()).toEqual(expected.sort());
});

test('the docs give the reason for each column that is not exported', async () => {
  const expected = [...leftOut()].map(([reason, columns]) => [reason, columns.sort().join(', ')]);
  expect((await rowsBelow('Columns that are not exported')).sort()).toEqual(expected.sort());
});

test('the docs give the reason for each detail of events that is not exported', async () => {
  const reasons = new Map<string, Set<string>>();
  for (const [name, inExport] of Object.entries(declaredEvents.values).flatMap(([, details]) =>
    Object.entries(details),
  )) {
    if (typeof inExport !== 'string') continue;
    const names = reasons.get(inExport) ?? new Set();
    reasons.set(inExport, names.add(`\`${name}\``));
  }
  const expected = [...reasons].map(([reason, names]) => [reason, [...names].sort().join(', ')]);
  expect((await rowsBelow('Details of events that are not exported')).sort()).toEqual(expected.sort());
});

test('an event does not compile until each of its details says whether it is exported', () => {
  type Events = Parameters<typeof declareEvents>[1];
  // @ts-expect-error: the provider says nothing.
  const missing: Events = { 'sign_in.failed': { method: true, reason: true } };
  // @ts-expect-error: the event has no such detail.
  const unknown: Events = { 'user.updated': { changed: true, noDetail: true } };
  expect([missing, unknown]).toHaveLength(2);
});

test('a table must say whether it is exported, and one that is exported of each column', () => {
  const columns = { id: column.uuid().exported(), userId: column.uuid().exported() };
  const exported = { as: 'reports', by: 'userId' } as const;
  declareTable({ name: 'reports', columns, exported });
  // @ts-expect-error: it says nothing.
  declareTable({ name: 'reports', columns });
  // @ts-expect-error: no column is called like this.
  declareTable({ name: 'reports', columns, exported: { as: 'reports', by: 'owner' } });
  // @ts-expect-error: a column says nothing.
  declareTable({ name: 'reports', columns: { ...columns, text: column.longText() }, exported });
});
