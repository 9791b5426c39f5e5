import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Dialect } from '../../lib/database/connect.js';
import { createOnServer, rows, type SpecDatabase } from './database.js';
import { type Example, installExample, type RunningApp } from './example.js';
import type { Answer } from './pages.js';

const found = (
  [
    ['postgres', process.env.LATCHKEY_SPEC_POSTGRES ?? ''],
    ['mysql', process.env.LATCHKEY_SPEC_MYSQL ?? ''],
  ] as [Exclude<Dialect, 'sqlite'>, string][]
).filter(([, url]) => url !== '');

const onEachServer =
  found.length > 0 ? describe.each(found) : describe.skip.each([['mysql', '']] as typeof found);

/** The driver that examples do not install themselves. Theirs is PostgreSQL's. */
const OTHER_DRIVER = 'mysql2@3.24.5';

/** A request to an app, its response, and the number of statements that it required. */
export interface Exchange extends Answer {
  readonly statements: readonly string[];
}

type Scenario = (url: string, note: (answer: Promise<Answer>) => Promise<void>) => Promise<void>;

/** Runs a scenario against an app, one request after the other. */
async function record(app: RunningApp, scenario: Scenario): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  // Make the app do the work that it does only once after its start.
  await fetch(app.url);
  await app.statements();
  await scenario(app.url, async (answer) => {
    const settled = await answer;
    exchanges.push({ ...settled, statements: (await app.statements()).filter(isOfTheApp) });
  });
  return exchanges;
}

/** The part of an exchange that an outsider sees. */
const visible = ({ statements: _, ...answer }: Exchange): Answer => answer;

/** Whether a statement is neither one of Sequelize's for a new connection, nor the start or end of a transaction. */
function isOfTheApp(sql: string): boolean {
  return (
    /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(sql) && !/VERSION\(\)|SHOW SERVER_VERSION/i.test(sql)
  );
}

/** An example with a folder for the app before the move, `before`, and a folder for the app after it, `after`. */
interface MovingApp {
  readonly name: string;
  readonly server: string;
  /** The file with its Auth. */
  readonly config: string;
  env(database: SpecDatabase): Record<string, string>;
  /** Creates the data of three users before the move. */
  seed(url: string, database: SpecDatabase): Promise<void>;
  readonly scenario: Scenario;
  /** Every status that the scenario meets. */
  readonly statuses: readonly number[];
  /** SQL for the number of rows that refer to each user. After the move, it groups them by the user's account. */
  readonly references: string;
  readonly referencesToAccounts: string;
  readonly referenceCount: number;
  /** The requests that can require more statements than before, because they are about an account or a session. */
  readonly mayCostMore: RegExp;
}

const LATCHKEY = 'node_modules/latchkey/dist/esm/cli.js';

/** The result of `npx latchkey move --json`. */
interface MoveReport {
  readonly rows: number;
  readonly skipped: readonly object[];
  readonly left: readonly string[];
}

/** The parts that the specs of one example use. They are complete once its tests run. */
interface Moved {
  before: Example;
  after: Example;
  /** The app after the move and the scenario. */
  app: RunningApp;
  old: readonly Exchange[];
  moved: readonly Exchange[];
  referencesBefore: readonly unknown[];
  /** Runs `npm run move`, and then the steps that remain to be done by hand. */
  move(database: SpecDatabase): Promise<MoveReport>;
  /** Creates a database with data that has not been moved. */
  seeded(): Promise<SpecDatabase>;
  references(database: SpecDatabase, sql: string): Promise<readonly unknown[]>;
}

const ORPHANS =
  'SELECT count(*) AS accounts FROM auth_users a LEFT JOIN users u ON u.auth_id = a.id WHERE u.id IS NULL';

/**
 * Compares an app before and after it has moved in, on each database server that was found.
 *
 * @param more specs of each server
 * @param once specs that need no server
 */
