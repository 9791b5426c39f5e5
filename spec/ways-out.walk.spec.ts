import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createToken } from '../lib/crypto/token.js';
import { authRouter, type MailMessage, passkeys, requireSession, twoFactor } from '../lib/index.js';
import { pages } from '../lib/pages.js';
import type { ProviderPlugin } from '../lib/providers.js';
import { ada, signedIn } from './support/app.js';
import type { Authenticator } from './support/authenticator.js';
import { type LyingProvider, startLyingProvider } from './support/lying-provider.js';
import { allSent } from './support/mail-app.js';
import { type OAuthApp, oidcPlugin, pathOf, startOAuthApp } from './support/oauth-app.js';
import { visitProvider } from './support/oidc.js';
import { Shown } from './support/page-browser.js';
import { addPasskey, authenticator } from './support/passkeys.js';
import { codeOf, enroll, forgetSteps } from './support/two-factor.js';

/**
 * What a browser has by itself must not lock a person out. For every cookie that latchkey sets, and everything that can be wrong
 * with it, the table says what is refused, and how it ends: every other journey leads to where it does without the cookie.
 */
const hedy = { email: 'hedy@example.com', password: 'frequency hopping' };
const grace = { email: 'grace@example.com', password: 'a nanosecond of wire' };

/** The cookies, by what their names end with, and values that are well-formed, but dead. */
const COOKIES: Readonly<Record<string, { name: string; dead: () => string }>> = {
  session: { name: 'latchkey', dead: () => createToken('lks_') },
  device: { name: 'latchkey-device', dead: () => createToken('lkd_') },
  pending: { name: 'latchkey-pending', dead: () => createToken('lkp_') },
  reset: { name: 'latchkey-reset', dead: () => createToken('lkr_') },
  verify: { name: 'latchkey-verify', dead: () => createToken('lkv_') },
  passkey: { name: 'latchkey-passkey', dead: () => createToken('lkb_') },
  once: { name: 'latchkey-once', dead: () => 'x'.repeat(60) },
  press: { name: 'latchkey-press', dead: () => 'x'.repeat(60) },
  email: { name: 'latchkey-email', dead: () => 'x'.repeat(60) },
  note: { name: 'latchkey-note', dead: () => 'x'.repeat(60) },
  join: { name: 'latchkey-join', dead: () => 'x'.repeat(60) },
  return: { name: 'latchkey-return', dead: () => '/elsewhere' },
  way: { name: 'latchkey-way', dead: () => 'password' },
  offered: { name: 'latchkey-offered', dead: () => 'true' },
  // The names of these end with what they belong to, which the spec learns from a response.
  flow: { name: 'latchkey-flow', dead: () => randomBytes(32).toString('base64url') },
  form: { name: 'latchkey-form', dead: () => 'x'.repeat(80) },
};

/** What can be wrong with a cookie. */
const WRONGS = {
  dead: 'it is dead',
  malformed: 'it is malformed',
  beside: 'a dead one of another domain is beside it, which no response clears',
} as const;

