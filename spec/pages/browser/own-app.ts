import express from 'express';
import type { Page } from 'playwright-core';
import {
  admin,
  apiKeys,
  auditLog,
  authRouter,
  createAuth,
  currentUser,
  emailSignIn,
  type HumanCheckOptions,
  type LocaleOptions,
  oauth,
  organizations,
  passkeys,
  requireSession,
  suspension,
  type TwoFactorOptions,
  twoFactor,
} from '../../../lib/index.js';
import { type PagesOptions, pages } from '../../../lib/pages.js';
import { oidc } from '../../../lib/providers.js';
import { memoryLogger, password, SECRET } from '../../support/app.js';
import { createDatabase, rows } from '../../support/database.js';
import { proveMailbox } from '../../support/email-proof.js';
import { Inbox } from './inbox.js';
import { CLIENT, listen, startProvider } from './provider.js';

export interface Person {
  readonly email: string;
  readonly password: string;
}

export interface OwnAppOptions {
  readonly pages?: PagesOptions;
  readonly signUp?: 'open' | 'closed';
  /** Whether users need a second factor and a field, and a new browser needs a code. @default false */
  readonly isStrict?: boolean;
  /** @default none */
  readonly humanCheck?: HumanCheckOptions;
  /** Other options of twoFactor(). */
  readonly twoFactor?: TwoFactorOptions;
  /** The scopes of API keys. @default any */
  readonly scopes?: Readonly<Record<string, string>>;
  /** Whether emails contain codes instead of links. @default false */
  readonly hasCodes?: boolean;
  /** Whether there are organizations. @default false */
  readonly hasOrganizations?: boolean;
  /** The languages. @default English alone */
  readonly locale?: LocaleOptions;
}

/** Starts an app with every plugin in the process of the spec, and an OpenID provider. */
export async function startOwnApp({
  pages: options,
  signUp = 'open',
  isStrict = false,
  humanCheck,
  twoFactor: more = {},
  scopes,
  hasCodes = false,
  hasOrganizations = false,
  locale,
}: OwnAppOptions = {}) {
  const provider = await startProvider();
  const inbox = new Inbox();
  const app = express();
  const server = await listen('localhost', app);
  const address = server.address();
  // Passkeys need a host name.
  const origin = `http://localhost:${address && typeof address === 'object' ? address.port : ''}`;
  const database = await createDatabase();
  const auth = createAuth({
    database: database.url,
    secret: SECRET,
    baseUrl: origin,
    appName: 'Notes',
    logger: memoryLogger(),
    rateLimit: false,
    email: { send: (mail) => inbox.add(mail) },
    signUp,
    ...(humanCheck && { humanCheck }),
    ...(locale && { locale }),
    user: {
      fields: {
        name: { type: 'string', maxLength: 80 },
        newsletter: { type: 'boolean', default: false },
        color: { type: 'string', enum: ['red', 'blue'] },
        plan: { type: 'string', input: 'none', output: 'admin' },
        ...(isStrict && { team: { type: 'string', required: true } }),
      },
    },
    plugins: [
      password({
        username: true,
        signInOnSignUp: true,
        sendVerificationOnSignUp: true,
        unknownBrowser: isStrict ? 'code' : 'notify',
        ...(hasCodes && { verifyEmailBy: 'code', resetBy: 'code' }),
      }),
      emailSignIn({ signUp: true }),
      twoFactor({ required: isStrict ? 'everybody' : 'never', ...more }),
      passkeys(),
      apiKeys(scopes ? { scopes } : {}),
      suspension(),
      // The type of an app with them, which only the tests that set the option use.
      ...((hasOrganizations ? [organizations()] : []) as unknown as [ReturnType<typeof organizations>]),
      auditLog(),
      oauth(),
      oidc({ id: 'example', issuer: provider.issuer, trustEmailVerified: true, ...CLIENT }),
      admin({ adminEmails: ['admin@example.com'] }),
      pages({
        home: '/notes',
        links: { terms: '/terms', privacy: '/privacy', support: '/support' },
        ...options,
      }),
    ],
  });
  await auth.migrate();
  app.use('/auth', authRouter(auth));
  app.get('/notes', requireSession(auth), (req, res) => {
    res.send(
      `<!doctype html><html lang="en"><title>Notes</title><h1>Notes of ${currentUser(req).email}</h1>`,
    );
  });
  const url = (path: string) => origin + path;

  return {
    auth,
    express: app,
    database,
    inbox,
    origin,
    url,
    /** Creates a user who has answered an email. */
    async createPerson(email: string): Promise<Person & { readonly id: string }> {
      const person = { email, password: 'nanoseconds of wire' };
      const { id } = await auth.users.create({
        ...person,
        emailVerified: true,
        ...(isStrict && { fields: { team: 'Compilers' } }),
      });
      await proveMailbox(auth, id);
      return { ...person, id };
    },
    /** Signs in without the pages, for tests that are about others, and opens a page. */
    async signIn(page: Page, { email, password }: Person, path: string): Promise<void> {
      const data = { credential: email, password };
      const response = await page.request.post(url('/auth/signin/credential'), { data });
      if (!response.ok()) throw new Error(`the sign-in is answered ${response.status()}`);
      await page.goto(url(path));
    },
    /** Moves all sign-ins into the past, so that no session is fresh. */
    async letSignInsAge(): Promise<void> {
      const then = new Date(Date.now() - 3600_000);
      await rows(database, 'UPDATE sessions SET authenticated_at = :then', { then });
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      provider.stop();
      await auth.close();
      await database.drop();
    },
  };
}

export type OwnApp = Awaited<ReturnType<typeof startOwnApp>>;
