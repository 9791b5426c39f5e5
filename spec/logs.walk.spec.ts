import { createRequire } from 'node:module';
import { format } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import type { Response } from 'supertest';
import { type AuthWith, internalsOf } from '../lib/auth.js';
import { connectByUrl } from '../lib/database/connect.js';
import { type AuthErrorCode, statusOf } from '../lib/errors.js';
import { authRouter } from '../lib/index.js';
import { declaredLimits } from '../lib/limits/limiter.js';
import { ada, SECRET } from './support/app.js';
import { beforeChange } from './support/changes.js';
import { rows, type SpecDatabase } from './support/database.js';
import { everyPlugin } from './support/every-plugin.js';
import { type LyingProvider, startLyingProvider } from './support/lying-provider.js';
import { mailbox } from './support/mailbox.js';
import { type Browser, type OAuthApp, oidcPlugin, startOAuthApp } from './support/oauth-app.js';
import { CLIENT, visitProvider } from './support/oidc.js';
import { Overheard } from './support/overheard.js';
import { authenticator } from './support/passkeys.js';
import { alsoToPino } from './support/pino.js';
import { settled } from './support/sessions.js';
import { startSdk } from './support/telemetry.js';
import { codeOf, forgetSteps, wrongCode } from './support/two-factor.js';

// Every route is called, with all logs as loud as they can be. Nothing that went in or came out may be in them.
const PEPPER = 'a pepper of 32 bytes and more than that';
const ROOT = { email: 'root@example.com', password: 'a root of all admins' };
/** In a log, it would be a line of its own. */
const FORGED = 'x\nlatchkey: forged\r\nlatchkey: forged\u2028latchkey: forged';

const overheard = new Overheard();
/** What the logger, Sequelize and the console got, as a console prints it. */
const log: string[] = [];
const statements: string[] = [];
const write =
  (level: string) =>
  (...args: unknown[]) =>
    void log.push(`${level} ${format(...args)}`);
const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };

const pluginsAt = (provider: LyingProvider) =>
  [
    ...everyPlugin({
      password: {
        pepper: PEPPER,
        unknownBrowser: 'code',
        isBreached: async (typed) => Promise.reject(new Error(`asked for ${typed}`)),
      },
      admin: { adminEmails: [ROOT.email] },
    }),
    oidcPlugin(provider),
  ] as const;

/** The package that Sequelize writes with if the environment has DEBUG=sequelize*. */
const debug = createRequire(import.meta.url)('debug') as {
  enable(names: string): void;
  disable(): void;
  log: (...args: unknown[]) => void;
};

function loudly({ url }: SpecDatabase): Sequelize {
  const sequelize = connectByUrl(url) as Sequelize;
  Object.assign((sequelize as unknown as { options: object }).options, {
    logQueryParameters: true,
    benchmark: true,
    logging: (sql: string, _ms: number, options: { bind?: unknown }) => {
      statements.push(sql);
      log.push(`sql ${sql} ${JSON.stringify(options?.bind ?? null)}`);
    },
  });
  return sequelize;
}

/** Each request has a span, and latchkey records what it can. */
const sdk = startSdk();

let provider: LyingProvider;
let app: OAuthApp & { readonly auth: AuthWith<ReturnType<typeof pluginsAt>> };
const mail = mailbox();
const called = new Set<string>();
beforeAll(async () => {
  for (const level of ['debug', 'info', 'log', 'warn', 'error'] as const)
    jest.spyOn(console, level).mockImplementation(write('console'));
  debug.log = write('debug');
  debug.enable('sequelize*');
  provider = await startLyingProvider();
  app = (await startOAuthApp({
    host: 'localhost',
    providers: () => [],
    config: ((database: SpecDatabase) => ({
      database: loudly(database),
      plugins: pluginsAt(provider),
      bearerEnabled: true,
      logger,
      telemetry: true,
      email: { send: mail.send },
      user: { fields: { nickname: { type: 'string' } } },
    })) as never,
    mount: (server, auth) =>
      void server.use(overheard.middleware, sdk.middleware()).use('/auth', authRouter(auth)),
  })) as never;
  alsoToPino(internalsOf(app.auth).core.settings.log, (line) => log.push(`pino ${line}`));
  internalsOf(app.auth).core.events.onAny((name, event) =>
    log.push(`event ${name} ${JSON.stringify(event)}`),
  );
  // Migrations contain nothing of a client, and are written over several lines.
  statements.length = 0;
  overheard.add(SECRET, PEPPER, CLIENT.clientSecret, ROOT.password, ada.password);
});
afterAll(async () => {
  jest.restoreAllMocks();
  debug.disable();
  await app.stop();
  await provider.stop();
  await sdk.stop();
});