/** The journeys of a person, as programs and as pages. Each begins signed out, and resolves to `ok` or to the code of a refusal. */
const JOURNEYS: Readonly<Record<string, (browser: Browser) => Promise<string>>> = {
  async 'sign in, JSON'(browser) {
    const answer = await browser.json('POST', '/auth/signin/credential', credentialsOf(ada));
    return answer.status === 200 ? usesAndLeaves(browser) : answer.code;
  },
  async 'second factor, JSON'(browser) {
    const first = await browser.json('POST', '/auth/signin/credential', credentialsOf(grace));
    if (first.status !== 200) return first.code;
    const code = { method: 'totp', code: codeOf(secret) };
    const answer = await browser.json('POST', '/auth/signin/second-factor', code);
    return answer.status === 200 ? usesAndLeaves(browser) : answer.code;
  },
  async 'new password, JSON'(browser) {
    const asked = await browser.json('POST', '/auth/passwords/request-reset', { email: hedy.email });
    if (asked.status !== 202) return asked.code;
    await allSent(app.auth);
    const code = mails.findLast(({ kind, to }) => kind === 'reset-code' && to === hedy.email)?.code;
    const body = { code, new_password: hedy.password };
    const answer = await browser.json('POST', '/auth/passwords/reset', body);
    if (answer.status !== 204) return answer.code;
    const signedIn = await browser.json('POST', '/auth/signin/credential', credentialsOf(hedy));
    return signedIn.status === 200 ? usesAndLeaves(browser) : signedIn.code;
  },
  async 'passkey, JSON'(browser) {
    const { body } = await browser.json('POST', '/auth/signin/passkey/options', {});
    const response = device.get(body.options as never);
    const answer = await browser.json('POST', '/auth/signin/passkey', { response });
    return answer.status === 200 ? usesAndLeaves(browser) : answer.code;
  },
  async 'provider, pages'(browser) {
    const begun = await browser.open('/auth/oauth/oidc/authorize?callback_url=/home');
    const { location } = await browser.open(pathOf(await visitProvider(begun.location ?? '')));
    return location === '/home' ? usesAndLeaves(browser) : (location ?? '');
  },
  async 'sign in, pages'(browser) {
    const answer = await browser.submit(await browser.open('/auth/sign-in'), 'password', credentialsOf(ada));
    return answer.location === '/home' ? leavesByPage(browser) : `${answer.status} ${answer.error}`;
  },
  async 'second factor, pages'(browser) {
    const first = await browser.submit(await browser.open('/auth/sign-in'), 'password', credentialsOf(grace));
    const page = await browser.open(first.location ?? '');
    const code = { code: codeOf(secret) };
    const answer = await browser.submit(page, 'confirm', code, { method: 'totp' });
    return answer.location === '/home' ? leavesByPage(browser) : `${answer.status} ${answer.location}`;
  },
  async 'rejected form, pages'(browser) {
    const wrong = { credential: ada.email, password: 'not the password', error_to: '/page' };
    const answer = await browser.form('/auth/signin/credential', wrong);
    await browser.open(answer.location ?? '');
    const right = { ...credentialsOf(ada), redirect_to: '/home' };
    const again = await browser.form('/auth/signin/credential', right);
    return again.location === '/home' ? usesAndLeaves(browser) : String(again.location);
  },
};

interface Row {
  /** The journeys that are refused, and with what. @default none */
  readonly refused?: Readonly<Record<string, string>>;
  /** When the state ends by itself, in seconds, after which the browser no longer has the other cookie. */
  readonly ends?: number;
}

const TABLE: Readonly<Record<string, Row>> = {
  'session dead': {},
  'session malformed': {},
  'session beside': {},
  'device dead': {},
  'device malformed': {},
  'device beside': {},
  'pending dead': {},
  'pending malformed': {},
  'pending beside': {},
  'reset dead': {},
  'reset malformed': {},
  'reset beside': {},
  'verify dead': {},
  'verify malformed': {},
  'verify beside': {},
  'passkey dead': {},
  'passkey malformed': {},
  // docs/passkeys.md: the other ways to sign in are open, and this one after five minutes.
  'passkey beside': { refused: { 'passkey, JSON': 'invalid_passkey' }, ends: 300 },
  'once dead': {},
  'once malformed': {},
  'once beside': {},
  'press dead': {},
  'press malformed': {},
  'press beside': {},
  'email dead': {},
  'email malformed': {},
  'email beside': {},
  'note dead': {},
  'note malformed': {},
  'note beside': {},
  'join dead': {},
  'join malformed': {},
  'join beside': {},
  'return dead': {},
  'return malformed': {},
  'return beside': {},
  'way dead': {},
  'way malformed': {},
  'way beside': {},
  'offered dead': {},
  'offered malformed': {},
  'offered beside': {},
  'flow dead': {},
  'flow malformed': {},
  // Each flow has a cookie with a name of its own.
  'flow beside': {},
  'form dead': {},
  'form malformed': {},
  'form beside': {},
};