export function describeMove(
  moving: MovingApp,
  more: (moved: Moved) => void,
  once: (installed: Installed) => void = () => undefined,
): void {
  describe(`examples/${moving.name}`, () => {
    const installed = {} as Installed;
    beforeAll(async () => {
      const install = (state: string) => installExample(`${moving.name}/${state}`, OTHER_DRIVER);
      [installed.before, installed.after] = await Promise.all([install('before'), install('after')]);
    }, 180_000);
    afterAll(async () => {
      await installed.before?.remove();
      await installed.after?.remove();
    });
    once(installed);
    describeOnServers(moving, installed, more);
  });
}

/** The two states of the example. */
type Installed = Pick<Moved, 'before' | 'after'>;

function describeOnServers(moving: MovingApp, installed: Installed, more: (moved: Moved) => void): void {
  onEachServer('on %s', (dialect, serverUrl) => {
    const it = {} as Moved;
    const databases: SpecDatabase[] = [];
    let referencesAfter: readonly unknown[];
    const withPast = async () => {
      const database = await createOnServer(dialect, serverUrl);
      databases.push(database);
      const app = await it.before.start(moving.server, moving.env(database));
      await moving.seed(app.url, database);
      return { database, app };
    };
    it.move = async (database) => {
      const args = ['move', '--model', 'User', '--config', moving.config, '--json'];
      const report = JSON.parse(await it.after.run(LATCHKEY, moving.env(database), args)) as MoveReport;
      for (const statement of report.left) await rows(database, statement);
      return report;
    };
    it.seeded = async () => {
      const { database, app } = await withPast();
      await app.stop();
      return database;
    };
    // Drivers differ in how they return strings and numbers.
    it.references = async (database, sql) =>
      (await rows(database, sql)).map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
      );

    // Create the same data twice. The old app continues with one database, and the other database is moved.
    beforeAll(async () => {
      Object.assign(it, installed);
      const one = await withPast();
      it.referencesBefore = await it.references(one.database, moving.references);
      it.old = await record(one.app, moving.scenario);
      await one.app.stop();

      const database = await it.seeded();
      expect(await it.move(database)).toMatchObject({ rows: 3, skipped: [] });
      referencesAfter = await it.references(database, moving.referencesToAccounts);
      it.app = await it.after.start(moving.server, moving.env(database));
      it.moved = await record(it.app, moving.scenario);
    }, 180_000);
    afterAll(async () => {
      await it.app?.stop();
      for (const one of databases) await one.drop();
    });

    test('every URL, status, page and body is as it was', () => {
      expect(it.moved.map(visible)).toEqual(it.old.map(visible));
      expect(new Set(it.old.map(({ status }) => status))).toEqual(new Set(moving.statuses));
    });

    test('every foreign key points at the row that it pointed at, and that row has its account', async () => {
      expect(referencesAfter).toEqual(it.referencesBefore);
      expect(referencesAfter).toHaveLength(moving.referenceCount);
      const [old, database] = databases as [SpecDatabase, SpecDatabase];
      expect(await it.references(database, moving.referencesToAccounts)).toEqual(
        await it.references(old, moving.references),
      );
      expect(await it.references(database, ORPHANS)).toEqual([{ accounts: '0' }]);
    });

    test('no request takes more statements, unless it is about an account or a session', () => {
      const costlier = it.moved.filter(
        ({ request, statements }, i) =>
          statements.length > (it.old[i]?.statements.length ?? 0) && !moving.mayCostMore.test(request),
      );
      expect(costlier).toEqual([]);
    });

    more(it);
  });
}

/** Returns how many statements the first successful request of a kind requires, before and after the move. */
export function statementsOf({ old, moved }: Pick<Moved, 'old' | 'moved'>, request: string): number[] {
  const at = old.findIndex((one) => one.request === request && one.statements.length > 0);
  return [old[at], moved[at]].map((one) => one?.statements.length ?? -1);
}
