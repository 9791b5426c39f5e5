import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createAuth, type Plugin } from '../../lib/index.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { laterReports, reports } from '../support/later-plugin.js';
import { startProxy } from '../support/proxy.js';
import { schemaOf } from '../support/schema.js';

let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const open = <const P extends Plugin>(plugin: P, { url }: { url: string } = database) =>
  createAuth({ database: url, secret: SECRET, rateLimit: false, plugins: [password(), plugin] });

const ALL = ['0001-core', '0002-core', '0003-core', '0001-reports', '0002-reports', '0003-reports'];
const LATER = ALL.slice(4);
const recorded = async () =>
  (await rows<{ name: string }>(database, 'SELECT name FROM latchkey_migrations ORDER BY name')).map(
    ({ name }) => name,
  );
const notes = () => rows(database, 'SELECT note FROM reports');

/** The tables of a database. The order of columns does not count, because an added column is the last one of its table. */
async function tablesIn(one: SpecDatabase): Promise<Record<string, string[]>> {
  const schema = await schemaOf(one);
  return Object.fromEntries(Object.entries(schema).map(([table, lines]) => [table, lines.toSorted()]));
}

/** The tables that the later version creates in an empty database. */
async function newTables(): Promise<Record<string, string[]>> {
  const empty = await createDatabase();
  try {
    const auth = open(laterReports, empty);
    await auth.migrate();
    await auth.close();
    return await tablesIn(empty);
  } finally {
    await empty.drop();
  }
}

test('later migrations change the tables of an earlier version to the tables of a new database, and keep the rows', async () => {
  const earlier = open(reports);
  await earlier.migrate();
  const { user } = (await earlier.credential.signUp(ada))!;
  await earlier.models.Report.create({ id: randomUUID(), userId: user.id });
  await earlier.close();
  await expect(notes()).rejects.toThrow();
  const auth = open(laterReports);
  expect(await auth.migrate({ dryRun: true })).toEqual(LATER);
  expect(await auth.migrate()).toEqual(LATER);
  expect(await auth.migrate()).toEqual([]);
  expect(await recorded()).toEqual(ALL.toSorted());
  expect(await auth.models.Report.findAll()).toMatchObject([{ userId: user.id, note: 'none' }]);
  expect(await tablesIn(database)).toEqual(await newTables());
  await auth.credential.signIn({ credential: ada.email, password: ada.password });
  await auth.close();
});

test('later migrations are only recorded where the tables are new, and can be undone there too', async () => {
  const auth = open(laterReports);
  expect(await auth.migrate({ dryRun: true })).toEqual(ALL);
  expect(await auth.migrate()).toEqual(ALL);
  const tables = await tablesIn(database);
  expect(await auth.migrate({ undo: 2 })).toEqual(LATER.toReversed());
  await expect(notes()).rejects.toThrow();
  const earlier = open(reports);
  expect(await earlier.migrate()).toEqual([]);
  await earlier.close();
  expect(await auth.migrate()).toEqual(LATER);
  expect(await tablesIn(database)).toEqual(tables);
  expect(await auth.migrate({ undo: 'all' })).toEqual(ALL.toReversed());
  expect(await auth.migrate()).toEqual(ALL);
  await auth.close();
});

test('processes of the earlier version continue while and after a later one migrates', async () => {
  const earlier = open(reports);
  await earlier.migrate();
  const { user } = (await earlier.credential.signUp(ada))!;
  const later = open(laterReports);
  expect((await later.health()).degraded).toContain('schema');
  const used = async () => {
    const { token } = await earlier.credential.signIn({ credential: ada.email, password: ada.password });
    await earlier.models.Report.create({ id: randomUUID(), userId: user.id });
    return token;
  };
  const [ran] = await Promise.all([later.migrate(), used()]);
  expect(ran).toEqual(LATER);
  const token = await used();
  expect(await later.getSession({ headers: { cookie: `latchkey=${token}` } })).toMatchObject({
    user: { id: user.id },
  });
  expect(await earlier.migrate()).toEqual([]);
  for (const auth of [earlier, later]) {
    expect(await auth.health()).toMatchObject({ ok: true, degraded: [] });
    expect(await auth.models.Report.count()).toBe(2);
    await auth.close();
  }
});

if (dialect !== 'sqlite') {
  test.each([
    ['before', /CREATE TABLE reports/],
    ['after', /CREATE TABLE reports/],
    ['after', /CREATE TABLE report_files/],
  ] as const)(
    'after the creation of new tables was interrupted (%s %s), later migrations do not run',
    async (moment, statement) => {
      const proxy = await startProxy(database.url);
      const broken = open(laterReports, { url: proxy.url });
      const isCut = proxy.cutAt(statement, moment);
      await expect(broken.migrate()).rejects.toThrow();
      expect(isCut()).toBe(true);
      await broken.close();
      await proxy.drained();
      const auth = open(laterReports);
      expect(['0001-reports']).toEqual(expect.arrayContaining(await auth.migrate()));
      expect(await recorded()).toEqual(ALL.toSorted());
      expect(await tablesIn(database)).toEqual(await newTables());
      await auth.close();
      await proxy.stop();
    },
  );
}
