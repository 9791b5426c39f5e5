import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type RequestHandler } from 'express';
import type request from 'supertest';
import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import {
  type AuthConfig,
  type AuthWith,
  authRouter,
  type CredentialPasswordOptions,
  createAuth,
  credentialPassword,
  type Plugin,
} from '../../lib/index.js';
import { browserOf, clientOf, keepingIdle } from './client.js';
import type { SpecDatabase } from './database.js';
import { declaredProblems } from './declared.js';
import { databaseFor } from './migrated.js';

export const SECRET = 'a secret for specs, of 32 bytes and more';

/** Uses a low bcrypt cost to keep the specs fast. */
export const password = (options: CredentialPasswordOptions = {}) =>
  credentialPassword<CredentialPasswordOptions>({ bcryptCost: 4, ...options });

/** Collects log lines, so that specs can inspect them and nothing is printed to the console. */
export function memoryLogger() {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (...args: unknown[]) =>
      void lines.push(
        `${level} ${args.map((arg) => (arg instanceof Error ? `${arg.stack}` : String(arg))).join(' ')}`,
      );
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** Makes every line be logged from now on. Otherwise, lines with the same cause are only counted. */
export function logEveryLine(auth: AnyAuth): void {
  internalsOf(auth).core.settings.log.close();
}

export interface SpecApp<P extends readonly Plugin[]> {
  readonly auth: AuthWith<P>;
  readonly database: SpecDatabase;
  readonly server: Server;
  /** For example http://127.0.0.1:12345 */
  readonly origin: string;
  readonly log: string[];
  /** Creates a client with its own cookie jar. It sends Secure cookies if the app's `baseUrl` is https. */
  browser(): ReturnType<typeof request.agent>;
  /** A client without a cookie jar. */
  readonly http: ReturnType<typeof request>;
  stop(): Promise<void>;
}

export interface SpecAppOptions<P extends readonly Plugin[]> {
  /** Can be a function if they depend on the database, for example because a bridge reads it. */
  plugins?: P | ((database: SpecDatabase) => P | Promise<P>);
  /** Can be a function if it depends on the database, for example for the app's own Sequelize instance. */
  config?: Partial<AuthConfig<P>> | ((database: SpecDatabase) => Promise<Partial<AuthConfig<P>>>);
  /**
   * What its tables depend on besides the plugins, if the config is a function. Without it, such an app has a new database,
   * which takes longer.
   */
  tables?: {
    readonly user?: AuthConfig<P>['user'];
    readonly locale?: AuthConfig<P>['locale'];
    /** Whether the config is that of `ownRows`, and the app's own table is created after the start. */
    readonly hasOwnRows?: boolean;
  };
  /** Mounts the routes of the app; by default, mounts the router at /auth. */
  mount?: (app: Express, auth: AuthWith<P>) => void;
}

const DEFAULT: readonly Plugin[] = [password()];

/** Starts a small app with its own database, on its own port. */
export async function startApp<const P extends readonly Plugin[]>({
  plugins,
  config = {},
  tables,
  mount = (app, auth) => void app.use('/auth', authRouter(auth)),
}: SpecAppOptions<P> = {}): Promise<SpecApp<P>> {
  const known = typeof config === 'object' ? config : tables;
  const { database, migrate } = await databaseFor(
    known && typeof plugins !== 'function' ? { ...known, plugins: plugins ?? DEFAULT } : null,
  );
  const given = typeof config === 'function' ? await config(database) : config;
  const used =
    typeof plugins === 'function'
      ? await plugins(database)
      : (plugins ?? (DEFAULT as readonly Plugin[] as P));
  const logger = memoryLogger();
  const whole: AuthConfig<P> = {
    database: database.url,
    secret: SECRET,
    plugins: used,
    logger,
    // Specs sign in more often than the rate limits allow.
    rateLimit: false,
    // The outbox must not send statements in the middle of a spec that counts them.
    outbox: { interval: false },
    ...given,
  };
  const auth = createAuth<P, Record<never, never>, boolean>(whole);
  await migrate(auth);
  const app = express();
  const declared = declaredProblems(auth);
  app.use(declared.middleware);
  mount(app, auth);
  const server = await new Promise<Server>((resolve) => {
    const listening = keepingIdle(app.listen(0, '127.0.0.1', () => resolve(listening)));
  });
  return {
    auth,
    database,
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log: logger.lines,
    browser: () => browserOf(server, given.baseUrl?.startsWith('https:')),
    http: clientOf(server),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await auth.close();
      if (typeof given.database === 'object') await given.database.close();
      await database.drop();
      declared.check();
    },
  };
}

/** Passes the errors of an async handler to the error handler, which Express 4 does not do. */
export const caught =
  (handler: (...args: Parameters<RequestHandler>) => Promise<unknown>): RequestHandler =>
  (req, res, next) =>
    void handler(req, res, next).catch(next);

export const ada = { email: 'ada@example.com', password: 'an analytical engine' };

/** Signs up and signs in, and returns the client that has the cookie. */
export async function signedIn(
  app: { browser(): ReturnType<typeof request.agent> },
  { email, password }: { email: string; password: string } = ada,
) {
  const browser = app.browser();
  await browser.post('/auth/signup/credential').send({ email, password }).expect(201);
  await browser.post('/auth/signin/credential').send({ credential: email, password }).expect(200);
  return browser;
}

/** The session cookie of a response as `{ value, attributes }`; undefined if the response sets none. */
export function sessionCookie(response: request.Response, name = 'latchkey') {
  const headers = (response.headers['set-cookie'] ?? []) as unknown as string[];
  const header = headers.find((line) => line.startsWith(`${name}=`));
  if (!header) return undefined;
  const [pair = '', ...attributes] = header.split('; ');
  return { value: pair.slice(name.length + 1), attributes };
}