/** Calls a route, which must succeed. */
async function call(
  browser: Browser,
  name: string,
  body?: object,
  params: Record<string, string> = {},
): Promise<Response> {
  const [method = '', path = ''] = name.split(' ');
  const filled = path.replace(/:(\w+)/g, (_word, key) => params[key] ?? params.id ?? 'oidc');
  const sending = browser[method.toLowerCase() as 'post'](`/auth${filled}`).redirects(0);
  if (params.form) sending.type('form').set('origin', app.origin);
  const answer = await (method === 'GET' ? sending.query(body ?? {}) : sending.send(body));
  if (answer.status >= 400) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
  if (answer.headers.location?.includes('error=')) throw new Error(`${name}: ${answer.headers.location}`);
  called.add(name);
  return answer;
}

/** Signs in with a password, and where the browser is unknown with the code too. */
async function enter(browser: Browser, credential: string, typed: string): Promise<void> {
  const { body } = await call(browser, 'POST /signin/credential', { credential, password: typed });
  if (!body.second_factor?.methods.includes('email_code')) return;
  await settled(app.auth);
  const { code = '' } = mail.mails.findLast(({ kind }) => kind === 'browser-code') ?? {};
  overheard.add(code, code.replace('-', ''));
  await call(browser, 'POST /signin/second-factor', { method: 'email_code', code });
}

const mailOf = async (to: string, kind: string, work: () => PromiseLike<unknown>) => {
  const sent = await mail.mailOf(to, kind, work);
  overheard.add(sent.token, sent.url);
  return sent.token;
};

async function newUser(email: string, typed = ada.password) {
  const browser = app.browser();
  const { user } = (
    await call(browser, 'POST /signup/credential', { email, password: typed, nickname: FORGED })
  ).body;
  await app.auth.markEmailVerified(user.id);
  await enter(browser, email, typed);
  return { browser, id: user.id as string, email };
}

/** A flow with the provider, up to the app's answer to the callback. */
async function travel(browser: Browser, name: string, as: 'GET' | 'POST' = 'GET') {
  const answer = await call(browser, name, { callback_url: '/done' });
  const back = new URL(await visitProvider(answer.headers.location ?? ''));
  overheard.addParameters(back.href);
  const parameters = Object.fromEntries(back.searchParams);
  await call(browser, `${as} /oauth/:provider/callback`, parameters, as === 'POST' ? { form: 'yes' } : {});
}

