import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { expectTypeOf as ExpectTypeOf } from 'expect-type';
import type { Request, RequestHandler, Response, Router } from 'express';
import type * as Latchkey from 'latchkey';
import { TSC } from './support/compiler.js';
import { completions } from './support/language-server.js';

/**
 * Specs of the public types. The bodies below never run: TypeScript checks this file against the built
 * declarations, and a spec passes if there are no errors in its lines.
 */
declare const latchkey: typeof Latchkey;
declare const expectTypeOf: typeof ExpectTypeOf;
declare const req: Request;
declare const res: Response;
declare const sequelize: import('sequelize').Sequelize;
declare const latchkeyModel: typeof import('sequelize').Model;

const root = fileURLToPath(new URL('..', import.meta.url));
const thisFile = fileURLToPath(import.meta.url);
const run = promisify(execFile);
let folder: string;
/** The folder of the declarations. */
let dist: string;
const complaints: { spec: string; line: string }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-types-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const isBuilt = process.env.LATCHKEY_SPEC_BUILT === '1';
  dist = isBuilt ? join(root, 'dist/esm') : join(folder, 'dist');
  if (!isBuilt) await tsc('-p', join(root, 'tsconfig.esm.json'), '--outDir', dist, '--emitDeclarationOnly');
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { paths: { latchkey: [join(dist, 'index.d.ts')] } },
      files: [thisFile],
      include: [],
    }),
  );
  const output = await tsc('-p', folder, '--pretty', 'false').then(
    () => '',
    (error: { stdout: string }) => {
      // Only complaints about types are expected here.
      if (!/error TS/.test(error.stdout)) throw error;
      return error.stdout;
    },
  );
  const lines = (await readFile(thisFile, 'utf8')).split('\n');
  for (const line of output.split('\n').filter((text) => /error TS/.test(text))) {
    const [, number] = /types\.walk\.spec\.ts\((\d+),/.exec(line) ?? [];
    const above = lines.slice(0, Number(number ?? 0)).reverse();
    const opening = above.find((text) => /^types\(/.test(text));
    complaints.push({ spec: /'(.+)'/.exec(opening ?? '')?.[1] ?? '', line });
  }
}, 180_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A spec whose body is only type-checked. */
function types(name: string, _body: () => unknown): void {
  test(name, () => expect(complaints.filter(({ spec }) => spec === name)).toEqual([]));
}

types('auth has exactly the operations of the plugins in the list', () => {
  const config = { database: 'sqlite:x', secret: 'x' };
  const none = latchkey.createAuth(config);
  // @ts-expect-error: no admin() in the list
  none.admin;
  // @ts-expect-error: no credentialPassword() in the list
  none.credential;

  const both = latchkey.createAuth({
    ...config,
    plugins: [latchkey.credentialPassword({ username: true }), latchkey.admin({ adminUserIds: ['x'] })],
  });
  expectTypeOf(both.admin.listUsers).returns.resolves.toEqualTypeOf<Latchkey.UserPage>();
  expectTypeOf(both.admin.revokeUserSessions).returns.resolves.toEqualTypeOf<number>();
  expectTypeOf(both.credential.signIn).returns.resolves.toEqualTypeOf<Latchkey.IssuedSession>();

  const one = latchkey.createAuth({ ...config, plugins: [latchkey.admin({ adminEmails: [] })] });
  expectTypeOf(one).toHaveProperty('admin');
  expectTypeOf(one).not.toHaveProperty('credential');
});

types('only with twoFactor() may a sign-in wait for a second factor', async () => {
  const { createAuth, credentialPassword, oauth, twoFactor } = latchkey;
  const config = { database: 'sqlite:x', secret: 'x' };
  const right = { credential: 'ada', password: 'x' };
  const back = { provider: 'x', parameters: new URLSearchParams(), browser: 'x' };
  const plain = createAuth({ ...config, plugins: [credentialPassword(), oauth()] });
  expectTypeOf(plain.credential.signIn).returns.resolves.toEqualTypeOf<Latchkey.IssuedSession>();
  expectTypeOf((await plain.oauth.callback(back)).issued).toEqualTypeOf<Latchkey.IssuedSession | null>();
  const guarded = createAuth({ ...config, plugins: [credentialPassword(), oauth(), twoFactor()] });
  const signedIn = await guarded.credential.signIn(right);
  // @ts-expect-error: there may be no session yet
  signedIn.session;
  if ('secondFactor' in signedIn) expectTypeOf(signedIn).toEqualTypeOf<Latchkey.PendingSignIn>();
  else expectTypeOf(signedIn).toEqualTypeOf<Latchkey.IssuedSession>();
  const { issued } = await guarded.oauth.callback(back);
  if (!issued) return;
  // @ts-expect-error: likewise
  issued.session;
  if ('secondFactor' in issued) expectTypeOf(issued).toEqualTypeOf<Latchkey.PendingSignIn>();
  else expectTypeOf(issued).toEqualTypeOf<Latchkey.IssuedSession>();
});

types('with unknownBrowser: code, a sign-in with a password may wait for a code', () => {
  const { createAuth, credentialPassword, oauth } = latchkey;
  const config = { database: 'sqlite:x', secret: 'x' };
  const asking = createAuth({
    ...config,
    plugins: [credentialPassword({ unknownBrowser: 'code' }), oauth()],
  });
  expectTypeOf(asking.credential.signIn).returns.resolves.toEqualTypeOf<Latchkey.SignedIn>();
  const asks = process.env.CODES ? 'code' : undefined;
  const perhaps = createAuth({ ...config, plugins: [credentialPassword({ unknownBrowser: asks })] });
  expectTypeOf(perhaps.credential.signIn).returns.resolves.toEqualTypeOf<Latchkey.SignedIn>();
  const telling = createAuth({ ...config, plugins: [credentialPassword({ unknownBrowser: 'notify' })] });
  expectTypeOf(telling.credential.signIn).returns.resolves.toEqualTypeOf<Latchkey.IssuedSession>();
});

types('an Auth with any plugins is assignable to Auth', () => {
  const auth = latchkey.createAuth({
    database: sequelize,
    secret: ['x'],
    plugins: [latchkey.credentialPassword()],
  });
  expectTypeOf(auth).toExtend<Latchkey.Auth>();
  expectTypeOf(latchkey.authRouter(auth)).toEqualTypeOf<Router>();
  expectTypeOf(latchkey.requireSession(auth)).toEqualTypeOf<RequestHandler>();
  expectTypeOf(latchkey.requireAdmin({ database: 'sqlite:x', secret: 'x' })).toEqualTypeOf<RequestHandler>();
});

types('a secret from the environment needs no type assertion', () => {
  latchkey.createAuth({ database: 'sqlite:x', secret: process.env.AUTH_SECRET });
});

types('an invalid config is a compile error', () => {
  // @ts-expect-error: secret is missing
  latchkey.createAuth({ database: 'sqlite:x' });
  // @ts-expect-error: database is missing
  latchkey.createAuth({ secret: 'x' });
  // @ts-expect-error: a number is not a database
  latchkey.createAuth({ database: 1, secret: 'x' });
  // @ts-expect-error: bearer is not an option
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', bearer: true });
  // @ts-expect-error: ttl is not an option of session
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', session: { ttl: 1 } });
  // @ts-expect-error: times are numbers of seconds
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', session: { lifetime: '30d' } });
  // @ts-expect-error: the value is lax, not Lax
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', session: { cookie: { sameSite: 'Lax' } } });
  // @ts-expect-error: a plugin must be called
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', plugins: [latchkey.admin] });
  // @ts-expect-error: the option is adminUserIds
  latchkey.admin({ userIds: ['x'] });
  // @ts-expect-error: admin needs at least one list
  latchkey.admin();
  // @ts-expect-error: the option is username
  latchkey.credentialPassword({ usernames: true });
  // @ts-expect-error: the option is identifier
  latchkey.credentialPassword({ username: true, identifer: 'either' });
  // @ts-expect-error: the option is passwordRules.minLength
  latchkey.credentialPassword({ passwordRules: { minLenght: 12 } });
  // @ts-expect-error: also among others
  latchkey.credentialPassword({ username: true, passwordRules: { common: true, minLenght: 12 } });
  // @ts-expect-error: the option is argon2.iterations
  latchkey.credentialPassword({ hash: 'argon2id', argon2: { memory: 19_456, iteration: 3 } });
  const misspelt = { username: true, identifer: 'either' };
  // @ts-expect-error: in a variable, too
  latchkey.credentialPassword(misspelt);
  // @ts-expect-error: the option is session
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', sesion: {} });
  // @ts-expect-error: the option is session.idleTimeout
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', session: { idelTimeout: 60 } });
  // @ts-expect-error: the option is session.cookie.domain
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', session: { cookie: { domian: 'example.com' } } });
  // @ts-expect-error: the option is user.fields
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', user: { feilds: {} } });
  // @ts-expect-error: the option is issuer
  latchkey.twoFactor({ required: true, isuer: 'Acme' });
});

types('valid options of credentialPassword() can come from literals, variables and spreads', () => {
  const { credentialPassword } = latchkey;
  const options: Latchkey.CredentialPasswordOptions = {};
  const readonlyOptions: Readonly<Latchkey.CredentialPasswordOptions> = options;
  const fixed = { username: true, identifier: 'either' } as const;
  credentialPassword(options);
  credentialPassword(readonlyOptions);
  credentialPassword(fixed);
  const someOptions = req.body as { username?: boolean; passwordRules?: { minLength?: number } } | undefined;
  credentialPassword({ ...someOptions });
  credentialPassword({ ...someOptions, passwordRules: undefined });
  credentialPassword({
    ...options,
    identifier: 'username',
    passwordRules: { ...options.passwordRules, minLength: 12 },
  });
  credentialPassword({
    hash: 'argon2id',
    argon2: { memory: 19_456 },
    pepper: ['one', 'another'],
    passwordRules: { minLength: 12, words: ['acme'] },
    verifyLegacy: { md5: (password, hash) => password === hash },
    isBreached: async (password) => password.length > 3,
  });
});

types('invalid options of a guard are a compile error', () => {
  const auth = latchkey.createAuth({ database: 'sqlite:x', secret: 'x' });
  latchkey.requireSession(auth, {
    accept: ['cookie'],
    onError: (error, _req, answer) => answer.send(error.code),
  });
  // @ts-expect-error: no such carrier
  latchkey.requireSession(auth, { accept: ['basic'] });
  // @ts-expect-error: the option is onError
  latchkey.requireSession(auth, { onerror: () => {} });
});

types('req.auth is typed on every Express request', () => {
  expectTypeOf(req.auth).toEqualTypeOf<Latchkey.Authentication & Latchkey.RequestMembership>();
  // Behind requireMember.
  expectTypeOf(req.auth.organization.id).toEqualTypeOf<string>();
  expectTypeOf(req.auth.membership.role).toEqualTypeOf<string>();
  expectTypeOf(req.auth.user.email).toEqualTypeOf<string | null>();
  expectTypeOf(latchkey.currentUser(req)).toEqualTypeOf<Latchkey.User>();
  expectTypeOf(latchkey.currentSession(req)).toEqualTypeOf<Latchkey.Session>();
  expectTypeOf(latchkey.currentUser(req).email).toEqualTypeOf<string | null>();
  // After an optional guard.
  if (req.auth) res.json(req.auth.user.id);
});

types('what a page shows of a refused form is typed', () => {
  const auth = latchkey.createAuth({ database: sequelize, secret: '' });
  const { values, error, errors } = auth.formValues(req, res);
  expectTypeOf(values.email).toEqualTypeOf<string | undefined>();
  expectTypeOf(error).toEqualTypeOf<Latchkey.AuthErrorCode | null>();
  expectTypeOf(errors[0]?.pointer).toEqualTypeOf<string | undefined>();
  auth.formValues(new globalThis.Request('http://localhost/'), res);
  // @ts-expect-error: headers are required
  auth.formValues({ url: '/' }, res);
});

types('the fields of users are typed in what an Auth takes and returns', async () => {
  const auth = latchkey.createAuth({
    database: 'sqlite:x',
    secret: 'x',
    plugins: [
      latchkey.credentialPassword({ username: true }),
      latchkey.admin({ adminUserIds: ['x'] }),
      latchkey.apiKeys(),
    ],
    user: {
      fields: {
        name: { type: 'string', required: true },
        plan: { type: 'string', enum: ['free', 'pro'], required: true, default: 'free', input: 'none' },
        level: { type: 'integer' },
        bornAt: { type: 'date', output: 'admin' },
        settings: { type: 'json', output: 'none' },
        newsletter: { type: 'boolean', default: false },
      },
    },
  });
  const { user } = await auth.getSession(req);
  expectTypeOf(user.name).toEqualTypeOf<string>();
  expectTypeOf(user.plan).toEqualTypeOf<'free' | 'pro'>();
  expectTypeOf(user.level).toEqualTypeOf<number | null>();
  expectTypeOf(user.newsletter).toEqualTypeOf<boolean | null>();
  expectTypeOf(user.email).toEqualTypeOf<string | null>();
  expectTypeOf(user).not.toHaveProperty('bornAt');
  // @ts-expect-error: no such field
  user.nickname;
  const person = { email: 'ada@example.com', password: 'an analytical engine' };
  const signedUp = await auth.credential.signUp({ ...person, fields: { name: 'Ada', level: null } });
  expectTypeOf(signedUp.user.name).toEqualTypeOf<string>();
  const issued = await auth.credential.signIn({ credential: 'ada', password: 'x' });
  expectTypeOf(issued.user.plan).toEqualTypeOf<'free' | 'pro'>();
  expectTypeOf(issued.session.id).toEqualTypeOf<string>();
  // @ts-expect-error: name is required
  auth.credential.signUp(person);
  // @ts-expect-error: name is required
  auth.credential.signUp({ ...person, fields: { level: 1 } });
  // @ts-expect-error: name is a string
  auth.credential.signUp({ ...person, fields: { name: 1 } });
  // @ts-expect-error: the plan is free or pro
  auth.users.create({ ...person, fields: { name: 'Ada', plan: 'gold' } });
  // @ts-expect-error: no such field
  auth.users.create({ ...person, fields: { name: 'Ada', role: 'admin' } });
  const found = await auth.users.get('x');
  expectTypeOf(found?.bornAt).toEqualTypeOf<Date | null | undefined>();
  auth.users.update('x', { fields: { plan: 'pro' } });
  // @ts-expect-error: name cannot be null
  auth.users.update('x', { fields: { name: null } });
  const { users } = await auth.admin.listUsers();
  expectTypeOf(users[0]?.bornAt).toEqualTypeOf<Date | null | undefined>();
  expectTypeOf(users[0]?.name).toEqualTypeOf<string | undefined>();
  const created = await auth.admin.createUser({ email: 'x', fields: { name: 'x' } });
  expectTypeOf(created.level).toEqualTypeOf<number | null>();
  expectTypeOf(latchkey.authRouter(auth)).toEqualTypeOf<Router>();
  expectTypeOf(latchkey.requireSession(auth)).toEqualTypeOf<RequestHandler>();
  auth.on('session.created', ({ sessionId }) => expectTypeOf(sessionId).toEqualTypeOf<string>());
  expectTypeOf(auth.apiKeys.list('x')).resolves.toEqualTypeOf<Latchkey.ApiKey[]>();
});

types('the language of a user is typed, also beside fields of the app', async () => {
  const config = { database: 'sqlite:x', secret: 'x', locale: { languages: ['en', 'de'] } } as const;
  const bare = latchkey.createAuth(config);
  const { user } = await bare.getSession(req);
  expectTypeOf(user.locale).toEqualTypeOf<string | null | undefined>();
  bare.users.update('x', { fields: { locale: 'de' } });
  const name = { type: 'string', required: true } as const;
  const auth = latchkey.createAuth({ ...config, user: { fields: { name } } });
  expectTypeOf((await auth.getSession(req)).user.locale).toEqualTypeOf<string | null | undefined>();
  auth.users.create({ email: 'x', fields: { name: 'Ada', locale: 'de' } });
  auth.users.update('x', { fields: { locale: null } });
  // @ts-expect-error: a language is a string
  auth.users.update('x', { fields: { locale: 1 } });

  // With one language, an app can have a field of this name.
  const locale = { type: 'string', enum: ['en', 'nl'] } as const;
  const own = latchkey.createAuth({ database: 'sqlite:x', secret: 'x', user: { fields: { locale } } });
  expectTypeOf((await own.getSession(req)).user.locale).toEqualTypeOf<'en' | 'nl' | null>();
  // @ts-expect-error: not one of its values
  own.users.update('x', { fields: { locale: 'de' } });
});

types('a language of the app needs all texts, and its own words have the type of the others', () => {
  const config = { database: 'sqlite:x', secret: 'x' };
  const { emails, errors, pages } = {} as Required<Latchkey.Language>;
  expectTypeOf(emails).toEqualTypeOf<Latchkey.EmailWords>();
  expectTypeOf(pages).toEqualTypeOf<Latchkey.PageWords>();
  expectTypeOf(errors).toEqualTypeOf<Latchkey.ErrorWords>();
  expectTypeOf(errors.phrases).toEqualTypeOf<Latchkey.Phrases>();
  latchkey.createAuth({ ...config, locale: { default: 'nl', languages: [{ tag: 'nl', emails, errors }] } });
  // @ts-expect-error: no errors
  latchkey.createAuth({ ...config, locale: { default: 'nl', languages: [{ tag: 'nl', emails }] } });
  // @ts-expect-error: latchkey has no Dutch
  latchkey.createAuth({ ...config, locale: { languages: ['nl'] } });
  const words = { 'error.phrases.too-short': ({ minimum }: { minimum: number }) => `${minimum} or more` };
  const locale: Latchkey.LocaleOptions = { words: { en: words } };
  expectTypeOf(words).toExtend<Readonly<Record<string, Latchkey.OwnWord>>>();
  latchkey.createAuth({ ...config, locale });
});

types('options of a field are checked against its type', () => {
  // @ts-expect-error: no such type
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', user: { fields: { name: { type: 'text' } } } });
  const config = { database: 'sqlite:x', secret: 'x' };
  // @ts-expect-error: no such option
  latchkey.createAuth({ ...config, user: { fields: { a: { type: 'string', max: 1 } } } });
});

types('a model of Sequelize can hold users', () => {
  class AppUser extends latchkeyModel<{ id: number; authId: string }> {}
  latchkey.createAuth({ database: sequelize, secret: 'x', user: { model: AppUser, foreignKey: 'authId' } });
  // @ts-expect-error: an object is no model
  latchkey.createAuth({ database: sequelize, secret: 'x', user: { model: {}, foreignKey: 'authId' } });
});

types('the result of auth.credential.signUp depends on the options', () => {
  const { credentialPassword, createAuth } = latchkey;
  const config = { database: 'sqlite:x', secret: 'x' };
  const person = { email: 'ada@example.com', password: 'an analytical engine' };
  const plain = createAuth({ ...config, plugins: [credentialPassword()] });
  expectTypeOf(plain.credential.signUp(person)).resolves.toEqualTypeOf<{ readonly user: Latchkey.User }>();
  const username = createAuth({ ...config, plugins: [credentialPassword({ username: true })] });
  expectTypeOf(username.credential.signUp(person)).resolves.toEqualTypeOf<{ readonly user: Latchkey.User }>();
  const signsIn = createAuth({ ...config, plugins: [credentialPassword({ signInOnSignUp: true })] });
  expectTypeOf(signsIn.credential.signUp(person)).resolves.toEqualTypeOf<Latchkey.IssuedSession>();
  const conceals = createAuth({ ...config, plugins: [credentialPassword({ concealExistingEmails: true })] });
  expectTypeOf(conceals.credential.signUp(person)).resolves.toEqualTypeOf<null>();
  const options: Latchkey.CredentialPasswordOptions = {};
  const readonlyOptions: Readonly<Latchkey.CredentialPasswordOptions> = options;
  const unknown = createAuth({ ...config, plugins: [credentialPassword(options)] });
  expectTypeOf(unknown.credential.signUp(person)).resolves.toEqualTypeOf<
    Latchkey.IssuedSession | { readonly user: Latchkey.User } | null
  >();
  const alsoUnknown = createAuth({ ...config, plugins: [credentialPassword(readonlyOptions)] });
  expectTypeOf(alsoUnknown.credential.signUp(person)).resolves.toEqualTypeOf<
    Latchkey.IssuedSession | { readonly user: Latchkey.User } | null
  >();
});

types('the input of auth.credential.signUp depends on the option identifier', () => {
  const { credentialPassword, createAuth } = latchkey;
  const config = { database: 'sqlite:x', secret: 'x' };
  const [email, username, password] = ['ada@example.com', 'ada', 'an analytical engine'];
  const byName = createAuth({
    ...config,
    plugins: [credentialPassword({ identifier: 'username' })],
  }).credential;
  byName.signUp({ username, password, fields: { name: 'Ada' } });
  // @ts-expect-error: accounts have no email
  byName.signUp({ username, email, password });
  // @ts-expect-error: a username is required
  byName.signUp({ password });
  const either = createAuth({
    ...config,
    plugins: [credentialPassword({ identifier: 'either' })],
  }).credential;
  either.signUp({ username, password });
  either.signUp({ email, password });
  either.signUp({ email, username, password });
  // @ts-expect-error: an email or a username is required
  either.signUp({ password });
  const byEmail = createAuth({
    ...config,
    plugins: [credentialPassword({ identifier: 'email' })],
  }).credential;
  byEmail.signUp({ email, password });
  // @ts-expect-error: an email is required
  byEmail.signUp({ username, password });
  // @ts-expect-error: the option is one of three
  credentialPassword({ identifier: 'phone' });
  // @ts-expect-error: a pattern is a regular expression
  credentialPassword({ username: true, usernamePattern: '[a-z]+' });
});

types('events have typed names and payloads', () => {
  const auth = latchkey.createAuth({ database: 'sqlite:x', secret: 'x' });
  auth.on('session.created', (event) => {
    expectTypeOf(event.sessionId).toEqualTypeOf<string>();
    expectTypeOf(event.ip).toEqualTypeOf<string | null>();
    // @ts-expect-error: no event contains a token
    event.token;
  });
  // @ts-expect-error: no such event
  auth.on('session.begun', () => {});
});

types('the code of an AuthError is one of a fixed list', () => {
  const error = new latchkey.AuthError('unauthenticated');
  expectTypeOf(error.code).toEqualTypeOf<Latchkey.AuthErrorCode>();
  expectTypeOf(error.status).toEqualTypeOf<number>();
  // @ts-expect-error: no such code
  new latchkey.AuthError('nope');
});

types('an app can write its own plugin', () => {
  const greeter = {
    name: 'greeter',
    setup: () => ({ api: { greet: (name: string) => `Hello ${name}` } }),
  } as const;
  const auth = latchkey.createAuth({ database: 'sqlite:x', secret: 'x', plugins: [greeter] });
  expectTypeOf(auth.greeter.greet).toEqualTypeOf<(name: string) => string>();
});

types('the names that plugins declare are part of the types', () => {
  expectTypeOf<'verify-email' | 'reset-password'>().toExtend<Latchkey.MailKind>();
  expectTypeOf<'verify-new-email' | 'email-change-conflict'>().toExtend<Latchkey.MailKind>();
  expectTypeOf<'user.restored' | 'session.reauthenticated'>().toExtend<Latchkey.AuthEventName>();
  expectTypeOf<'account_deleted' | 'proof_required'>().toExtend<Latchkey.AuthErrorCode>();
  expectTypeOf<Latchkey.NoticeKind>().toExtend<Latchkey.MailKind>();
  expectTypeOf<'username-changed' | 'account-deleted' | 'passkey-added'>().toExtend<Latchkey.NoticeKind>();
  expectTypeOf<'verify-email'>().not.toExtend<Latchkey.NoticeKind>();
  expectTypeOf<Latchkey.Via>().toEqualTypeOf<'cookie' | 'bearer' | 'api-key'>();
  expectTypeOf<
    'invalid_api_key' | 'provider_error' | 'password_already_set'
  >().toExtend<Latchkey.AuthErrorCode>();
  expectTypeOf<
    'api_key.created' | 'account.linked' | 'password.reset' | 'admin.sessions_revoked'
  >().toExtend<Latchkey.AuthEventName>();
});

types('an object without setup is not a plugin', () => {
  // @ts-expect-error: no setup
  latchkey.createAuth({ database: 'sqlite:x', secret: 'x', plugins: [{ name: 'x' }] });
});

types('auth.models has the models of the plugins in the list', () => {
  const auth = latchkey.createAuth({ database: 'sqlite:x', secret: 'x', plugins: [latchkey.apiKeys()] });
  expectTypeOf(auth.models).toHaveProperty('User');
  expectTypeOf(auth.models).toHaveProperty('ApiKey');
  expectTypeOf(auth.models).not.toHaveProperty('Account');
});

types('users and sessions do not contain secrets', () => {
  expectTypeOf<Latchkey.User>().not.toHaveProperty('passwordHash');
  expectTypeOf<Latchkey.Session>().not.toHaveProperty('tokenHash');
});

test('an editor completes options, at the top and nested, in the plugins too', async () => {
  const places = [
    ['credentialPassword({ | });', 'identifier', 'passwordRules', 'onBreachCheckFailure'],
    ['credentialPassword({ username: true, | });', 'identifier', 'passwordRules'],
    ["credentialPassword({ identifier: '|' });", 'email', 'username', 'either'],
    ['credentialPassword({ passwordRules: { | } });', 'minLength', 'common', 'words'],
    ["credentialPassword({ hash: 'argon2id', argon2: { memory: 19_456, | } });", 'iterations'],
    ['emailSignIn({ | });', 'link', 'signUp'],
    ['apiKeys({ | });', 'scopes', 'maxPerUser'],
    ['oauth({ | });', 'linkByVerifiedEmail'],
    ['createAuth({ | });', 'database', 'secret', 'session'],
    ["createAuth({ database: 'sqlite:x', secret: 'x', session: { cookie: { | } } });", 'domain', 'sameSite'],
    [
      "createAuth({ database: 'sqlite:x', secret: 'x', plugins: [credentialPassword({ | })] });",
      'identifier',
    ],
    [
      "createAuth({ database: 'sqlite:x', secret: 'x', user: { fields: { name: { | } } } });",
      'type',
      'required',
    ],
  ] as const;
  const names = ['apiKeys', 'createAuth', 'credentialPassword', 'emailSignIn', 'oauth'];
  const code = [`import { ${names.join(', ')} } from 'latchkey';`, ...places.map(([line]) => line)].join(
    '\n',
  );
  await writeFile(join(folder, 'editor.ts'), code);
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { paths: { latchkey: [join(dist, 'index.d.ts')] } },
      files: ['editor.ts'],
      include: [],
    }),
  );
  const found = await completions(folder, 'editor.ts', code);
  const missing = places.map(([line, ...expected], index) => [
    line,
    expected.filter((name) => !found[index]?.includes(name)),
    // Where an editor knows no option, it completes all global names.
    found[index]?.includes('globalThis'),
  ]);
  expect(missing).toEqual(places.map(([line]) => [line, [], false]));
});

