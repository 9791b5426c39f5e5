import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { admin, apiKeys, emailSignIn, organizations } from '../../lib/index.js';
import { declaredNotices } from '../../lib/mail/notice-kinds.js';
import { ada, password, type SpecApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { allSent, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';
import { firstStep } from '../support/two-factor.js';

// Which emails are held at the limit on emails to strangers: every kind, by who asks for it, and how.

interface Options {
  readonly password?: Parameters<typeof password>[0];
  readonly signUp?: boolean;
}
const pluginsOf = (options: Options) =>
  [
    password({ sendVerificationOnSignUp: true, ...options.password }),
    emailSignIn({ signUp: options.signUp ?? true }),
    admin({ adminEmails: ['root@example.com'] }),
    apiKeys(),
    organizations(),
  ] as const;
type App = SpecApp<ReturnType<typeof pluginsOf>> & { readonly mails: { kind: string; to: string }[] };
type Browser = ReturnType<App['browser']>;

let app: App;
afterEach(() => app?.stop());

/** Codes live longer. */
const WINDOW_S = 300;

/** An account in a browser in which it has signed in. */
interface Owner {
  readonly id: string;
  readonly email: string;
  readonly browser: Browser;
  readonly key: string;
}

const START = { unproven: 'ada@example.com', proven: 'grace@example.com', root: 'root@example.com' };

interface Given {
  readonly unproven: Owner;
  readonly proven: Owner;
  readonly root: Owner;
}

type Outcome = 'held' | 'sent' | 'none';
type Row = readonly [outcome: Outcome, work: (given: Given) => PromiseLike<unknown>, options?: Options];

const signUp = (email: string, browser: Browser) =>
  browser.post('/auth/signup/credential').send({ email, password: ada.password });
const reset = (email: string, browser: Browser) =>
  browser.post('/auth/passwords/request-reset').send({ email }).expect(202);
const code = (email: string, browser: Browser) =>
  browser.post('/auth/signin/email').send({ email }).expect(202);
/** A browser that has the session of an account, but not its device cookie. */
const withoutDevice = async ({ email }: Owner) => {
  const { token } = await app.auth.credential.signIn({ credential: email, password: ada.password });
  return `latchkey=${token}`;
};
const signedOut = async ({ browser }: Owner) => {
  await browser.post('/auth/signout').expect(204);
  return browser;
};
const change = ({ browser }: Owner, new_email: string) =>
  browser.post('/auth/email-changes').send({ new_email }).expect(202);

const VERIFIED_FIRST: Options = { password: { requireVerifiedEmail: true, sendVerificationOnSignUp: false } };
const CONCEALED: Options = { password: { concealExistingEmails: true, requireVerifiedEmail: true } };
const RESET_CODES: Options = { password: { resetBy: 'code' } };
const CODES: Options = { password: { unknownBrowser: 'code' } };

/** Makes an account as old as one that has just signed up. */
const young = async (owner: Owner) => {
  const values = { at: new Date(), id: owner.id };
  await rows(app.database, 'UPDATE users SET created_at = :at WHERE id = :id', values);
  return owner;
};

/** What a provider has said about the address of an account, which is not a proof. */
const saidByProvider = ({ id }: Owner) =>
  rows(
    app.database,
    `UPDATE users SET email_verified_at = created_at, email_proof = 'provider' WHERE id = '${id}'`,
  );
/** Signs an unverified account in, which is refused and mails a link. */
const refused = async (email: string, browser: Browser) =>
  expectProblem(await firstStep(browser, { email, password: ada.password }), 403, 'email_not_verified');
/** Invites an address to an organization of an account, in the session of its owner or by code. */
const invite = async ({ id: ownerId, browser }: Owner, email: string, isInSession = true) => {
  const { id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId });
  const invitation = { email, role: 'member' };
  if (isInSession) await browser.post(`/auth/organizations/${id}/invitations`).send(invitation).expect(201);
  else await app.auth.organizations.invite(id, invitation);
};
/** Marks an account as deleted. @returns its email */
const deleted = async ({ id, email }: Owner) => {
  await rows(app.database, `UPDATE users SET deleted_at = created_at WHERE id = '${id}'`);
  return email;
};
/** Makes an account that has signed in unverified again. */
const unverified = async ({ id, email }: Owner) => {
  await rows(
    app.database,
    `UPDATE users SET email_verified_at = NULL, email_proof = NULL WHERE id = '${id}'`,
  );
  return email;
};

const VERIFY_CODES: Options = { password: { verifyEmailBy: 'code', signInOnSignUp: true } };
const CONCEALED_CODES: Options = {
  password: { verifyEmailBy: 'code', concealExistingEmails: true, requireVerifiedEmail: true },
};

const ROWS: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  'verify-email': {
    'of a sign-up': ['held', () => signUp('new@example.com', app.browser())],
    'of a sign-up in a session': ['held', ({ proven }) => signUp('new@example.com', proven.browser)],
    'of a sign-up in a browser of other accounts': [
      'held',
      async ({ proven }) => signUp('new@example.com', await signedOut(proven)),
    ],
    'of a sign-up with an API key': [
      'held',
      ({ proven }) => signUp('new@example.com', app.browser()).set('x-service-api-key', proven.key),
    ],
    'of a sign-up by code': [
      'held',
      () => app.auth.credential.signUp({ email: 'new@example.com', password: ada.password }),
    ],
    'of a concealed sign-up': ['held', () => signUp('new@example.com', app.browser()), CONCEALED],
    'in the own session': ['sent', ({ unproven }) => unproven.browser.post('/auth/email-verifications')],
    'in the own session, of a young account': [
      'held',
      async ({ unproven }) => (await young(unproven)).browser.post('/auth/email-verifications'),
    ],
    'in the own session, of a proven address': [
      'sent',
      ({ proven }) => proven.browser.post('/auth/email-verifications'),
    ],
    'with an API key': [
      'none',
      async ({ unproven }) =>
        expectProblem(
          await app.http.post('/auth/email-verifications').set('x-service-api-key', unproven.key),
          403,
          'session_required',
        ),
    ],
    'by code, for the user of a session': [
      'sent',
      ({ unproven }) => app.auth.credential.sendVerification({ userId: unproven.id }),
    ],
    'of a sign-in elsewhere': [
      'held',
      async ({ unproven }) => refused(await unverified(unproven), app.browser()),
      VERIFIED_FIRST,
    ],
    'of a sign-in in a known browser': [
      'sent',
      async ({ unproven }) => refused(await unverified(unproven), await signedOut(unproven)),
      VERIFIED_FIRST,
    ],
  },
  'reset-password': {
    'to an unproven address': ['held', ({ unproven }) => reset(unproven.email, app.browser())],
    'to an address that a provider has proven': [
      'held',
      async ({ unproven }) => {
        await saidByProvider(unproven);
        await reset(unproven.email, app.browser());
      },
    ],
    'to a proven address': ['sent', ({ proven }) => reset(proven.email, app.browser())],
    'to no account': ['none', () => reset('nobody@example.com', app.browser())],
    'in the own session': [
      'sent',
      async ({ unproven }) =>
        reset(unproven.email, app.browser()).set('cookie', await withoutDevice(unproven)),
    ],
    'in the session of another account': [
      'held',
      ({ proven, unproven }) => reset(unproven.email, proven.browser),
    ],
    'in a known browser': ['sent', async ({ unproven }) => reset(unproven.email, await signedOut(unproven))],
    'in a known browser, of a young account': [
      'held',
      async ({ unproven }) => reset(unproven.email, await signedOut(await young(unproven))),
    ],
    'with an API key': [
      'held',
      ({ unproven }) => reset(unproven.email, app.browser()).set('x-service-api-key', unproven.key),
    ],
    'by code': [
      'held',
      ({ unproven }) => app.auth.credential.requestPasswordReset({ email: unproven.email }),
    ],
    'of a concealed sign-up': [
      'held',
      async ({ unproven }) => signUp(await unverified(unproven), app.browser()),
      CONCEALED,
    ],
    'of a concealed sign-up in a known browser': [
      'held',
      async ({ unproven }) => signUp(await unverified(unproven), unproven.browser),
      CONCEALED,
    ],
    'of a concealed sign-up with a proven address': [
      'sent',
      ({ proven }) => signUp(proven.email, app.browser()),
      CONCEALED,
    ],
    'by an administrator': [
      'held',
      ({ root, unproven }) =>
        root.browser.post(`/auth/admin/users/${unproven.id}/send-password-reset`).expect(202),
    ],
    'by an administrator, to a proven address': [
      'sent',
      ({ root, proven }) =>
        root.browser.post(`/auth/admin/users/${proven.id}/send-password-reset`).expect(202),
    ],
    "by the app's own code for administrators": [
      'sent',
      ({ unproven }) => app.auth.admin.sendPasswordReset(unproven.id),
    ],
  },
  'verification-code': {
    'of a sign-up': ['held', () => signUp('new@example.com', app.browser()), VERIFY_CODES],
    'of a concealed sign-up': ['held', () => signUp('new@example.com', app.browser()), CONCEALED_CODES],
    'in the own session': [
      'sent',
      ({ unproven }) => unproven.browser.post('/auth/email-verifications'),
      VERIFY_CODES,
    ],
  },
  'account-exists': {
    'to an unproven address': [
      'held',
      async ({ unproven }) => signUp(await unverified(unproven), app.browser()),
      CONCEALED_CODES,
    ],
    'to a proven address': ['sent', ({ proven }) => signUp(proven.email, app.browser()), CONCEALED_CODES],
  },
  'deleted-account': {
    'to an unproven address': ['held', async ({ unproven }) => reset(await deleted(unproven), app.browser())],
    'to a proven address': ['sent', async ({ proven }) => reset(await deleted(proven), app.browser())],
    'in place of a code': [
      'sent',
      async ({ proven }) => reset(await deleted(proven), app.browser()),
      RESET_CODES,
    ],
  },
  'reset-code': {
    'to an unproven address': ['held', ({ unproven }) => reset(unproven.email, app.browser()), RESET_CODES],
    'to a proven address': ['sent', ({ proven }) => reset(proven.email, app.browser()), RESET_CODES],
    'to no account': ['none', () => reset('nobody@example.com', app.browser()), RESET_CODES],
    'in the own session': [
      'sent',
      async ({ unproven }) =>
        reset(unproven.email, app.browser()).set('cookie', await withoutDevice(unproven)),
      RESET_CODES,
    ],
    'in the session of another account': [
      'held',
      ({ proven, unproven }) => reset(unproven.email, proven.browser),
      RESET_CODES,
    ],
    'in a known browser': [
      'sent',
      async ({ unproven }) => reset(unproven.email, await signedOut(unproven)),
      RESET_CODES,
    ],
    'with an API key': [
      'held',
      ({ unproven }) => reset(unproven.email, app.browser()).set('x-service-api-key', unproven.key),
      RESET_CODES,
    ],
    'by code': [
      'held',
      ({ unproven }) => app.auth.credential.requestPasswordReset({ email: unproven.email }),
      RESET_CODES,
    ],
  },
  invitation: {
    'by an administrator': [
      'sent',
      ({ root }) => root.browser.post('/auth/admin/users').send({ email: 'new@example.com' }).expect(201),
    ],
    'by code': ['sent', () => app.auth.admin.createUser({ email: 'new@example.com' })],
  },
  'verify-new-email': {
    'to another address': ['held', ({ unproven }) => change(unproven, 'new@example.com')],
    'to another address of a proven account': ['held', ({ proven }) => change(proven, 'new@example.com')],
    'to the own address': ['sent', ({ unproven }) => change(unproven, unproven.email)],
    'with an API key': [
      'none',
      ({ unproven }) =>
        app.http
          .post('/auth/email-changes')
          .set('x-service-api-key', unproven.key)
          .send({ new_email: 'new@example.com' })
          .expect(403),
    ],
  },
  'email-change-conflict': {
    'to an unproven address': ['held', ({ proven, unproven }) => change(proven, unproven.email)],
    'to a proven address': ['sent', ({ proven, unproven }) => change(unproven, proven.email)],
  },
  'sign-in-code': {
    'to no account': ['held', () => code('new@example.com', app.browser())],
    'to no account, in a session': ['held', ({ proven }) => code('new@example.com', proven.browser)],
    'to an unproven address': ['held', ({ unproven }) => code(unproven.email, app.browser())],
    'to a proven address': ['sent', ({ proven }) => code(proven.email, app.browser())],
    'in the own session': [
      'sent',
      async ({ unproven }) =>
        code(unproven.email, app.browser()).set('cookie', await withoutDevice(unproven)),
    ],
    'in the session of another account': [
      'held',
      ({ proven, unproven }) => code(unproven.email, proven.browser),
    ],
    'in a known browser': ['sent', async ({ unproven }) => code(unproven.email, await signedOut(unproven))],
    'with an API key': [
      'held',
      ({ unproven }) => code(unproven.email, app.browser()).set('x-service-api-key', unproven.key),
    ],
    'by code': ['held', ({ unproven }) => app.auth.emailSignIn.request({ email: unproven.email })],
    'to reauthenticate': [
      'sent',
      async ({ unproven }) => {
        await rows(app.database, `UPDATE users SET password_hash = NULL WHERE id = '${unproven.id}'`);
        await unproven.browser.post('/auth/reauthenticate/email').send({}).expect(202);
      },
    ],
  },
  'no-account': {
    'to no account': ['held', () => code('new@example.com', app.browser()), { signUp: false }],
    'to no account, in a session': [
      'held',
      ({ proven }) => code('new@example.com', proven.browser),
      { signUp: false },
    ],
    'with an API key': [
      'held',
      ({ proven }) => code('new@example.com', app.browser()).set('x-service-api-key', proven.key),
      { signUp: false },
    ],
    'by code': ['held', () => app.auth.emailSignIn.request({ email: 'new@example.com' }), { signUp: false }],
    'to an account that is about to be deleted is sent, if it is proven': [
      'sent',
      async ({ proven }) => {
        await rows(app.database, `UPDATE users SET deleted_at = created_at WHERE id = '${proven.id}'`);
        await code(proven.email, app.browser());
      },
      { signUp: false },
    ],
  },
  'browser-code': {
    'to an address that a provider has proven': [
      'held',
      async ({ unproven }) => {
        await saidByProvider(unproven);
        await firstStep(app.browser(), { email: unproven.email, password: ada.password }).expect(200);
      },
      CODES,
    ],
    'to a proven address': [
      'sent',
      ({ proven }) => firstStep(app.browser(), { email: proven.email, password: ada.password }).expect(200),
      CODES,
    ],
    'by code, to an address that a provider has proven': [
      'held',
      async ({ unproven }) => {
        await saidByProvider(unproven);
        await firstStep(app.browser(), { email: unproven.email, password: ada.password })
          .set('x-service-api-key', unproven.key)
          .expect(200);
      },
      CODES,
    ],
  },
  'organization-invitation': {
    'to no account': ['held', ({ proven }) => invite(proven, 'new@example.com')],
    'to an unproven address': ['held', ({ proven, unproven }) => invite(proven, unproven.email)],
    'to a proven address': ['sent', ({ proven, root }) => invite(proven, root.email)],
    'by code': ['held', ({ proven }) => invite(proven, 'new@example.com', false)],
  },
};

