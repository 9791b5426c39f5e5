import { AsyncLocalStorage } from 'node:async_hooks';
import { type Auth, type AuthWith, createAuth, internalsOf } from '../auth.js';
import type { AuthConfig, EmailOptions } from '../config/config.js';
import type { FieldsOptions } from '../config/user-options.js';
import { once } from '../context/once.js';
import type { Core } from '../core/core.js';
import { definePlugin, type Plugin, type PluginDefinition } from '../plugin.js';
import { emptyTables } from './empty.js';
import { Mailbox } from './mailbox.js';
import { Testing } from './testing.js';

/** The config of {@link testAuth}: that of `createAuth`, with defaults for tests. */
export interface TestAuthOptions<P = readonly unknown[], F extends FieldsOptions = FieldsOptions>
  extends Omit<Partial<AuthConfig<P, F>>, 'email'> {
  /**
   * The pages for links in emails, and the notices. Emails are kept in `auth.testing.mails`; `send` is never called.
   * `false` tests an app without emails.
   * @default {}
   */
  email?: Partial<EmailOptions> | false | undefined;
}

/** An Auth for tests. */
export type TestAuth<
  P extends readonly Plugin[] = readonly [],
  F extends FieldsOptions = Record<never, never>,
> = AuthWith<P, F> & { readonly testing: Testing };

/** Known to everybody, as everything in a test is. */
const SECRET = 'latchkey/testing: a secret that is none';

/**
 * Creates an Auth for tests: on a SQLite database in memory, without rate limits, with the lowest bcrypt cost, and with short
 * passwords allowed. What you set in the options holds instead, except for the cost. Its first use runs the migrations.
 *
 * @example
 * const auth = testAuth({ plugins: [credentialPassword()] });
 * const app = newApp(auth);
 * const { headers } = await signedIn(auth, { email: 'ada@example.com' });
 * await request(app).get('/hello').set(headers).expect(200);
 *
 * @throws TypeError naming every mistake in the options
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
  return auth as unknown as TestAuth<P, F>;
}

/** @throws Error if `NODE_ENV` is production */
export function refuseInProduction(): void {
  if (process.env.NODE_ENV === 'production')
    throw new Error(
      'latchkey: latchkey/testing is for tests: it refuses to work while NODE_ENV is production',
    );
}

/** `auth.testing` as a plugin. */
function testing(mailbox: Mailbox, empty: () => Promise<void>): Plugin<'testing', Testing> {
  return definePlugin({
    name: 'testing',
    setup: (core) => ({ api: new Testing(core, mailbox, empty) }),
  });
}

/** Whose migrations the current statement is one of. */
const migrating = new AsyncLocalStorage<Core['database']>();

/** Runs the migrations before the first statement, so that tests need not wait for them anywhere. */
function migrateFirst({ database }: Core, migrate: () => Promise<unknown>): void {
  const migrated = once(() => migrating.run(database, migrate));
  const ready = database.ready.bind(database);
  database.ready = async () => {
    if (migrating.getStore() !== database) await migrated();
    await ready();
  };
}