let app: OAuthApp;
let provider: LyingProvider;
let device: Authenticator;
const mails: MailMessage[] = [];
let secret: string;
beforeAll(async () => {
  provider = await startLyingProvider();
  provider.lies = { claims: { email: 'provider@example.com' } };
  app = await startOAuthApp({
    host: 'localhost',
    passwords: { resetBy: 'code' },
    config: { email: { send: (mail) => mails.push(mail) } },
    providers: () => [
      oidcPlugin(provider),
      ...([passkeys(), twoFactor(), pages({ home: '/home' })] as unknown as ProviderPlugin[]),
    ],
    mount(mounted, auth) {
      mounted.use('/auth', authRouter(auth));
      mounted.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      mounted.get('/page', (req, res) => void res.json(auth.formValues(req, res)));
    },
  });
  const owner = await signedIn(app as never);
  await app.auth.markEmailVerified((await app.auth.users.find({ email: ada.email }))?.id ?? '');
  await app.auth.users.create({ ...hedy, emailVerified: true });
  device = authenticator({ origin: app.origin });
  await addPasskey(owner as never, device);
  const strong = await signedIn(app as never, grace);
  await app.auth.markEmailVerified((await app.auth.users.find({ email: grace.email }))?.id ?? '');
  ({ secret } = await enroll(strong as never));
});
beforeEach(() => forgetSteps(app as never));
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

const credentialsOf = ({ email, password }: typeof ada) => ({ credential: email, password });

/** Uses the session as a program and as a page, and signs out. */
async function usesAndLeaves(browser: Browser): Promise<string> {
  for (const path of ['/auth/me', '/guarded']) {
    const answer = await browser.json('GET', path);
    if (answer.status !== 200) return `${path}: ${answer.code}`;
  }
  const left = await browser.json('POST', '/auth/signout');
  if (left.status !== 204) return `signout: ${left.code}`;
  return isOut(browser);
}

async function leavesByPage(browser: Browser): Promise<string> {
  const account = await browser.open('/auth/account');
  if (account.status !== 200) return `account: ${account.status} ${account.location}`;
  const left = await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
  if (left.location !== '/auth/sign-in?done=signed-out') return `sign-out: ${left.status} ${left.location}`;
  return isOut(browser);
}

/** Whether what needs a session says so, and what ends one has nothing to refuse. */
async function isOut(browser: Browser): Promise<string> {
  const { status } = await browser.json('GET', '/auth/me');
  const page = await browser.open('/auth/account');
  const again = await browser.json('POST', '/auth/signout');
  const isAsked = /^\/auth\/sign-in\b/.test(page.location ?? '');
  return status === 401 && isAsked && again.status === 204
    ? 'ok'
    : `out: ${status} ${page.location} ${again.status}`;
}

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly body: Record<string, never>;
  readonly location: string | null;
}

/** A browser with the cookies of the app's host, and one of a domain above it, which no response clears. */
class Browser {
  readonly cookies = new Map<string, string>();
  /** The longest lifetime that a cookie of each name was set with, in seconds. */
  readonly lifetimes = new Map<string, number>();
  beside: readonly [name: string, value: string] | null = null;
  #at = '/';