test('TypeScript reports no other errors in this file or in the declarations', () => {
  expect(complaints.filter(({ spec }) => spec === '')).toEqual([]);
});

test('the declarations that users can reach contain every name that an owner declares, and no `any`', async () => {
  const leaks: string[] = [];
  const seen = new Set(['index.d.ts', 'pages.d.ts']);
  for (const file of seen) {
    const declarations = await readFile(join(dist, file), 'utf8');
    const code = declarations.replace(/\/\*[\s\S]*?\*\/|\/\/.*|"(?:\\.|[^"\\])*"|'[^'\n]*'/g, '');
    for (const line of code.split('\n')) if (/\bany\b/.test(line)) leaks.push(`${file}: ${line.trim()}`);
    for (const [, path = ''] of declarations.matchAll(/(?:from |import |import\()['"](\.[^'"]+)\.js['"]/g)) {
      seen.add(posix.join(posix.dirname(file), `${path}.d.ts`));
    }
  }
  expect(seen.size).toBeGreaterThan(60);
  expect(leaks).toEqual([]);
  const all = await readdir(dist, { recursive: true });
  const owners: string[] = [];
  for (const file of all.filter((path) => path.endsWith('.d.ts'))) {
    if (/^declare module '\./m.test(await readFile(join(dist, file), 'utf8'))) owners.push(file);
  }
  expect(owners.length).toBeGreaterThan(10);
  expect(owners.filter((file) => !seen.has(file))).toEqual([]);
});

async function tsc(...args: string[]): Promise<void> {
  await run(process.execPath, [...TSC, ...args], { cwd: root });
}

/** The shape of an Auth with these plugins, fields and tokens. */
interface ShapeOfClients {
  plugins: 'credential' | 'twoFactor';
  fields: { plan: 'free' | 'pro' | null; born_at: string };
  newFields: { plan?: 'free' | 'pro' | null; born_at: string };
  bearer: true;
}

types('an Auth satisfies the shape that clients were given, and no other', () => {
  const config = { database: 'sqlite:x', secret: 'x' };
  const plugins = [latchkey.credentialPassword(), latchkey.twoFactor()] as const;
  const plan = { type: 'string', enum: ['free', 'pro'] } as const;
  const bornAt = { type: 'date', required: true } as const;
  const note = { type: 'json', input: 'none', output: 'none' } as const;
  const fields = { plan, bornAt, note };
  const bearerEnabled = true;

  latchkey.createAuth({
    ...config,
    bearerEnabled: true,
    plugins: [latchkey.credentialPassword(), latchkey.twoFactor()],
    user: {
      fields: {
        plan: { type: 'string', enum: ['free', 'pro'] },
        bornAt: { type: 'date', required: true },
        note: { type: 'json', input: 'none', output: 'none' },
      },
    },
  }) satisfies Latchkey.HasShape<ShapeOfClients>;
  const auth = latchkey.createAuth({ ...config, bearerEnabled, plugins, user: { fields } });
  auth satisfies Latchkey.HasShape<ShapeOfClients>;
  // It stays an Auth with fewer plugins, for functions that need no more.
  expectTypeOf(auth).toExtend<Latchkey.AuthWith<readonly [], typeof fields>>();

  const withoutBearer = latchkey.createAuth({ ...config, plugins, user: { fields } });
  // @ts-expect-error: no bearerEnabled
  withoutBearer satisfies Latchkey.HasShape<ShapeOfClients>;
  // @ts-expect-error: no bearerEnabled
  latchkey.createAuth({ ...config, plugins, user: { fields } }) satisfies Latchkey.HasShape<ShapeOfClients>;
  const withoutFields = latchkey.createAuth({ ...config, bearerEnabled, plugins });
  // @ts-expect-error: no fields
  withoutFields satisfies Latchkey.HasShape<ShapeOfClients>;
  const withoutPlugin = latchkey.createAuth({
    ...config,
    bearerEnabled,
    plugins: [plugins[0]],
    user: { fields },
  });
  // @ts-expect-error: no twoFactor()
  withoutPlugin satisfies Latchkey.HasShape<ShapeOfClients>;
  const more = { type: 'string' } as const;
  const withMore = latchkey.createAuth({
    ...config,
    bearerEnabled,
    plugins,
    user: { fields: { ...fields, more } },
  });
  // @ts-expect-error: a field that clients do not know
  withMore satisfies Latchkey.HasShape<ShapeOfClients>;
  const withOther = latchkey.createAuth({
    ...config,
    bearerEnabled,
    plugins,
    user: { fields: { ...fields, plan: more } },
  });
  // @ts-expect-error: a field of another type
  withOther satisfies Latchkey.HasShape<ShapeOfClients>;

  interface Bare {
    plugins: never;
    fields: Record<never, never>;
    newFields: Record<never, never>;
    bearer: false;
  }
  latchkey.createAuth(config) satisfies Latchkey.HasShape<Bare>;

  // With several languages, clients know a field that the type of the Auth does not have.
  interface WithLanguages extends Bare {
    fields: { locale: 'en' | 'de' | null };
    newFields: { locale?: 'en' | 'de' | null };
  }
  latchkey.createAuth({
    ...config,
    locale: { languages: ['en', 'de'] },
  }) satisfies Latchkey.HasShape<WithLanguages>;
});
