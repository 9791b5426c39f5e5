import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import type { NoticeKind } from '../../lib/index.js';
import { signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { proveMailbox } from '../support/email-proof.js';
import { everyPlugin } from '../support/every-plugin.js';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import { mailbox } from '../support/mailbox.js';
import { type Browser, linkWith, type OAuthApp, oidcPlugin, startOAuthApp } from '../support/oauth-app.js';
import { addPasskey, authenticator, PAGE } from '../support/passkeys.js';
import { enroll, firstStep, forgetSteps, secondStep } from '../support/two-factor.js';

// Every route × undo: what a route changes in the ways into an account, the link of its notice puts back.
const PASSWORD = 'an analytical engine';
const OTHER = 'a difference engine';

const mail = mailbox();
let provider: LyingProvider;
let app: OAuthApp;
let people = 0;

beforeAll(async () => {
  provider = await startLyingProvider();
  const config = {
    plugins: [...everyPlugin(), oidcPlugin(provider)],
    baseUrl: PAGE,
    email: { send: mail.send },
    accountDeletion: { graceDays: 7 },
    user: { fields: { nickname: { type: 'string' as const } } },
  };
  app = await startOAuthApp({ providers: () => [], config: config as never });
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

interface Person {
  readonly id: string;
  readonly email: string;
  readonly browser: Browser;
  /** Unused ones, if there is a second factor. */
  codes: string[];
}

interface Row {
  readonly kind: NoticeKind;
  given?(person: Person): Promise<unknown>;
  act(person: Person): Promise<unknown>;
}

async function member(): Promise<Person> {
  const email = `person-${people++}@example.com`;
  const browser = await signedIn(app, { email, password: PASSWORD });
  const { id } = (await browser.get('/auth/me')).body.user;
  await proveMailbox(app.auth, id);
  return { id, email, browser, codes: [] };
}

const withoutPassword = ({ id }: Person) =>
  rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
const withFactor = async (person: Person) => {
  person.codes = [...(await enroll(person.browser)).recoveryCodes];
  await forgetSteps(app as never);
};
const link = async ({ browser, email }: Person) => {
  provider.lies = { claims: { sub: email, email: null } };
  await linkWith(browser, 'oidc');
};
const idIn = async (browser: Browser, list: 'passkeys' | 'devices') =>
  (await browser.get(`/auth/${list}`).expect(200)).body[list][0].id;

/** What a route changes, by its name. */
const ROWS: Readonly<Record<string, Row>> = {
  'PUT /passwords': {
    kind: 'password-set',
    given: withoutPassword,
    act: ({ browser }) => browser.put('/auth/passwords').send({ new_password: OTHER }).expect(204),
  },
  'POST /passwords/set': {
    kind: 'password-set',
    given: withoutPassword,
    act: ({ browser }) => browser.post('/auth/passwords/set').type('form').send({ new_password: OTHER }),
  },
  'POST /passwords/change': {
    kind: 'password-changed',
    act: ({ browser }) =>
      browser.post('/auth/passwords/change').send({ current_password: PASSWORD, new_password: OTHER }),
  },
  'DELETE /passwords': {
    kind: 'password-removed',
    given: link,
    act: ({ browser }) => browser.delete('/auth/passwords').expect(204),
  },
  'POST /passwords/delete': {
    kind: 'password-removed',
    given: link,
    act: ({ browser }) => browser.post('/auth/passwords/delete').type('form'),
  },
  'POST /passwords/reset': {
    kind: 'password-changed',
    async act({ browser, email }) {
      const { token } = await mail.mailOf(email, 'reset-password', () =>
        browser.post('/auth/passwords/request-reset').send({ email }),
      );
      await browser.post('/auth/passwords/reset').send({ token, new_password: OTHER }).expect(204);
    },
  },
  'POST /email-changes/confirm': {
    kind: 'email-changed',
    async act({ browser, email }) {
      const to = `new-${email}`;
      const { token } = await mail.mailOf(to, 'verify-new-email', () =>
        browser.post('/auth/email-changes').send({ new_email: to }),
      );
      await browser.post('/auth/email-changes/confirm').send({ token }).expect(200);
    },
  },
  'PATCH /me': {
    kind: 'username-changed',
    act: ({ browser, email }) =>
      browser
        .patch('/auth/me')
        .send({ username: email.split('@')[0] })
        .expect(200),
  },
  'POST /me/update': {
    kind: 'username-changed',
    act: ({ browser, email }) =>
      browser
        .post('/auth/me/update')
        .type('form')
        .send({ username: email.split('@')[0] }),
  },
  'GET /oauth/:provider/callback': { kind: 'provider-linked', act: link },
  'DELETE /oauth/:provider/unlink': {
    kind: 'provider-unlinked',
    given: link,
    act: ({ browser }) => browser.delete('/auth/oauth/oidc/unlink').expect(204),
  },
  'POST /oauth/:provider/unlink': {
    kind: 'provider-unlinked',
    given: link,
    act: ({ browser }) => browser.post('/auth/oauth/oidc/unlink').type('form'),
  },
  'POST /two-factor/totp/confirm': { kind: 'second-factor-enabled', act: ({ browser }) => enroll(browser) },
  'DELETE /two-factor/totp': {
    kind: 'second-factor-disabled',
    given: withFactor,
    act: ({ browser }) => browser.delete('/auth/two-factor/totp').expect(204),
  },
  'PUT /two-factor/passkeys': {
    kind: 'second-factor-enabled',
    given: ({ browser }) => addPasskey(browser, authenticator()),
    act: ({ browser }) => browser.put('/auth/two-factor/passkeys').send({ on: true }).expect(200),
  },
  'POST /two-factor/recovery-codes': {
    kind: 'recovery-codes-renewed',
    given: withFactor,
    act: ({ browser }) => browser.post('/auth/two-factor/recovery-codes').expect(200),
  },
  'POST /signin/second-factor': {
    kind: 'recovery-code-used',
    given: withFactor,
    async act({ browser, email, codes }) {
      await firstStep(browser, { email, password: PASSWORD }).expect(200);
      await secondStep(browser, { method: 'recovery_code', code: codes.pop() }).expect(200);
    },
  },
  'POST /passkeys': {
    kind: 'passkey-added',
    act: ({ browser }) => addPasskey(browser, authenticator()),
  },
  'DELETE /passkeys/:id': {
    kind: 'passkey-removed',
    given: ({ browser }) => addPasskey(browser, authenticator()),
    act: async ({ browser }) =>
      browser.delete(`/auth/passkeys/${await idIn(browser, 'passkeys')}`).expect(204),
  },
  'POST /api-keys': {
    kind: 'api-key-created',
    act: ({ browser }) => browser.post('/auth/api-keys').send({ name: 'program' }).expect(201),
  },
  'POST /me/export': {
    kind: 'data-exported',
    act: ({ browser }) => browser.post('/auth/me/export').expect(200),
  },
  'DELETE /devices/:id': {
    kind: 'device-forgotten',
    act: async ({ browser }) => browser.delete(`/auth/devices/${await idIn(browser, 'devices')}`).expect(204),
  },
  'POST /devices/:id/forget': {
    kind: 'device-forgotten',
    act: async ({ browser }) =>
      browser.post(`/auth/devices/${await idIn(browser, 'devices')}/forget`).type('form'),
  },
  'DELETE /me': {
    kind: 'account-deleted',
    act: ({ browser }) => browser.delete('/auth/me').expect(204),
  },
  'POST /me/delete': {
    kind: 'account-deleted',
    act: ({ browser }) => browser.post('/auth/me/delete').type('form'),
  },
  'POST /signin/credential': {
    kind: 'new-device',
    act: ({ email }) => firstStep(app.browser(), { email, password: PASSWORD }).expect(200),
  },
};

const ENDS = 'ends access, which the owner gets again by a sign-in';
const FINAL = 'what an administrator does to a way in is final';
const OTHERS = 'changes no way into the account';
const SIGNS_IN = 'signs in: told as that of POST /signin/credential, if the browser is new';

/** The routes that no link undoes, and why. */
const REASONS: Readonly<Record<string, string>> = {
  'POST /signout': ENDS,
  'POST /revoke-sessions': ENDS,
  'DELETE /sessions/:id': ENDS,
  'DELETE /api-keys/:id': 'a revoked key stays revoked, which the docs say',
  'POST /reauthenticate': OTHERS,
  'POST /reauthenticate/options': OTHERS,
  'POST /email-verifications': OTHERS,
  'POST /verify-email': OTHERS,
  'DELETE /email-changes': 'nothing has changed',
  'POST /email-changes/cancel': 'nothing has changed',
  'POST /email-changes': 'nothing has changed until the link is followed, and a new password ends it',
  'POST /passwords/request-reset': OTHERS,
  'POST /usernames/check': OTHERS,
  'POST /signup/credential': 'makes the account',
  'PATCH /passkeys/:id': OTHERS,
  'POST /passkeys/options': OTHERS,
  'POST /two-factor/totp': 'nothing has changed until it is confirmed',
  'DELETE /two-factor/trusted-devices':
    'asks for the second factor again, which the user can change at the next sign-in',
  'POST /two-factor/trusted-devices/delete': 'does the same as DELETE',
  'POST /oauth/:provider/tokens/refresh': OTHERS,
  'POST /oauth/:provider/callback': 'does the same as GET',
  'POST /signin/passkey': SIGNS_IN,
  'POST /signin/passkey/options': OTHERS,
  'POST /signin/second-factor/options': OTHERS,
  'POST /signin/second-factor/send': OTHERS,
  'POST /undo-change': 'an undo cannot be undone',
  'POST /undo-change/lookup': OTHERS,
  'POST /undo-change/options': OTHERS,
  'POST /admin/users': 'makes an account',
  'PATCH /admin/users/:id': 'usernames and fields are told, and put back by an administrator',
  'DELETE /admin/users/:id': FINAL,
  'POST /admin/users/:id/disable-second-factor': FINAL,
  'POST /admin/users/:id/require-new-password': FINAL,
  'POST /admin/users/:id/send-password-reset': OTHERS,
  'PUT /admin/users/:id/roles': OTHERS,
  'POST /admin/users/:id/set-roles': OTHERS,
  'POST /admin/users/:id/act': 'it changes nothing of the account',
  'POST /admin/users/:id/suspend': ENDS,
  'POST /admin/users/:id/reinstate': OTHERS,
  'POST /admin/users/:id/revoke-sessions': ENDS,
  'DELETE /admin/users/:id/sessions/:sessionId': ENDS,
  'POST /organizations': OTHERS,
  'PATCH /organizations/:id': OTHERS,
  'POST /organizations/:id/update': OTHERS,
  'DELETE /organizations/:id': OTHERS,
  'POST /organizations/:id/delete': OTHERS,
  'PATCH /organizations/:id/members/:userId': OTHERS,
  'POST /organizations/:id/members/:userId/set-role': OTHERS,
  'DELETE /organizations/:id/members/:userId': OTHERS,
  'POST /organizations/:id/members/:userId/remove': OTHERS,
  'POST /organizations/:id/invitations': 'an undo revokes it, which invitations.db.spec.ts looks at',
  'DELETE /organizations/:id/invitations/:invitationId': OTHERS,
  'POST /organizations/:id/invitations/:invitationId/revoke': OTHERS,
  'POST /invitations/lookup': OTHERS,
  'POST /invitations/accept': 'a verification with the session, or a new account',
};

test('every route that changes something has a row, or a reason for none', () => {
  const routes = internalsOf(app.auth)
    .routes()
    .filter(({ method, path }) => method !== 'get' || path.endsWith('/callback'))
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(routes.sort()).toEqual([...Object.keys(ROWS), ...Object.keys(REASONS)].sort());
});

/** The ways into an account. */
async function waysInto({ id }: Person) {
  const of = (table: string, columns: string) =>
    rows(app.database, `SELECT ${columns} FROM ${table} WHERE user_id = :id ORDER BY ${columns}`, { id });
  const [user] = await rows<object>(
    app.database,
    'SELECT email, username, email_proof, email_verified_at, second_factor_at, deleted_at FROM users WHERE id = :id',
    { id },
  );
  return {
    ...user,
    links: await of('accounts', 'provider, subject'),
    passkeys: await of('passkeys', 'id'),
    keys: await of('api_keys', 'id'),
    secrets: (await of('totp_secrets', 'confirmed_at')).length,
  };
}

describe.each(Object.entries(ROWS))('%s', (_name, { kind, given, act }) => {
  test('is undone by the link of its notice', async () => {
    const person = await member();
    await given?.(person);
    const hadPassword = given !== withoutPassword;
    const before = await waysInto(person);
    const { token } = await mail.mailOf(person.email, kind, () => act(person));
    if (kind !== 'new-device') {
      const changed = await rows<{ token_hash: unknown }>(
        app.database,
        'SELECT token_hash FROM account_changes WHERE user_id = :id AND kind = :kind',
        { id: person.id, kind },
      );
      expect(changed).toEqual([{ token_hash: expect.anything() }]);
    }
    const code = person.codes.pop();
    const proof = { ...(hadPassword && { password: PASSWORD }), ...(code && { recovery_code: code }) };
    const undone = await person.browser.post('/auth/undo-change').send({ token, ...proof });
    expect([undone.status, undone.body]).toEqual([200, { undone: kind }]);
    expect(await waysInto(person)).toEqual(before);
    const { password_hash: hash } = (
      await rows<{ password_hash: unknown }>(
        app.database,
        'SELECT password_hash FROM users WHERE id = :id',
        person as never,
      )
    )[0]!;
    expect(hash).toBeNull();
  });
});