async function accountLife(): Promise<void> {
  const { browser, id } = await newUser(ada.email);
  const changed = 'a difference engine';
  await call(browser, 'POST /usernames/check', { username: 'ada' });
  await call(browser, 'PATCH /me', { nickname: FORGED, username: 'ada' });
  await call(browser, 'POST /me/update', { nickname: `again ${FORGED}` }, { form: 'yes' });
  await call(browser, 'GET /me');
  await call(browser, 'GET /sign-in-methods');
  await call(browser, 'GET /openapi.json');
  await call(browser, 'POST /reauthenticate', { password: ada.password });
  const token = await mailOf(ada.email, 'password-changed', () =>
    call(browser, 'POST /passwords/change', { current_password: ada.password, new_password: changed }),
  );
  await call(browser, 'POST /undo-change/lookup', { token });
  await call(browser, 'GET /account-changes');
  // A link to set a password goes out.
  await mailOf(ada.email, 'reset-password', () =>
    call(browser, 'POST /undo-change', { token, password: ada.password }),
  );
  const reset = await mailOf(ada.email, 'reset-password', () =>
    call(app.browser(), 'POST /passwords/request-reset', { email: ada.email }),
  );
  await call(app.browser(), 'POST /passwords/reset', { token: reset, new_password: changed });
  const [one, other] = [app.browser(), app.browser()];
  for (const each of [one, other]) await enter(each, 'ada', changed);
  const { devices } = (await call(one, 'GET /devices')).body;
  const [first, second] = devices;
  await call(one, 'DELETE /devices/:id', undefined, { id: first.id });
  await call(one, 'POST /devices/:id/forget', undefined, { id: second.id, form: 'yes' });
  const { sessions } = (await call(one, 'GET /sessions')).body;
  const { id: othersId } = sessions.find(({ current }: { current: boolean }) => !current);
  await call(one, 'DELETE /sessions/:id', undefined, { id: othersId });
  const address = 'countess@example.com';
  const newAddress = await mailOf(address, 'verify-new-email', () =>
    call(one, 'POST /email-changes', { new_email: address }),
  );
  await call(one, 'POST /email-changes/confirm', { token: newAddress });
  await call(one, 'DELETE /email-changes');
  await call(one, 'POST /email-changes/cancel', undefined, { form: 'yes' });
  await rows(app.database, 'UPDATE users SET email_verified_at = NULL WHERE id = :id', { id });
  const proof = await mailOf(address, 'verify-email', () => call(one, 'POST /email-verifications'));
  await call(one, 'POST /verify-email', { token: proof, password: changed });
  await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
  await call(one, 'POST /passwords/set', { new_password: ada.password }, { form: 'yes' });
  await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
  await call(one, 'PUT /passwords', { new_password: ada.password });
  const { key, api_key } = (await call(one, 'POST /api-keys', { name: 'a program' })).body;
  await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
  await call(one, 'GET /api-keys');
  await call(one, 'DELETE /api-keys/:id', undefined, { id: api_key.id });
  await call(one, 'POST /me/export');
  await call(one, 'POST /signout');
}

async function secondFactors(): Promise<void> {
  const { browser, email, id } = await newUser('grace@example.com');
  const { secret } = (await call(browser, 'POST /two-factor/totp')).body;
  await call(browser, 'POST /two-factor/totp/confirm', { code: codeOf(secret) });
  await call(browser, 'GET /two-factor');
  await call(browser, 'DELETE /two-factor/trusted-devices');
  await call(browser, 'POST /two-factor/trusted-devices/delete', undefined, { form: 'yes' });
  const { recovery_codes: codes } = (await call(browser, 'POST /two-factor/recovery-codes')).body;
  const device = authenticator({ origin: app.origin });
  const { options } = (await call(browser, 'POST /passkeys/options')).body;
  const { passkey } = (
    await call(browser, 'POST /passkeys', { response: device.create(options), name: 'a phone' })
  ).body;
  await call(browser, 'GET /passkeys');
  await call(browser, 'PATCH /passkeys/:id', { name: 'a new phone' }, { id: passkey.id });
  const { options: again } = (await call(browser, 'POST /reauthenticate/options')).body;
  await call(browser, 'POST /reauthenticate', { passkey: device.get(again) });
  const first = app.browser();
  await call(first, 'POST /signin/credential', { credential: email, password: ada.password });
  await call(first, 'POST /signin/second-factor/options');
  // An account without a second factor, in a browser that it does not know.
  const waiting = app.browser();
  const other = { email: 'waiting@example.com', password: ada.password };
  await app.auth.users.create({ ...other, emailVerified: true });
  await call(waiting, 'POST /signin/credential', { credential: other.email, password: other.password });
  const { code } = await mail.mailOf(other.email, 'browser-code', () =>
    call(waiting, 'POST /signin/second-factor/send'),
  );
  overheard.add(code, code.replace('-', ''));
  await call(waiting, 'POST /signin/second-factor', { method: 'email_code', code });
  await forgetSteps(app);
  const wrong = await first
    .post('/auth/signin/second-factor')
    .send({ method: 'totp', code: wrongCode(secret) });
  expect(wrong.status).toBe(401);
  await call(first, 'POST /signin/second-factor', { method: 'recovery_code', code: codes[0] });
  const third = app.browser();
  const asked = (await call(third, 'POST /signin/passkey/options')).body;
  await call(third, 'POST /signin/passkey', { response: device.get(asked.options) });
  await call(browser, 'POST /undo-change/options', { token: await beforeChange(app.auth, id) });
  await call(third, 'PUT /two-factor/passkeys', { on: true });
  await call(third, 'DELETE /passkeys/:id', undefined, { id: passkey.id });
  await call(third, 'DELETE /two-factor/totp');
  await call(third, 'POST /revoke-sessions');
  await app.auth.users.delete(id);
}

