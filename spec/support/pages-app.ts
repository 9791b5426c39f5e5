import type { Auth, AuthConfig, MailMessage, Plugin } from '../../lib/index.js';
import { type PagesOptions, pages } from '../../lib/pages.js';
import { ada, type SpecApp, type SpecAppOptions, startApp } from './app.js';
import { rows, type SpecDatabase } from './database.js';
import { proveMailbox } from './email-proof.js';
import { mailbox } from './mailbox.js';
import { PageBrowser, type Shown } from './page-browser.js';
import { settled } from './sessions.js';
import { enroll, firstStep, forgetSteps } from './two-factor.js';

type Enrolled = Awaited<ReturnType<typeof enroll>>;

/** An app with pages, whose emails are kept. */
export type PagesApp<P extends readonly Plugin[]> = SpecApp<readonly [...P, ReturnType<typeof pages>]> & {
  readonly mails: readonly MailMessage[];
  /** Opens a browser with its own cookies. */
  open(headers?: Record<string, string>): PageBrowser;
  /** Runs a function and returns the email of this kind that it causes. */
  mailOf(to: string, kind: string, work: () => PromiseLike<unknown>): Promise<MailMessage>;
};

/** Starts an app with some plugins and pages, at http://localhost and `/auth`. */
export async function startPagesApp<const P extends readonly Plugin[]>(
  plugins: P,
  {
    pages: options = { home: '/home' },
    config = {},
    mount,
  }: {
    pages?: PagesOptions;
    config?: Partial<AuthConfig<readonly [...P, ReturnType<typeof pages>]>>;
    mount?: SpecAppOptions<readonly [...P, ReturnType<typeof pages>]>['mount'];
  } = {},
): Promise<PagesApp<P>> {
  const mail = mailbox();
  const app = await startApp({
    plugins: [...plugins, pages(options)] as const,
    config: { baseUrl: 'http://localhost', ...config, email: { send: mail.send, ...config.email } } as never,
    ...(mount && { mount: mount as never }),
  });
  return {
    ...(app as unknown as SpecApp<readonly [...P, ReturnType<typeof pages>]>),
    mails: mail.mails,
    mailOf: mail.mailOf,
    open: (headers = {}) => new PageBrowser(app.origin, headers),
  };
}

/** Signs in by the form with the password. */
export async function signInOn(
  browser: PageBrowser,
  { email, password }: { email: string; password: string },
  page = '/auth/sign-in',
): Promise<Shown> {
  return browser.submit(await browser.open(page), 'password', { credential: email, password });
}

/** Whether a browser has a session. */
export async function isSignedIn(browser: PageBrowser, mount = '/auth'): Promise<boolean> {
  return (await browser.open(`${mount}/me`, { accept: 'application/json' })).status === 200;
}

/** Returns the path and the query of a URL. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url, 'http://localhost');
  return pathname + search;
}

/** Creates a user who has proven access to the mailbox, so that the account can be changed. */
export async function createPerson(
  { auth }: { readonly auth: Parameters<typeof proveMailbox>[0] & Pick<Auth, 'users'> },
  { email, password }: { email: string; password?: string },
): Promise<string> {
  const { id } = await auth.users.create({ email, emailVerified: true, ...(password && { password }) });
  await proveMailbox(auth, id);
  return id;
}

/** Creates a user with a second factor. */
export async function createProtected(app: PagesApp<readonly Plugin[]>, person = ada): Promise<Enrolled> {
  await createPerson(app, person);
  const browser = app.browser();
  await firstStep(browser, person).expect(200);
  const enrolled = await enroll(browser);
  await forgetSteps(app as never);
  return enrolled;
}

/** Returns the rows of all tables, after background work: the row of an email is updated after the email is sent. */
export async function rowsOfAllTables(auth: Auth, database: SpecDatabase): Promise<Record<string, unknown>> {
  await settled(auth);
  const found: Record<string, unknown> = {};
  for (const table of await database.sequelize.getQueryInterface().showAllTables())
    found[String(table)] = await rows(database, `SELECT * FROM ${String(table)}`);
  return found;
}
