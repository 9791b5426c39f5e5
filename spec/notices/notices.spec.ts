import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import {
  admin,
  apiKeys,
  type NoticeKind,
  type OrganizationsApi,
  organizations,
  passkeys,
  type RolesApi,
  roles,
  twoFactor,
} from '../../lib/index.js';
import { declaredNotices } from '../../lib/mail/notice-kinds.js';
import type { ProviderPlugin } from '../../lib/providers.js';
import { ROOT } from '../support/acting.js';
import { signedIn } from '../support/app.js';
import { beforeChange, byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import { mailbox } from '../support/mailbox.js';
import {
  type Browser,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
} from '../support/oauth-app.js';
import { addPasskey, authenticator, PAGE } from '../support/passkeys.js';
import { withoutWaiting } from '../support/timers.js';
import { enroll, firstStep, forgetSteps, secondStep, wrongCode } from '../support/two-factor.js';

const password = 'an analytical engine';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0';
const WORK = { name: 'nightly import' };

const mail = mailbox();
let provider: LyingProvider;
let app: OAuthApp;
let people = 0;

const KINDS = declaredNotices.names as NoticeKind[];

interface Row {
  /** What the user has before it. */
  readonly given?: (email: string) => Promise<Browser>;
  /** What they are told of. */
  act(browser: Browser, email: string): Promise<unknown>;
  /** Whether the notice carries a link that undoes it. */
  readonly undo: boolean;
  /** Whether it is written down even if nobody is told. @default as `undo` */
  readonly written?: boolean;
  /** What it is about. @default nothing */
  readonly subject?: string;
  /** What the text calls it. @default the subject */
  readonly subjectName?: string;
  /** Whether the app or an administrator does it, so that no client is named. @default false */
  readonly byApp?: true;
}

/** Everybody has verified their email, and signed in just now. */
async function member(email: string): Promise<Browser> {
  const browser = await signedIn(app, { email, password });
  browser.set('user-agent', FIREFOX);
  await app.auth.markEmailVerified((await browser.get('/auth/me')).body.user.id);
  return browser;
}

async function withProvider(email: string): Promise<Browser> {
  const browser = app.browser().set('user-agent', FIREFOX);
  provider.lies = { claims: { sub: email, email, email_verified: true } };
  await signInWith(browser, 'oidc');
  return browser;
}

async function linked(email: string): Promise<Browser> {
  const browser = await member(email);
  provider.lies = { claims: { sub: email, email: null } };
  await linkWith(browser, 'oidc');
  return browser;
}

async function withCodes(email: string): Promise<Browser> {
  const browser = await member(email);
  codes = await enroll(browser);
  await forgetSteps(app as never);
  return browser;
}
let codes: Awaited<ReturnType<typeof enroll>>;

async function pending(email: string): Promise<Browser> {
  const browser = app.browser().set('user-agent', FIREFOX);
  await firstStep(browser, { email, password }).expect(200);
  return browser;
}

async function becomeAdministrator(email: string): Promise<void> {
  const auth = app.auth as unknown as { roles: RolesApi };
  const user = await app.auth.users.find({ email });
  await auth.roles.set(user?.id ?? '', ['admin']);
}

const emailChange = (browser: Browser, to: string) =>
  browser.post('/auth/email-changes').send({ new_email: to }).expect(202);

const ROWS: Record<NoticeKind, Row> = {
  'password-set': {
    given: withProvider,
    act: (browser) => browser.put('/auth/passwords').send({ new_password: password }).expect(204),
    undo: true,
  },
  'password-changed': {
    act: (browser) =>
      browser
        .post('/auth/passwords/change')
        .send({ current_password: password, new_password: 'a difference engine' })
        .expect(200),
    undo: true,
  },
  'password-removed': {
    given: linked,
    act: (browser) => browser.delete('/auth/passwords').expect(204),
    undo: true,
  },
  'new-password-required': {
    async act(browser) {
      const { id } = (await browser.get('/auth/me')).body.user;
      await app.auth.users.requireNewPassword(id);
    },
    undo: false,
    written: true,
    byApp: true,
  },
  'administrator-acted': {
    async act(browser) {
      const { id } = (await browser.get('/auth/me')).body.user;
      const root = await app.auth.users.ensure({ email: ROOT, emailVerified: true });
      const { token } = await app.auth.createSession(root.user.id);
      await app.http
        .post(`/auth/admin/users/${id}/act`)
        .set('cookie', `latchkey=${token}`)
        .send({ reason: 'ticket 7' })
        .expect(200);
    },
    undo: false,
    byApp: true,
  },
  'organization-owner-added': {
    async act(browser) {
      const { id } = (await browser.get('/auth/me')).body.user;
      const auth = app.auth as unknown as { organizations: OrganizationsApi };
      const { user: owner } = await app.auth.users.ensure({ email: ROOT, emailVerified: true });
      const slug = `of-${id}`;
      const acme = await auth.organizations.create({ name: 'Acme', slug, ownerId: owner.id });
      await auth.organizations.addMember(acme.id, id, 'owner');
    },
    undo: false,
    byApp: true,
    subject: 'Acme',
  },
  'email-change-requested': { act: (browser, email) => emailChange(browser, `new-${email}`), undo: false },
  'email-changed': {
    async act(browser, email) {
      const to = `new-${email}`;
      const { token } = await mail.mailOf(to, 'verify-new-email', () => emailChange(browser, to));
      await browser.post('/auth/email-changes/confirm').send({ token }).expect(200);
    },
    undo: true,
  },
  'username-changed': {
    act: (browser, email) =>
      browser
        .patch('/auth/me')
        .send({ username: email.replace(/@.*/, '') })
        .expect(200),
    undo: true,
  },
  'provider-linked': {
    async act(browser, email) {
      provider.lies = { claims: { sub: email, email: null } };
      await linkWith(browser, 'oidc');
    },
    undo: true,
    subject: 'oidc',
    subjectName: 'Oidc',
  },
  'provider-unlinked': {
    given: linked,
    act: (browser) => browser.delete('/auth/oauth/oidc/unlink').expect(204),
    undo: true,
    subject: 'oidc',
    subjectName: 'Oidc',
  },
  'data-exported': {
    act: (browser) => browser.post('/auth/me/export').expect(200),
    undo: true,
    written: false,
  },
  'device-forgotten': {
    async act(browser) {
      const [device] = (await browser.get('/auth/devices').expect(200)).body.devices;
      await browser.delete(`/auth/devices/${device.id}`).expect(204);
    },
    undo: true,
  },
  'second-factor-enabled': { act: (browser) => enroll(browser), undo: true },
  'second-factor-disabled': {
    given: withCodes,
    act: (browser) => browser.delete('/auth/two-factor/totp').expect(204),
    undo: true,
  },
  'recovery-code-used': {
    given: withCodes,
    async act(_browser, email) {
      const body = { method: 'recovery_code', code: codes.recoveryCodes[0] };
      await secondStep(await pending(email), body).expect(200);
    },
    undo: true,
    written: false,
  },
  'recovery-codes-renewed': {
    given: withCodes,
    act: (browser) => browser.post('/auth/two-factor/recovery-codes').expect(200),
    undo: true,
  },
  'second-factor-attempts': {
    given: withCodes,
    async act(_browser, email) {
      const browser = await pending(email);
      const body = { method: 'totp', code: wrongCode(codes.secret) };
      for (let tries = 0; tries < 10; tries++) await secondStep(browser, body).expect(401);
    },
    undo: false,
  },
  'passkey-added': {
    act: (browser) => addPasskey(browser, authenticator(), 'my key'),
    undo: true,
    subject: 'my key',
  },
  'passkey-removed': {
    async act(browser) {
      const { id } = await addPasskey(browser, authenticator(), 'my key');
      await browser.delete(`/auth/passkeys/${id}`).expect(204);
    },
    undo: true,
    subject: 'my key',
  },
  'api-key-created': {
    act: (browser) => browser.post('/auth/api-keys').send(WORK).expect(201),
    undo: true,
    subject: WORK.name,
  },
  'administrator-added': {
    act: (_browser, email) => becomeAdministrator(email),
    undo: false,
    written: false,
    byApp: true,
  },
  'account-deleted': { act: (browser) => browser.delete('/auth/me').expect(204), undo: false },
  'account-recovered': {
    async act(browser) {
      // Without notices, there is no such route.
      if (!internalsOf(app.auth).core.notices.isOn) return;
      const { id } = (await browser.get('/auth/me')).body.user;
      const token = await beforeChange(app.auth, id);
      await browser.post('/auth/undo-change').send({ token, password }).expect(200);
    },
    undo: false,
    written: true,
  },
  'new-device': {
    async act(_browser, email) {
      const credentials = { credential: email, password };
      const elsewhere = app.browser().set('user-agent', FIREFOX);
      await elsewhere.post('/auth/signin/credential').send(credentials).expect(200);
    },
    undo: true,
    written: false,
  },
};

beforeAll(async () => {
  provider = await startLyingProvider();
});
afterAll(() => provider.stop());

const start = async (notices: boolean | readonly NoticeKind[]) => {
  app = await startOAuthApp({
    providers: () =>
      [
        oidcPlugin(provider),
        admin({ adminEmails: [ROOT], role: 'admin', actAs: {} }),
        apiKeys(),
        twoFactor(),
        passkeys(),
        organizations(),
        roles({ roles: { admin: [] } }),
      ] as unknown as readonly ProviderPlugin[] as never,
    passwords: { username: true },
    config: { baseUrl: PAGE, email: { send: mail.send, notices } },
  });
};

const begin = async ({ given = member }: Row) => {
  const email = `person-${people++}@example.com`;
  return { email, browser: await given(email) };
};
const changesOf = (kind: string) =>
  rows<{ token_hash: unknown; state: unknown }>(
    app.database,
    'SELECT token_hash, state FROM account_changes WHERE kind = :kind',
    { kind },
  );
/** The mails of a kind after a change, once all have been sent. */
const sentTo = async (email: string, kind: string) => {
  await internalsOf(app.auth).core.settle();
  return mail.mails.filter((one) => one.to === email && one.kind === kind);
};

test('there is a row for every kind', () => {
  expect(Object.keys(ROWS).sort()).toEqual([...KINDS].sort());
});

describe('a user is told, at the address that the account had before, of', () => {
  beforeAll(() => start(true));
  afterAll(() => app.stop());

  test.each(KINDS)('%s', async (kind) => {
    const row = ROWS[kind];
    const { email, browser } = await begin(row);
    const began = Date.now();
    const notice = await mail.mailOf(email, kind, () => row.act(browser, email));
    expect(await sentTo(email, kind)).toHaveLength(1);
    const { details, user, text, html, token, url } = notice;
    expect(user!.email).toBe(email);
    expect(details).toEqual({
      at: expect.any(Date),
      device: row.byApp ? null : 'Firefox on Windows',
      ip: row.byApp ? null : '127.0.0.1',
      subject: row.subject ?? null,
      browsers: row.undo ? [expect.stringMatching(/^(Firefox on Windows|an unknown browser)$/)] : [],
    });
    expect(Math.abs(details!.at.getTime() - began)).toBeLessThan(60_000);
    const client = row.byApp ? [] : ['Device: Firefox on Windows', 'IP address: 127.0.0.1'];
    for (const part of [`Account: ${email}`, ...client])
      expect([text, html].every((body) => body.includes(part))).toBe(true);
    expect(text.includes(': '.concat(row.subjectName ?? row.subject ?? 'nothing'))).toBe(
      row.subject !== undefined,
    );
    expect(token).toMatch(row.undo ? /^lku_[\w-]+$/ : /^$/);
    expect(url).toBe(row.undo ? `${PAGE}/undo-change?token=${token}` : '');
    expect(text.includes('within 7 days')).toBe(row.undo);
    expect(text.includes('Open it on a device that you used before this change')).toBe(row.undo);
  });

  test('nobody is told of a sign-up, nor of a first session', async () => {
    const { email } = await begin(ROWS['new-device']);
    const other = `person-${people++}@example.com`;
    await withProvider(other);
    await internalsOf(app.auth).core.settle();
    expect(mail.mails.filter(({ to }) => to === email || to === other)).toEqual([]);
  });

  test('what an administrator or the app does is told without the device of either', async () => {
    const { email, browser } = await begin(ROWS['password-changed']);
    const { id } = (await browser.get('/auth/me')).body.user;
    const next = `new-${email}`;
    const works: [string, string, () => Promise<unknown>][] = [
      [email, 'password-changed', () => app.auth.users.setPassword(id, 'a difference engine')],
      [email, 'email-changed', () => app.auth.users.changeEmail(id, next)],
      [next, 'account-deleted', () => app.auth.users.delete(id)],
    ];
    for (const [to, kind, work] of works) {
      const { details, text } = await mail.mailOf(to, kind, work);
      expect(details).toMatchObject({ device: null, ip: null });
      expect(text).not.toMatch(/Device|IP address|undo/);
      expect(text).toContain('The app or an administrator made this change.');
      expect(text).toMatch(/ask the people who run \S+\.$/m);
    }
  });

  test('a reset by mail, and of the first password by its name', async () => {
    const { email } = await begin(ROWS['password-changed']);
    const reset = async () => {
      const request = () => app.http.post('/auth/passwords/request-reset').send({ email }).expect(202);
      const { token } = await mail.mailOf(email, 'reset-password', request);
      await app.http.post('/auth/passwords/reset').send({ token, new_password: password }).expect(204);
    };
    expect((await mail.mailOf(email, 'password-changed', reset)).token).not.toBe('');
    await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE email = :email', { email });
    expect((await mail.mailOf(email, 'password-set', reset)).token).not.toBe('');
  });

  test('what changes nothing is not told: the same email, a refused key', async () => {
    const { email, browser } = await begin(ROWS['email-changed']);
    const { id } = (await browser.get('/auth/me')).body.user;
    await app.auth.users.changeEmail(id, email.toUpperCase());
    await browser.post('/auth/api-keys').send({ name: '' }).expect(422);
    await browser
      .post('/auth/passwords/change')
      .send({ current_password: 'wrong', new_password: password })
      .expect(401);
    await internalsOf(app.auth).core.settle();
    expect(mail.mails.filter(({ to }) => to === email)).toEqual([]);
    expect(await rows(app.database, 'SELECT id FROM account_changes WHERE user_id = :id', { id })).toEqual(
      [],
    );
  });

  describe('a first verification of the address', () => {
    const open = async (id: string) =>
      (
        await rows<{ kind: string }>(
          app.database,
          'SELECT kind FROM account_changes WHERE user_id = :id AND token_hash IS NOT NULL ORDER BY created_at',
          { id },
        )
      ).map(({ kind }) => kind);
    const unverified = async () => {
      const email = `person-${people++}@example.com`;
      const browser = await signedIn(app, { email, password });
      return { email, browser, id: (await browser.get('/auth/me')).body.user.id as string };
    };
    const reset = async (email: string) => {
      const request = () => app.http.post('/auth/passwords/request-reset').send({ email }).expect(202);
      const { token } = await mail.mailOf(email, 'reset-password', request);
      await app.http.post('/auth/passwords/reset').send({ token, new_password: password }).expect(204);
    };

    test('ends the links from before, but not its own', async () => {
      const { email, browser, id } = await unverified();
      await ROWS['password-changed'].act(browser, email);
      await reset(email);
      expect(await open(id)).toEqual(['password-changed']);
    });

    test('by a change to another one leaves all links: they lead back to what was before an intruder', async () => {
      const { email, browser, id } = await unverified();
      await ROWS['password-changed'].act(browser, email);
      await ROWS['email-changed'].act(browser, email);
      expect(await open(id)).toEqual(['password-changed', 'email-changed']);
    });

    test('ends those to earlier ones, since somebody may have prepared the account for its owner', async () => {
      const { email, browser, id } = await unverified();
      await ROWS['new-device'].act(browser, email);
      await ROWS['api-key-created'].act(browser, email);
      const owner = `owner-${email}`;
      await byUser(app.auth, id, (own) => app.auth.users.changeEmail(id, owner, own));
      expect(await open(id)).toEqual(['api-key-created', 'email-changed']);
      await reset(owner);
      expect(await open(id)).toEqual(['password-changed']);
      const devices = 'SELECT id FROM known_devices WHERE user_id = :id AND undo_token_hash IS NOT NULL';
      expect(await rows(app.database, devices, { id })).toEqual([]);
    });
  });

  test('a transaction of the app that is rolled back leaves neither a mail nor a trace', async () => {
    const { email, browser } = await begin(ROWS['api-key-created']);
    const { id } = (await browser.get('/auth/me')).body.user;
    const own = app.another({ database: app.database.sequelize as never });
    const transaction = await app.database.sequelize.transaction();
    await own.users.setPassword(id, 'a difference engine', { transaction });
    await transaction.rollback();
    await internalsOf(own).core.settle();
    expect(await sentTo(email, 'password-changed')).toEqual([]);
    expect(await rows(app.database, 'SELECT id FROM account_changes WHERE user_id = :id', { id })).toEqual(
      [],
    );
  });
});

describe.each([
  ['false', false, false],
  ['a list of others', ['email-change-requested'] as const, true],
])('with notices: %s, nobody is told of', (_name, notices, isWritten) => {
  beforeAll(() => start(notices));
  afterAll(() => app.stop());

  const off = KINDS.filter((kind) => notices === false || !(notices as readonly string[]).includes(kind));
  test.each(off)('%s', async (kind) => {
    const row = ROWS[kind];
    const { email, browser } = await begin(row);
    await rows(app.database, 'DELETE FROM account_changes');
    await row.act(browser, email);
    expect(await sentTo(email, kind)).toEqual([]);
    // Undoing an earlier change undoes this one too, but nobody has a link that undoes it.
    const written = await changesOf(kind);
    expect(written).toHaveLength(isWritten && (row.written ?? row.undo) ? 1 : 0);
    for (const { token_hash, state } of written) {
      expect(token_hash).toBeNull();
      // What the app does is final, so there is no state to go back to.
      expect(state === null).toBe(row.byApp === true);
    }
    const devices = await rows<{ undo_token_hash: unknown }>(
      app.database,
      'SELECT undo_token_hash FROM known_devices WHERE undo_token_hash IS NOT NULL',
    );
    expect(devices).toEqual([]);
  });
});

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('the mail server is down');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the mail server is down'))],
  ['never returns', () => new Promise(() => {})],
])('a send that %s changes no answer', async (_what, send) => {
  app = await startOAuthApp({
    providers: () => [oidcPlugin(provider), apiKeys()] as unknown as ProviderPlugin[],
    config: { baseUrl: PAGE, email: { send } },
  });
  const { email, browser } = await begin(ROWS['api-key-created']);
  for (const kind of ['api-key-created', 'new-device', 'password-changed', 'account-deleted'] as const)
    await ROWS[kind].act(browser, email);
  // auth.close() waits for a send that never returns.
  await withoutWaiting(7000, () => withoutWaiting(1000, () => app.stop()));
});