const cases = Object.entries(ROWS).flatMap(([kind, rows]) =>
  Object.entries(rows).map(
    ([name, [outcome, work, options = {}]]) => [kind, name, outcome, work, options] as const,
  ),
);

test('every kind of email that is not a notice has rows', () => {
  const lib = join(import.meta.dirname, '../../lib');
  const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const kinds = files.flatMap((file) =>
    [...readFileSync(join(lib, file), 'utf8').matchAll(/interface MailKinds \{([^}]*)\}/g)].flatMap(
      ([, body = '']) => [...body.matchAll(/'?([a-z-]+)'?: unknown/g)].map(([, kind]) => kind),
    ),
  );
  expect(kinds.length).toBeGreaterThan(5);
  expect([...kinds].sort()).toEqual(Object.keys(ROWS).sort());
  expect(kinds.filter((kind) => declaredNotices.has(kind))).toEqual([]);
});

async function start(options: Options = {}): Promise<Given> {
  app = (await startMailApp({
    plugins: pluginsOf(options),
    config: {
      rateLimit: {
        ...{ signIn: false, signUp: false, mail: false, mailAddress: false },
        strangers: { limit: 1, window: WINDOW_S },
      },
    },
  })) as unknown as App;
  // Accounts that have already signed in do not have to verify their address, so make them before.
  const given = {
    unproven: await made(START.unproven, false),
    proven: await made(START.proven, true),
    root: await made(START.root, true),
  };
  await rows(app.database, 'DELETE FROM outbox');
  await rows(app.database, 'DELETE FROM rate_limits');
  // Use up the limit.
  await app.auth.credential.signUp({ email: 'first@example.com', password: ada.password });
  if (options.password?.sendVerificationOnSignUp === false)
    await code('first-code@example.com', app.browser());
  await allSent(app.auth);
  await rows(app.database, 'DELETE FROM outbox');
  app.mails.length = 0;
  return given;
}