async function atProvider(): Promise<void> {
  const { browser, email } = await newUser('alan@example.com');
  provider.lies = {
    claims: {
      email,
      sub: 'alan',
      get auth_time() {
        return Math.ceil(Date.now() / 1000);
      },
    },
  };
  await travel(browser, 'GET /oauth/:provider/link');
  await call(browser, 'GET /oauth/accounts');
  await call(browser, 'DELETE /passwords', { password: ada.password });
  await call(browser, 'PUT /passwords', { new_password: ada.password });
  await call(browser, 'POST /passwords/delete', { password: ada.password }, { form: 'yes' });
  await call(browser, 'PUT /passwords', { new_password: ada.password });
  await call(browser, 'GET /oauth/:provider/tokens');
  await call(browser, 'POST /oauth/:provider/tokens/refresh');
  await travel(browser, 'GET /oauth/:provider/reauthenticate');
  await call(browser, 'POST /oauth/:provider/unlink', {}, { form: 'yes' });
  await travel(browser, 'GET /oauth/:provider/link');
  await travel(app.browser(), 'GET /oauth/:provider/authorize', 'POST');
  await call(browser, 'DELETE /oauth/:provider/unlink');
  // What the provider says of a failure is logged.
  const refused = app.browser();
  const { headers } = await call(refused, 'GET /oauth/:provider/authorize');
  const { searchParams } = new URL(headers.location ?? '');
  const state = searchParams.get('state') ?? '';
  await refused
    .get('/auth/oauth/oidc/callback')
    .query({ state, error: 'server_error', error_description: FORGED, iss: provider.issuer });
  provider.lies = {
    answers: {
      token: (_req, res) =>
        void res
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: FORGED, error_description: FORGED })),
    },
  };
  const failed = await call(refused, 'GET /oauth/:provider/authorize');
  const back = new URL(await visitProvider(failed.headers.location ?? ''));
  overheard.addParameters(back.href);
  await refused.get('/auth/oauth/oidc/callback').query(Object.fromEntries(back.searchParams));
  for (const { form, authorization } of provider.tokenRequests) {
    overheard.addAll(Object.fromEntries(form));
    overheard.add(authorization?.replace(/^\w+ /, ''));
  }
  for (const { headers: sent } of provider.resourceRequests)
    overheard.add(sent.authorization?.replace(/^\w+ /, ''));
  await call(browser, 'POST /me/delete', { password: ada.password }, { form: 'yes' });
}

async function administration(): Promise<void> {
  const { browser: root } = await newUser(ROOT.email, ROOT.password);
  const { user } = (await call(root, 'POST /admin/users', { email: 'new@example.com', nickname: FORGED }))
    .body;
  const { id } = user;
  await call(root, 'GET /admin/users', { q: FORGED });
  await call(root, 'GET /admin/users/:id', undefined, { id });
  await call(root, 'PATCH /admin/users/:id', { nickname: FORGED }, { id });
  await mailOf('new@example.com', 'reset-password', () =>
    call(root, 'POST /admin/users/:id/send-password-reset', undefined, { id }),
  );
  const issued = await app.auth.createSession(id, { userAgent: FORGED, ip: FORGED });
  overheard.add(issued.token);
  await call(root, 'GET /admin/users/:id/sessions', undefined, { id });
  await call(root, 'DELETE /admin/users/:id/sessions/:sessionId', undefined, {
    id,
    sessionId: issued.session.id,
  });
  await call(root, 'POST /admin/users/:id/revoke-sessions', undefined, { id });
  await app.auth.markEmailVerified(id);
  await call(root, 'PUT /admin/users/:id/roles', { roles: ['editor'] }, { id });
  await call(root, 'POST /admin/users/:id/set-roles', { roles: 'editor' }, { id, form: 'yes' });
  await call(root, 'POST /admin/users/:id/suspend', { reason: FORGED }, { id });
  await call(root, 'POST /admin/users/:id/reinstate', undefined, { id });
  const { browser, id: gracesId } = await newUser('admiral@example.com');
  const { secret } = (await call(browser, 'POST /two-factor/totp')).body;
  await call(browser, 'POST /two-factor/totp/confirm', { code: codeOf(secret) });
  await call(root, 'POST /admin/users/:id/disable-second-factor', undefined, { id: gracesId });
  await call(root, 'POST /admin/users/:id/require-new-password', undefined, { id: gracesId });
  await call(root, 'DELETE /admin/users/:id', undefined, { id });
  const { browser: leaver } = await newUser('leaver@example.com');
  await call(leaver, 'DELETE /me', { password: ada.password });
  await call(root, 'GET /admin/events');
  await call(root, 'POST /admin/users/:id/act', { reason: 'ticket 7' }, { id: gracesId });
}