  async json(method: string, path: string, body?: object): Promise<Answer> {
    const headers = { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) };
    const answer = await this.#send(method, path, headers, body && JSON.stringify(body));
    const read = answer.text && !answer.text.startsWith('<') ? JSON.parse(answer.text) : {};
    return {
      status: answer.status,
      code: read.code ?? String(answer.status),
      body: read,
      location: answer.location,
    };
  }

  async form(path: string, fields: Readonly<Record<string, string>>): Promise<Shown> {
    const headers = { ...NAVIGATION, 'content-type': 'application/x-www-form-urlencoded' };
    const {
      status,
      text,
      headers: received,
    } = await this.#send('POST', path, headers, `${new URLSearchParams(fields)}`);
    return new Shown(path, status, received, text);
  }

  async open(path: string): Promise<Shown> {
    this.#at = path;
    const { status, headers, text } = await this.#send('GET', path, {
      ...NAVIGATION,
      'sec-fetch-site': 'none',
    });
    return new Shown(path, status, headers, text);
  }

  submit(
    shown: Shown,
    name: string,
    fields: Readonly<Record<string, string>> = {},
    having: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const form = shown.form(name, having);
    return this.form(form.action || this.#at, Object.fromEntries(form.filled(fields)));
  }

  async #send(method: string, path: string, headers: Record<string, string>, body?: string) {
    const { beside } = this;
    const pairs = [...this.cookies, ...(beside ? [beside] : [])];
    const response = await fetch(app.origin + path, {
      method,
      redirect: 'manual',
      headers: { ...headers, cookie: pairs.map((pair) => pair.join('=')).join('; ') },
      ...(body !== undefined && { body }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const received = Object.fromEntries(response.headers) as IncomingHttpHeaders;
    const location = response.headers.get('location');
    return { status: response.status, headers: received, location, text: await response.text() };
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const maxAge = /; max-age=(\d+)/i.exec(line)?.[1];
    const expires = /; expires=([^;]+)/i.exec(line)?.[1];
    const seconds = maxAge ? Number(maxAge) : expires ? (Date.parse(expires) - Date.now()) / 1000 : Infinity;
    if (seconds <= 0) this.cookies.delete(name);
    else {
      this.cookies.set(name, value);
      this.lifetimes.set(name, Math.max(this.lifetimes.get(name) ?? 0, seconds));
    }
  }
}

const NAVIGATION = {
  accept: 'text/html',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'same-origin',
};

/** The name of a cookie in a browser, which can be longer than the name in the table. */
const nameIn = (browser: Browser, name: string) =>
  [...browser.cookies.keys()].find((one) => one === name || one.startsWith(`${name}-`)) ?? name;

/** A browser in a state, as it can be before or in the middle of a journey. */
async function inState(kind: string, wrong: keyof typeof WRONGS): Promise<Browser> {
  const { name, dead } = COOKIES[kind] as (typeof COOKIES)[string];
  const browser = new Browser();
  const whole = await nameOf(name);
  browser.cookies.set(whole, wrong === 'malformed' ? 'x y' : dead());
  if (wrong === 'beside') browser.beside = [whole, dead()];
  return browser;
}

/** Returns the name of a cookie as a browser gets it. */
async function nameOf(name: string): Promise<string> {
  const browser = new Browser();
  if (name === 'latchkey-form')
    await browser.form('/auth/signin/credential', { credential: 'x', password: 'x', error_to: '/page' });
  if (name === 'latchkey-flow') await browser.open('/auth/oauth/oidc/authorize?callback_url=/home');
  return nameIn(browser, name);
}

const STATES = Object.keys(COOKIES).flatMap((kind) =>
  (Object.keys(WRONGS) as (keyof typeof WRONGS)[]).map((wrong) => [kind, wrong] as const),
);

describe('the table', () => {
  test('has every cookie that the source sets', () => {
    const lib = fileURLToPath(new URL('../lib/', import.meta.url));
    const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const kinds = new Set(['session']);
    const serializing: string[] = [];
    for (const file of files) {
      const source = readFileSync(lib + file, 'utf8');
      for (const [, kind = ''] of source.matchAll(
        /\b(?:cookieBeside|browserCookie|pageCookie|SealedCookie)\([^()]*, '(\w+)'[^()]*\)/g,
      ))
        kinds.add(kind);
      if (/\bserialize\(name/.test(source)) serializing.push(file);
    }
    // These do not set a cookie beside the session's.
    kinds.add('flow').add('form');
    expect(serializing.sort()).toEqual([
      'http/respond.ts',
      'plugins/oauth/flows.ts',
      'plugins/passkeys/challenges.ts',
    ]);
    expect([...kinds].sort()).toEqual(Object.keys(COOKIES).sort());
  });

  test('has a row for every state, and no other', () => {
    expect(Object.keys(TABLE).sort()).toEqual(STATES.map((state) => state.join(' ')).sort());
  });
});

test.each(Object.keys(JOURNEYS))('without such a cookie, the journey %s is free', async (name) => {
  expect(await JOURNEYS[name]?.(new Browser())).toBe('ok');
});

describe.each(STATES)('the cookie of the %s: %s', (kind, wrong) => {
  const { refused = {}, ends } = TABLE[`${kind} ${wrong}`] as Row;

  test('refuses no journeys but the listed ones', async () => {
    const outcomes: Record<string, string> = {};
    for (const [name, journey] of Object.entries(JOURNEYS)) {
      await forgetSteps(app as never);
      outcomes[name] = await journey(await inState(kind, wrong));
    }
    const free = Object.fromEntries(Object.keys(JOURNEYS).map((name) => [name, 'ok']));
    expect(outcomes).toEqual({ ...free, ...refused });
  });

  if (ends !== undefined)
    test('ends by itself, because latchkey has set the other cookie with this lifetime', async () => {
      const browser = new Browser();
      for (const name of Object.keys(refused)) {
        await forgetSteps(app as never);
        await JOURNEYS[name]?.(browser);
      }
      const lifetime = browser.lifetimes.get(COOKIES[kind]?.name ?? '') ?? 0;
      expect(lifetime).toBeGreaterThan(0);
      expect(lifetime).toBeLessThanOrEqual(ends);
    });
});

test('the cookies of two active sessions are ended by a sign-in', async () => {
  const [one, two] = [new Browser(), new Browser()];
  for (const browser of [one, two]) await browser.json('POST', '/auth/signin/credential', credentialsOf(ada));
  one.beside = ['latchkey', two.cookies.get('latchkey') ?? ''];
  expect((await one.json('GET', '/auth/me')).code).toBe('invalid_session');
  expect((await one.open('/auth/account')).location).toMatch(/^\/auth\/sign-in\b/);
  expect(await JOURNEYS['sign in, JSON']?.(one)).toBe('ok');
});

test('a flow that is dead when the browser returns can be started again', async () => {
  const browser = new Browser();
  const begun = await browser.open('/auth/oauth/oidc/authorize?callback_url=/home');
  const name = nameIn(browser, 'latchkey-flow');
  const back = pathOf(await visitProvider(begun.location ?? ''));
  browser.beside = [name, COOKIES.flow?.dead() ?? ''];
  const refused = await browser.open(back);
  expect(refused.location).toMatch(/error=invalid_flow/);
  expect(await JOURNEYS['provider, pages']?.(browser)).toBe('ok');
});

test('a pending sign-in that has ended leads back to the sign-in, as a program and as a page', async () => {
  const browser = new Browser();
  await browser.json('POST', '/auth/signin/credential', credentialsOf(grace));
  browser.cookies.set('latchkey-pending', COOKIES.pending?.dead() ?? '');
  const code = { method: 'totp', code: codeOf(secret) };
  expect((await browser.json('POST', '/auth/signin/second-factor', code)).code).toBe('sign_in_expired');
  expect((await browser.open('/auth/second-factor')).links).toContain('/auth/sign-in');
  expect(await JOURNEYS['second factor, JSON']?.(browser)).toBe('ok');
  await forgetSteps(app as never);
  expect(await JOURNEYS['second factor, pages']?.(browser)).toBe('ok');
});
