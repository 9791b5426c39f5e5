import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import type request from 'supertest';
import {
  type Auth,
  type AuthConfig,
  authRouter,
  createAuth,
  type OAuthOptions,
  oauth,
  type PluginApis,
} from '../../lib/index.js';
import { oidc, type ProviderPlugin } from '../../lib/providers.js';
import { logEveryLine, memoryLogger, password, SECRET, type SpecApp, type SpecAppOptions } from './app.js';
import { browserOf, clientOf, keepingIdle } from './client.js';
import { rows, type SpecDatabase } from './database.js';
import { declaredProblems } from './declared.js';
import { databaseFor } from './migrated.js';
import { CLIENT, type OidcServer, startOidcServer, visitProvider } from './oidc.js';

export type OAuthPlugins = readonly [
  ReturnType<typeof password>,
  ReturnType<typeof oauth>,
  ...ProviderPlugin[],
];
export type OAuthApp = SpecApp<OAuthPlugins> & {
  /** Creates another Auth on the same database, like in another process. */
  another(config?: Partial<AuthConfig<OAuthPlugins>>): Auth & PluginApis<OAuthPlugins>;
};
export type Browser = ReturnType<typeof request.agent>;

export interface OAuthAppOptions {
  /** Called when the app's origin, and therefore its redirect URIs, are known. */
  providers(redirectUri: (provider: string) => string): ProviderPlugin[] | Promise<ProviderPlugin[]>;
  options?: OAuthOptions;
  passwords?: Parameters<typeof password>[0];
  /** The host in the app's origin. Passkeys need one with a name. @default 127.0.0.1 */
  host?: string;
  config?:
    | Partial<AuthConfig<OAuthPlugins>>
    | ((database: SpecDatabase) => Partial<AuthConfig<OAuthPlugins>>);
  /** As that of `startApp`. */
  tables?: SpecAppOptions<OAuthPlugins>['tables'];
  mount?: (app: Express, auth: Auth & PluginApis<OAuthPlugins>) => void;
}

/**
 * Starts an app whose port is known before its config is created, because baseUrl and the redirect URIs
 * contain it.
 */
export async function startOAuthApp({
  providers,
  options = {},
  passwords = {},
  host = '127.0.0.1',
  config = {},
  tables,
  mount = (app, auth) => void app.use('/auth', authRouter(auth)),
}: OAuthAppOptions): Promise<OAuthApp> {
  const server: Server = keepingIdle(createServer());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  const plugins = await providers((provider) => `${origin}/auth/oauth/${provider}/callback`);
  const used: OAuthPlugins = [password(passwords), oauth(options), ...plugins];
  const dependsOnDatabase = typeof config === 'function';
  const known = dependsOnDatabase ? tables : config;
  const { database, migrate } = await databaseFor(known ? { plugins: used, ...known } : null);
  const logger = memoryLogger();
  const given = dependsOnDatabase ? config(database) : config;
  const auths: Auth[] = [];
  const whole: AuthConfig<OAuthPlugins> = {
    database: database.url,
    secret: SECRET,
    plugins: used,
    baseUrl: origin,
    logger,
    // Specs sign in more often than the rate limits allow.
    rateLimit: false,
    ...given,
  };
  const another = (more: Partial<AuthConfig<OAuthPlugins>> = {}) => {
    const auth = createAuth<OAuthPlugins, Record<never, never>, boolean>({ ...whole, ...more });
    auths.push(auth);
    return auth;
  };
  const auth = another();
  await migrate(auth);
  logEveryLine(auth);
  const app = express();
  const declared = declaredProblems(auth);
  app.use(declared.middleware);
  mount(app, auth);
  server.on('request', app);
  return {
    auth,
    another,
    database,
    server,
    origin,
    log: logger.lines,
    browser: () => browserOf(server),
    http: clientOf(server),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(auths.map((one) => one.close()));
      if (typeof given.database === 'object') await given.database.close();
      await database.drop();
      declared.check();
    },
  };
}

/** Starts an app with one real OpenID provider, `oidc`, whose email claim is trusted. */
export async function startWithOidc(options: Partial<OAuthAppOptions> = {}) {
  let provider: OidcServer | undefined;
  const app = await startOAuthApp({
    ...options,
    async providers(redirectUri) {
      provider = await startOidcServer([redirectUri('oidc')]);
      return [oidcPlugin(provider), ...((await options.providers?.(redirectUri)) ?? [])];
    },
  });
  return { app, provider: provider as OidcServer };
}

export function oidcPlugin({ issuer }: { issuer: string }, more: Partial<Parameters<typeof oidc>[0]> = {}) {
  return oidc({ id: 'oidc', issuer, ...CLIENT, trustEmailVerified: true, ...more });
}

/**
 * Starts a flow. @returns the URL at the provider that the app redirects the browser to
 */
export async function begin(
  browser: Browser,
  path: string,
  query: Record<string, string> = {},
): Promise<string> {
  const response = await browser.get(path).query(query).expect(302);
  return response.headers.location ?? '';
}

/** The path and query of a URL, for a request by a client of the app. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Runs a complete flow, up to the app's response to the callback. */
export async function travel(browser: Browser, path: string, query: Record<string, string> = {}) {
  return browser.get(pathOf(await visitProvider(await begin(browser, path, query))));
}

export function signInWith(browser: Browser, provider: string, callbackUrl = '/done') {
  return travel(browser, `/auth/oauth/${provider}/authorize`, { callback_url: callbackUrl });
}

export function linkWith(browser: Browser, provider: string, callbackUrl = '/linked') {
  return travel(browser, `/auth/oauth/${provider}/link`, { callback_url: callbackUrl });
}

/** Counts the rows that a flow can create. */
export async function countRows(database: SpecDatabase) {
  const count = async (table: string) =>
    Number((await rows<{ n: number }>(database, `SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);
  return {
    users: await count('users'),
    accounts: await count('accounts'),
    sessions: await count('sessions'),
  };
}
