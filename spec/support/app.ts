import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import request from 'supertest';
import {
  type Auth,
  type AuthConfig,
  authRouter,
  createAuth,
  credentialPassword,
  type Plugin,
  type PluginApis,
} from '../../lib/index.js';
import { createDatabase, type SpecDatabase } from './database.js';

export const SECRET = 'a secret for specs, of 32 bytes and more';

/** Cheap hashes: the specs are about what is hashed, not how slowly. */
export const password = (options: Parameters<typeof credentialPassword>[0] = {}) =>
  credentialPassword({ bcryptCost: 4, ...options });

/** Collects what is logged, so that specs can look at it and the console stays clean. */
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

export interface SpecApp<P extends readonly Plugin[]> {
  readonly auth: Auth & PluginApis<P>;
  readonly database: SpecDatabase;
  readonly server: Server;
  /** Such as http://127.0.0.1:12345 */
  readonly origin: string;
  readonly log: string[];
  /** A client with a cookie jar of its own. */
  browser(): ReturnType<typeof request.agent>;
  /** A client without one. */
  readonly http: ReturnType<typeof request>;
  stop(): Promise<void>;
}

export interface SpecAppOptions<P extends readonly Plugin[]> {
  plugins?: P;
  /** A function where it depends on the database, such as a Sequelize instance of the app's own. */
  config?: Partial<AuthConfig<P>> | ((database: SpecDatabase) => Promise<Partial<AuthConfig<P>>>);
  /** What the app mounts; by default the router at /auth. */
  mount?: (app: Express, auth: Auth & PluginApis<P>) => void;
}

/** A small app over a database of its own, listening on a port of its own. */
export async function startApp<const P extends readonly Plugin[]>({
  plugins,
  config = {},
  mount = (app, auth) => void app.use('/auth', authRouter(auth)),
}: SpecAppOptions<P> = {}): Promise<SpecApp<P>> {
  const database = await createDatabase();
  const given = typeof config === 'function' ? await config(database) : config;
  const logger = memoryLogger();
  const auth = createAuth<P>({
    database: database.url,
    secret: SECRET,
    plugins: plugins ?? ([password()] as unknown as P),
    logger,
    // Specs sign in more often than people do.
    rateLimit: false,
    ...given,
  });
  await auth.migrate();
  const app = express();
  mount(app, auth);
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  return {
    auth,
    database,
    server,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log: logger.lines,
    browser: () => request.agent(server),
    http: request(server),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await auth.close();
      if (typeof given.database === 'object') await given.database.close();
      await database.drop();
    },
  };
}

export const ada = { email: 'ada@example.com', password: 'an analytical engine' };

/** Signs up and in, and gives the client that has the cookie. */
export async function signedIn(
  app: { browser(): ReturnType<typeof request.agent> },
  { email, password }: { email: string; password: string } = ada,
) {
  const browser = app.browser();
  await browser.post('/auth/signup/credential').send({ email, password }).expect(201);
  await browser.post('/auth/signin/credential').send({ credential: email, password }).expect(200);
  return browser;
}

/** The session cookie of an answer, as `{ value, attributes }`; undefined where it sets none. */
export function sessionCookie(response: request.Response, name = 'latchkey') {
  const headers = (response.headers['set-cookie'] ?? []) as unknown as string[];
  const header = headers.find((line) => line.startsWith(`${name}=`));
  if (!header) return undefined;
  const [pair = '', ...attributes] = header.split('; ');
  return { value: pair.slice(name.length + 1), attributes };
}
