import { AsyncLocalStorage } from 'node:async_hooks';
import { type AnyAuth, type Auth, type AuthWith, createAuth, internalsOf } from '../auth.js';
import type { AuthConfig } from '../config/config.js';
import type { EmailOptions } from '../config/email.js';
import type { FieldsOptions } from '../config/user.js';
import { once } from '../context/once.js';
import type { Core } from '../core/core.js';
import { isForeignKeyViolation } from '../database/faults.js';
import type { MailMessage } from '../mail/messages.js';
import { definePlugin, type Plugin, type PluginDefinition } from '../plugin.js';
import { columnOf, quotedTable } from '../users/row-source.js';
import { Mailbox, type MailFilter } from './mailbox.js';

/** The config of {@link testAuth}: the config of `createAuth`, with defaults for tests. */
export interface TestAuthOptions<P = readonly unknown[], F extends FieldsOptions = FieldsOptions>
  extends Omit<Partial<AuthConfig<P, F>>, 'email'> {
  /**
   * The pages for links in emails, and the notices. Emails are kept in `auth.testing.mails`, and `send` is never
   * called. Set `email` to `false` to test an app without emails.
   * @default {}
   */
  email?: Partial<EmailOptions> | false | undefined;
}

/** An Auth for tests. */
export type TestAuth<
  P extends readonly Plugin[] = readonly [],
  F extends FieldsOptions = Record<never, never>,
> = AuthWith<P, F> & { readonly testing: Testing };

/** This secret is public, because tests have nothing to protect. */
const SECRET = 'latchkey/testing: a secret that is none';

/**
 * Creates an Auth for tests: on a SQLite database in memory, without rate limits, with the lowest bcrypt cost, and with
 * short passwords allowed. Your options replace these defaults, except for the cost. The first use of the Auth runs the
 * migrations.
 *
 * @example
 * const auth = testAuth({ plugins: [credentialPassword()] });
 * const app = newApp(auth);
 * const { headers } = await signedIn(auth, { email: 'ada@example.com' });
 * await request(app).get('/hello').set(headers).expect(200);
 *
 * @throws TypeError that lists every mistake in the options
 * @throws Error if `NODE_ENV` is production
 */
export function testAuth<
  const P extends readonly Plugin[] = readonly [],
  const F extends FieldsOptions = Record<never, never>,
>(options: TestAuthOptions<P, F> = {}): TestAuth<P, F> {
  refuseInProduction();
  const { email = {}, plugins = [], ...config } = options;
  const mailbox = new Mailbox();
  const auth: Auth & { readonly testing: Testing } = createAuth({
    ...(config as Partial<AuthConfig<readonly Plugin[]>>),
    database: config.database ?? 'sqlite::memory:',
    secret: config.secret ?? SECRET,
    baseUrl: config.baseUrl ?? 'http://localhost',
    rateLimit: config.rateLimit ?? false,
    ...(email !== false && { email: { ...email, send: (mail) => mailbox.receive(mail) } }),
    plugins: [
      ...(plugins as readonly Plugin[]).map((plugin) => (plugin as PluginDefinition).forTests?.() ?? plugin),
      testing(mailbox, () => emptyTables(auth, auth.models)),
    ],
  });
  const { core } = internalsOf(auth);
  migrateFirst(core, () => auth.migrate());
  const isAdministrator = core.isAdministrator.bind(core);
  core.isAdministrator = (user) => auth.testing.administrators.has(user.id) || isAdministrator(user);
  const isNamed = core.isNamedAdministrator.bind(core);
  core.isNamedAdministrator = (user) => auth.testing.administrators.has(user.id) || isNamed(user);
  const open = core.tasks.open.bind(core.tasks);
  core.tasks.open = (user, session) => auth.testing.tasks.get(user.id) ?? open(user, session);
  return auth as unknown as TestAuth<P, F>;
}

/** @throws Error if `NODE_ENV` is production */
export function refuseInProduction(): void {
  if (process.env.NODE_ENV === 'production')
    throw new Error(
      'latchkey: latchkey/testing is for tests only: it does not work while NODE_ENV is production',
    );
}

/** Creates the plugin that adds `auth.testing`. */
function testing(mailbox: Mailbox, empty: () => Promise<void>): Plugin<'testing', Testing> {
  return definePlugin({
    name: 'testing',
    setup: (core) => ({ api: new Testing(core, mailbox, empty) }),
  });
}

/** The database whose migrations are sending the current statement. */
const migrating = new AsyncLocalStorage<Core['database']>();