async function inOrganizations(): Promise<void> {
  const { browser: owner } = await newUser('owner@example.com');
  const { user: member } = (await app.auth.users.ensure({ email: 'member@example.com' })) as {
    user: { id: string };
  };
  const found = await app.auth.users.find({ email: 'owner@example.com' });
  await app.auth.markEmailVerified(String(found?.id));
  const names = (slug: string) => ({ name: `Acme ${slug}`, slug });
  const create = (slug: string) => call(owner, 'POST /organizations', names(slug));
  const { id } = (await create('acme')).body.organization;
  await call(owner, 'GET /organizations');
  await call(owner, 'GET /organizations/:id', undefined, { id });
  await call(owner, 'PATCH /organizations/:id', { name: 'Acme <b>' }, { id });
  await call(owner, 'POST /organizations/:id/update', { name: 'Acme' }, { id, form: 'yes' });
  await app.auth.organizations.addMember(id, member.id, 'member');
  const userId = member.id;
  await call(owner, 'GET /organizations/:id/members', undefined, { id });
  await call(owner, 'PATCH /organizations/:id/members/:userId', { role: 'admin' }, { id, userId });
  await call(
    owner,
    'POST /organizations/:id/members/:userId/set-role',
    { role: 'member' },
    { id, userId, form: 'yes' },
  );
  await call(owner, 'DELETE /organizations/:id/members/:userId', undefined, { id, userId });
  await app.auth.organizations.addMember(id, userId, 'member');
  await call(
    owner,
    'POST /organizations/:id/members/:userId/remove',
    { password: ada.password },
    { id, userId, form: 'yes' },
  );
  const invite = async (email: string) => {
    return mailOf(email, 'organization-invitation', () =>
      call(owner, 'POST /organizations/:id/invitations', { email, role: 'member' }, { id }),
    );
  };
  const token = await invite('invited@example.com');
  await call(app.browser(), 'POST /invitations/lookup', { token });
  await call(app.browser(), 'POST /invitations/accept', { token, password: ada.password });
  for (const [name, form] of [
    ['DELETE /organizations/:id/invitations/:invitationId', undefined],
    ['POST /organizations/:id/invitations/:invitationId/revoke', 'yes'],
  ] as const) {
    await invite('other@example.com');
    const { body } = await call(owner, 'GET /organizations/:id/invitations', undefined, { id });
    const invitationId = body.invitations[0].id;
    await call(owner, name, form && {}, { id, invitationId, ...(form && { form }) });
  }
  await call(owner, 'POST /organizations/:id/delete', {}, { id, form: 'yes' });
  await call(owner, 'DELETE /organizations/:id', undefined, {
    id: (await create('other')).body.organization.id,
  });
}

/** Every field of every route, with what is secret only to whom has made it up. */
async function attempts(): Promise<void> {
  const { paths } = app.auth.openapi();
  for (const { method, path } of internalsOf(app.auth).routes()) {
    const operation = (paths as never as Record<string, Record<string, object>>)[
      path.replace(/:(\w+)/g, '{$1}')
    ]?.[method];
    const names = [...new Set(JSON.stringify(operation ?? {}).match(/[a-z_]+/g) ?? [])];
    const canary = `canary-${method}-${path.replaceAll('/', '-')}${FORGED}`;
    for (const type of ['json', 'form']) {
      const sending = app.http[method](`/auth${path.replace(/:provider/, 'oidc')}`).redirects(0);
      sending
        .set('cookie', `latchkey=lks_${'c'.repeat(48)}; latchkey-device=canary-of-a-device`)
        .set('authorization', 'Bearer canary-of-a-bearer');
      sending.set('x-service-api-key', 'lkk_canary-of-a-key').query({ token: canary, code: canary });
      const { status } = await (method === 'get'
        ? sending
        : sending.type(type).send(Object.fromEntries(names.slice(0, 20).map((name) => [name, canary]))));
      expect([method, path, status < 500]).toEqual([method, path, true]);
    }
    overheard.add(canary);
  }
  overheard.add('canary-of-a-device', 'canary-of-a-bearer', 'canary-of-a-key', 'c'.repeat(48));
}

