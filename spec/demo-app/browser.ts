// playwright-core uses DOM types. The code of the package itself is compiled without them.
/// <reference lib="dom" />
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { uuidv7 } from '../../lib/crypto/uuid.js';
import { connectByUrl } from '../../lib/database/connect.js';
import { adminCredentials, codesIn, type Demo, startDemo } from '../support/demo.js';

// The path that run.mjs found; empty if there is none.
const CHROMIUM = process.env.LATCHKEY_SPEC_BROWSER;
// Several times as long as needed on an idle machine.
const WAIT_MS = 60_000;
const TEST_MS = 180_000;
const POLL_MS = 20;
/** For requests on a connection that the server ends when it is idle: one that meets that end is sent again. */
export const AGAIN = { maxRetries: 1 };

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly url: string;
}

/** A user who signs up with a password. */
export interface Account {
  readonly email: string;
  readonly username?: string;
  readonly password: string;
}

export const inBrowser = CHROMIUM ? describe : describe.skip;

/**
 * Starts the demo and a browser for a spec file. After each test, checks that no page reported a script error
 * or a CSP violation.
 */
export function demoInBrowser(env: Record<string, string> = {}) {
  let browser: Browser;
  let demo: Demo;
  let data: string;
  const complaints: string[] = [];
  // Each user gets a later time in the id than the one before, and is listed before that one.
  let added = 0;
  jest.setTimeout(TEST_MS);

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'latchkey-demo-'));
    demo = await startDemo(data, env);
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--headless', '--disable-gpu', '--disable-background-networking'],
    });
  });
  // All browsers share one address, and a fast machine would reach its limits after several tests.
  beforeEach(() => change('DELETE FROM rate_limits', {}));
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.end();
    await rm(data, { recursive: true, force: true });
  });

  /** Opens a page in a new browser context. */
  async function blank(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      // A refused request is reported too, but it may be just what a test is about.
      if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
        complaints.push(message.text());
    });
    return page;
  }

  /** Opens a page of the demo in a new browser context. */
  async function open(path: string): Promise<Page> {
    const page = await blank();
    await page.goto(demo.origin + path);
    return page;
  }

  /**
   * Skips the forms, for tests that are not about them: calls a route, and then opens a page with its
   * cookies.
   */
  async function openAfter(route: string, body: object, path: string): Promise<Page> {
    const page = await blank();
    const before = await codesIn(demo.origin);
    // Uses the page's own request context, which shares its cookies with the page.
    const response = await page.request.post(demo.origin + route, { data: body, ...AGAIN });
    if (!response.ok()) throw new Error(`${route} answered ${response.status()}: ${await response.text()}`);
    const { second_factor: step } = await response.json();
    if (step?.methods.includes('email_code')) await giveCode(page, before.length);
    await page.goto(demo.origin + path);
    return page;
  }

  /** The next code that is emailed. @param before how many there were */
  async function nextCode(before: number): Promise<string> {
    for (;;) {
      const [newest, ...others] = await codesIn(demo.origin);
      if (newest && others.length >= before) return newest;
      await new Promise((later) => setTimeout(later, POLL_MS));
    }
  }

  async function giveCode(page: Page, before: number): Promise<void> {
    const data = { method: 'email_code', code: await nextCode(before) };
    const response = await page.request.post(`${demo.origin}/auth/signin/second-factor`, { data, ...AGAIN });
    if (!response.ok()) throw new Error(`the code was answered ${response.status()}`);
  }

  /** The link in the newest email to somebody with this subject. Emails are sent after the response. */
  async function linkIn(page: Page, to: string, subject: string | RegExp): Promise<string> {
    for (;;) {
      const { mails } = await (await page.request.get(`${demo.origin}/api/mails`, AGAIN)).json();
      const sent = mails.find((mail: Mail) => mail.to === to && mail.subject.match(subject));
      if (sent) return sent.url;
      await new Promise((later) => setTimeout(later, POLL_MS));
    }
  }

  /** Changes rows of the demo's database. */
  async function change(statement: string, replacements: Record<string, unknown>): Promise<void> {
    const database = connectByUrl(`sqlite:${join(data, 'demo.db')}`);
    await database?.query(statement, { replacements });
    await database?.close();
  }

  return {
    open,
    async openWithoutScripts(path: string): Promise<Page> {
      const page = await blank({ javaScriptEnabled: false, baseURL: demo.origin });
      await page.goto(path);
      return page;
    },
    openSignedUp: (account: Account, path: string) => openAfter('/auth/signup/credential', account, path),
    /** Like `openSignedUp`, and with the link in the email. */
    async openVerified(account: Account, path: string): Promise<Page> {
      const page = await openAfter('/auth/signup/credential', account, path);
      const token = new URL(await linkIn(page, account.email, 'Confirm your email')).searchParams.get(
        'token',
      );
      await page.request.post(`${demo.origin}/auth/verify-email`, { data: { token }, ...AGAIN });
      await page.reload();
      return page;
    },
    linkIn,
    countCodes: async () => (await codesIn(demo.origin)).length,
    nextCode,
    openSignedIn: ({ email, password }: Account, path: string) =>
      openAfter('/auth/signin/credential', { credential: email, password }, path),
    openAsAdmin: async (path: string) =>
      openAfter('/auth/signin/credential', await adminCredentials(data), path),
    adminPassword: async () => (await adminCredentials(data)).password,
    url: (path: string) => demo.origin + path,
    output: () => demo.output(),

    /** Ends the demo and starts it again on the same data and ports. The demo provider remembers nothing. */
    async restart(): Promise<void> {
      await demo.end();
      demo = await startDemo(data, { ...env, ...demo.ports });
    },

    /** Adds users who cannot sign in. Without a name, they have neither an email nor a username. */
    async addUsers(count: number, name: string | null): Promise<void> {
      const database = connectByUrl(`sqlite:${join(data, 'demo.db')}`);
      for (let i = 0; i < count; i++) {
        const replacements = {
          id: uuidv7(Date.now() + added++),
          email: name && `${name}${i}@example.com`,
          now: new Date(),
        };
        const statement =
          'INSERT INTO users (id, email, created_at, updated_at) VALUES (:id, :email, :now, :now)';
        await database?.query(statement, { replacements });
      }
      await database?.close();
    },

    /** Moves all sign-ins into the past by this many seconds. */
    async letSignInsAge(seconds: number): Promise<void> {
      const then = new Date(Date.now() - seconds * 1000);
      await change('UPDATE sessions SET authenticated_at = :then', { then });
    },

    /** The code that an authenticator app shows. Each counts once: the server is made to forget the earlier ones. */
    async codeOf(secret: string): Promise<string> {
      await change('UPDATE totp_secrets SET last_step = 0', {});
      return new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate();
    },
  };
}