async function made(email: string, isProven: boolean): Promise<Owner> {
  // An account is exempt only once it is older than a window.
  const createdAt = new Date(Date.now() - (WINDOW_S + 60) * 1000);
  const { id } = await app.auth.users.create({ email, password: ada.password, emailVerified: true });
  const browser = app.browser();
  await firstStep(browser, { email, password: ada.password }).expect(200);
  await allSent(app.auth);
  const last = app.mails.at(-1) as { kind: string; code?: string } | undefined;
  if (last?.kind === 'browser-code')
    await browser
      .post('/auth/signin/second-factor')
      .send({ method: 'email_code', code: last.code })
      .expect(200);
  const { key } = await app.auth.apiKeys.create(id, { name: 'spec' });
  if (!isProven)
    await rows(
      app.database,
      `UPDATE users SET email_verified_at = NULL, email_proof = NULL WHERE id = '${id}'`,
    );
  await rows(app.database, 'UPDATE users SET created_at = :createdAt WHERE id = :id', { createdAt, id });
  return { id, email, browser, key };
}

test.each(cases)('%s %s: %s', async (kind, _name, outcome, work, options) => {
  const given = await start(options);
  await work(given);
  await allSent(app.auth);
  const sent = () => app.mails.map((one) => one.kind).filter((one) => !declaredNotices.has(one));
  const isHeld = (await app.auth.outbox.list()).entries.some((one) => one.held);
  expect({ isHeld, sent: sent() }).toEqual({
    isHeld: outcome === 'held',
    sent: outcome === 'sent' ? [kind] : [],
  });
  if (!isHeld) return;
  advance(app.auth, WINDOW_S);
  await app.auth.outbox.deliver();
  expect(sent()).toEqual([kind]);
});

test('notices are not held, even to an address that no account has proven', async () => {
  const { unproven } = await start();
  const [first, second] = [app.browser(), app.browser()];
  for (const browser of [first, second])
    await firstStep(browser, { email: unproven.email, password: ada.password });
  await change(unproven, 'new@example.com');
  await allSent(app.auth);
  expect(app.mails.map(({ kind }) => kind).sort()).toEqual([
    'email-change-requested',
    'new-device',
    'new-device',
  ]);
});