test('every route keeps secrets out of the logs, which have one line for each event', async () => {
  await accountLife();
  await secondFactors();
  await atProvider();
  await administration();
  await inOrganizations();
  await attempts();
  const routes = internalsOf(app.auth)
    .routes()
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(routes.filter((name) => !called.has(name))).toEqual([]);
  for (const sent of mail.mails) overheard.add(sent.token, sent.url);
  const audited = await rows(app.database, 'SELECT * FROM audit_events');
  log.push(...audited.map((row) => `audit ${JSON.stringify(row)}`));

  expect(overheard.secrets.size).toBeGreaterThan(150);
  expect(log.length).toBeGreaterThan(1000);
  expect(log.some((line) => line.startsWith('warn'))).toBe(true);
  expect(log.some((line) => /^pino .*"event":"oauth\.provider_failed"/.test(line))).toBe(true);
  expect(log.some((line) => line.startsWith('debug') && line.includes('sequelize'))).toBe(true);
  const found = [...overheard.secrets].flatMap((secret) => {
    const line = log.find(
      (one) =>
        one.includes(secret) &&
        !(secret.length < 8 && !new RegExp(`(?<![\\w-])${secret}(?![\\w-])`).test(one)),
    );
    return line === undefined ? [] : [[secret, line]];
  });
  expect(found).toEqual([]);

  expect(statements.filter((sql) => /[\p{Cc}\u2028\u2029]/u.test(sql))).toEqual([]);
  // What listeners get is data, which they write down in a format of their own.
  const own = log.filter((line) => !/^(event|audit) /.test(line));
  expect(own.filter((line) => /^latchkey: forged/mu.test(line) || line.includes('\u2028'))).toEqual([]);
}, 120_000);

test('all attributes of telemetry have values of closed sets, and every route has its own', async () => {
  const routes = new Set(
    internalsOf(app.auth)
      .routes()
      .map(({ path }) => `/auth${path}`),
  );
  const methods = ['password', 'sign_up', 'provider', 'passkey', 'email', 'second_step', 'app'];
  const outcomes = ['signed_in', 'pending', 'error'];
  const closed: Readonly<Record<string, (value: string) => boolean>> = {
    'http.route': (path) => routes.has(path),
    'latchkey.sign_in.method': (method) => methods.includes(method),
    'latchkey.sign_in.outcome': (one) => outcomes.includes(one) || statusOf(one as AuthErrorCode) >= 400,
    'latchkey.lookup.credential': (kind) => ['session', 'api_key'].includes(kind),
    'latchkey.password_hash.operation': (work) => ['hash', 'verify'].includes(work),
    'latchkey.rate_limit.rule': (rule) => rule === 'account' || declaredLimits.has(rule),
  };
  const recorded = [...sdk.spans(), ...(await sdk.figures())].flatMap(({ attributes }) =>
    Object.entries(attributes),
  );
  expect(recorded.length).toBeGreaterThan(400);
  const open = recorded.filter(([name, value]) => typeof value !== 'number' && !closed[name]?.(`${value}`));
  expect(open).toEqual([]);
  const seen = (name: string) => new Set(recorded.flatMap(([key, value]) => (key === name ? value : [])));
  expect(seen('http.route')).toEqual(routes);
  expect(seen('latchkey.sign_in.method')).toEqual(new Set(methods.filter((one) => one !== 'email')));
  // The spans themselves have neither events, which could contain the message of an error, nor names that vary.
  expect(new Set(sdk.spans().map(({ name }) => name))).toEqual(
    new Set(['DELETE', 'GET', 'PATCH', 'POST', 'PUT', 'latchkey.lookup']),
  );
  expect(
    sdk
      .spans()
      .flatMap(({ events, status }) => [...events, status.message ?? []])
      .flat(),
  ).toEqual([]);
});