/** Runs the migrations before the first statement, so that tests do not have to wait for them. */
function migrateFirst({ database }: Core, migrate: () => Promise<unknown>): void {
  const migrated = once(() => migrating.run(database, migrate));
  const ready = database.ready.bind(database);
  database.ready = async () => {
    if (migrating.getStore() !== database) await migrated();
    await ready();
  };
}

/** `auth.testing`: the emails, the time and the data of an Auth for tests. */
export class Testing {
  readonly #core: Core;
  readonly #mailbox: Mailbox;
  readonly #empty: () => Promise<void>;
  #counted = 0;
  /** The ids of users who are administrators for a test. @internal */
  readonly administrators = new Set<string>();
  /** The tasks that are open for a test, by the id of the user. @internal */
  readonly tasks = new Map<string, readonly string[]>();

  /** @internal */
  constructor(core: Core, mailbox: Mailbox, empty: () => Promise<void>) {
    this.#core = core;
    this.#mailbox = mailbox;
    this.#empty = empty;
  }

  /** Counts a user whose email the test did not choose. @internal */
  count(): number {
    return ++this.#counted;
  }

  /** The emails so far, oldest first. Some are sent after the response: use {@link nextMail} to wait for one. */
  get mails(): readonly MailMessage[] {
    return this.#mailbox.mails;
  }

  /**
   * Returns the oldest email that no earlier call has returned. Waits for it, because it might be sent after the
   * response.
   *
   * @param filter the emails to consider; other emails stay for later calls
   * @throws Error if no such email arrives in time. The error lists the other emails
   */
  nextMail(filter: MailFilter = {}): Promise<MailMessage> {
    return this.#mailbox.next(filter);
  }

  /**
   * Moves latchkey's time forward. Sessions, emailed links, codes, limits in the database and everything else that
   * depends on the time behave as they would at that time. The clocks of Node, Redis and providers do not change.
   *
   * @throws TypeError if `seconds` is negative or not a finite number
   */
  advance(seconds: number): void {
    if (!Number.isFinite(seconds) || seconds < 0)
      throw new TypeError('latchkey: auth.testing.advance: pass a number of seconds; time cannot go back');
    if (seconds > 0) this.#core.database.clock.skip(seconds * 1000);
  }

  /**
   * Empties all of latchkey's tables and the table of `user.model`, deletes the kept emails, and returns to the real
   * time.
   *
   * @throws Error if the database is not in memory and has no `test` in its name or in `tablePrefix`, because it might
   *   contain data that you need; or if rows of the app refer to users and cannot be deleted with them
   */
  async reset(): Promise<void> {
    await this.#empty();
    this.#mailbox.clear();
    this.administrators.clear();
    this.#core.database.clock.skip(0);
  }
}

/** Deletes the rows of these models' tables, and the app's rows of users. @throws like `Testing.reset` */
async function emptyTables(auth: AnyAuth, models: object): Promise<void> {
  const { core } = internalsOf(auth);
  requireDatabaseForTests(core);
  await core.settle();
  const { database, users } = core;
  const { name: usersTable } = users.table;
  const names = Object.values(models).map((model) => String(model.getTableName()));
  const statements = names.filter((name) => name !== usersTable).map((name) => `DELETE FROM ${name}`);
  if (users.rows) {
    const { model, foreignKey } = users.rows;
    const { queryGenerator } = model.sequelize.getQueryInterface() as never as Quoting;
    const column = queryGenerator.quoteIdentifier(columnOf(model, foreignKey));
    statements.push(`DELETE FROM ${quotedTable(model)} WHERE ${column} IS NOT NULL`);
  }
  statements.push(`DELETE FROM ${usersTable}`);
  try {
    await database.transaction(async (transaction) => {
      for (const sql of statements) await database.change(sql, undefined, { transaction });
    });
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    const what = 'rows of your app refer to users, and cannot be deleted with them. Delete those rows first';
    throw new Error(`latchkey: auth.testing.reset: ${what}`, { cause: error });
  }
}

interface Quoting {
  readonly queryGenerator: { quoteIdentifier(name: string): string };
}

/** Requires a database for tests, because an app's own config can name the database that its developer works with. */
function requireDatabaseForTests({ database, settings }: Core): void {
  const { config, options } = database.sequelize as unknown as {
    config: { database?: string | null };
    options: { storage?: string };
  };
  const name = (database.dialect === 'sqlite' ? options.storage : config.database) ?? '';
  if (name === ':memory:' || /test/i.test(`${name} ${settings.tablePrefix}`)) return;
  throw new Error(
    `latchkey: auth.testing.reset: the database ${name} might contain data that you need. ` +
      "Use a database with 'test' in its name, set tablePrefix to 'test_', or remove database from the options",
  );
}