/** Follows a link to a page whose scripts are to send its forms. Until they are loaded, the browser itself would. */
export async function follow(link: Locator): Promise<void> {
  const loaded = link.page().waitForEvent('load');
  await link.click();
  await loaded;
}

/** Fills in and submits the sign-in form. */
export async function signIn(page: Page, credential: string, password: string): Promise<void> {
  await page.getByLabel('Email or username').fill(credential);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Signs out, once the scripts of the page have run: until then, the button sends a form. */
export async function signOut(page: Page): Promise<void> {
  await page.waitForLoadState();
  await page.getByRole('button', { name: 'Sign out' }).click();
}

/** Waits until the page shows a status message or an error. */
export function says(page: Page, role: 'status' | 'alert', text: string | RegExp): Promise<void> {
  return page.getByRole(role).getByText(text).waitFor();
}

/** Answers the question whether to do something that cannot be undone. */
export async function agree(page: Page, action: string): Promise<void> {
  await page.getByRole('alertdialog').getByRole('button', { name: action, exact: true }).click();
}

/** Signs in with the demo provider, from the sign-in page or the sign-up page. */
export async function signInAtProvider(page: Page, email: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with the demo provider' }).click();
  await continueAs(page, email);
}

/** Completes the form of the demo provider. */
export async function continueAs(page: Page, email: string): Promise<void> {
  await page.getByRole('heading', { name: 'Demo provider' }).waitFor();
  await page.getByLabel('Email', { exact: true }).fill(email);
  await follow(page.getByRole('button', { name: 'Continue' }));
}
