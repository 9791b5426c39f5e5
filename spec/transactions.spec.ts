import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Sequelize, Transaction } from 'sequelize';
import { internalsOf } from '../lib/auth.js';
import {
  admin,
  apiKeys,
  auditLog,
  createAuth,
  type MailMessage,
  oauth,
  suspension,
  type User,
} from '../lib/index.js';
import { memoryLogger, password, SECRET } from './support/app.js';
import { connectAsApp } from './support/app-database.js';
import { createDatabase, rows, type SpecDatabase } from './support/database.js';
import { type LyingProvider, startLyingProvider } from './support/lying-provider.js';
import { oidcPlugin } from './support/oauth-app.js';
import { visitProvider } from './support/oidc.js';
import { settled } from './support/sessions.js';

const undone = new Error('the app undoes it');

let database: SpecDatabase;
let own: Sequelize;
let provider: LyingProvider;
let auth: ReturnType<typeof open>;
let mails: MailMessage[] = [];
let events: string[] = [];
let count = 0;

function open() {
  return createAuth({
    database: own,
    secret: SECRET,
    baseUrl: 'http://localhost',
    rateLimit: false,
    logger: memoryLogger(),
    email: { send: (message) => void mails.push(message) },
    plugins: [
      password({ username: true, sendVerificationOnSignUp: true }),
      apiKeys(),
      admin({ adminEmails: ['admin@example.com'] }),
      suspension(),
      auditLog(),
      oauth(),
      oidcPlugin(provider),
    ],
  });
}

beforeAll(async () => {
  database = await createDatabase();
  own = connectAsApp(database);
  provider = await startLyingProvider();
  auth = open();
  await auth.migrate();
  internalsOf(auth).core.events.onAny((name) => events.push(name));
});
afterAll(async () => {
  await auth.close();
  await own.close();
  await provider.stop();
  await database.drop();
});

/** A call, and how it is made. What comes before happens outside the transaction. */
type Prepare = () => Promise<(options: { transaction: Transaction }) => Promise<unknown>>;

const newPassword = 'a difference engine';
const newcomer = () => ({ email: `user-${++count}@example.com`, password: 'an analytical engine' });
const aUser = async (): Promise<User & { password: string }> => {
  const person = newcomer();
  return { ...(await auth.credential.signUp(person))!.user, password: person.password };
};
const aSession = async (userId?: string) => auth.createSession(userId ?? (await aUser()).id);
const aPage = (token?: string) => ({
  request: { method: 'POST', headers: token ? { cookie: `latchkey=${token}` } : {} },
  response: { setHeader() {}, getHeader: () => undefined, appendHeader() {} } as never,
});
const aFlow = async () => {
  const { email } = newcomer();
  provider.lies = { claims: { sub: `subject of ${email}`, email, email_verified: true } };
  const { url, browser } = await auth.oauth.authorizeUrl('oidc');
  const parameters = new URL(await visitProvider(url)).searchParams;
  return { provider: 'oidc', parameters, browser };
};
const aLinkedUser = async (): Promise<string> => {
  const { issued } = await auth.oauth.callback(await aFlow());
  return issued?.user.id ?? '';
};
const aMailedToken = async (send: () => Promise<unknown>): Promise<string> => {
  // The one of the sign-up may still be on its way.
  await settled(auth);
  await send();
  await settled(auth);
  return /token=([\w-]+)/.exec(mails.at(-1)?.text ?? '')?.[1] ?? '';
};

const WRITING: Record<string, Prepare> = {
  async revokeSession() {
    const { token } = await aSession();
    return (options) => auth.revokeSession(token, options);
  },
  async revokeAllSessions() {
    const { user } = await aSession();
    return (options) => auth.revokeAllSessions(user.id, options);
  },
  async revokeSessionById() {
    const { user, session } = await aSession();
    return (options) => auth.revokeSessionById(user.id, session.id, options);
  },
  async markEmailVerified() {
    const { id } = await aUser();
    return (options) => auth.markEmailVerified(id, options);
  },
  async createSession() {
    const { id } = await aUser();
    return (options) => auth.createSession(id, options);
  },
  async establishSession() {
    const earlier = await aSession();
    const issued = await aSession();
    const { request, response } = aPage(earlier.token);
    return (options) => auth.establishSession(request, response, issued, options);
  },
  async endSession() {
    const { request, response } = aPage((await aSession()).token);
    return (options) => auth.endSession(request, response, options);
  },
  'users.create': async () => (options) => auth.users.create({ ...newcomer(), ...options }),
  async 'users.delete'() {
    const { id } = await aUser();
    return (options) => auth.users.delete(id, options);
  },
  async 'users.update'() {
    const { id } = await aUser();
    return (options) => auth.users.update(id, { username: `username_${++count}`, ...options });
  },
  async 'users.changeEmail'() {
    const { id } = await aUser();
    return (options) => auth.users.changeEmail(id, newcomer().email, options);
  },
  async 'users.setPassword'() {
    const { id } = await aUser();
    return (options) => auth.users.setPassword(id, newPassword, options);
  },
  'credential.signUp': async () => (options) => auth.credential.signUp({ ...newcomer(), ...options }),
  async 'credential.signIn'() {
    const { email, password } = await aUser();
    return (options) => auth.credential.signIn({ credential: String(email), password, ...options });
  },
  async 'credential.changePassword'() {
    const { id: userId, password: currentPassword } = await aUser();
    return (options) => auth.credential.changePassword({ userId, currentPassword, newPassword, ...options });
  },
  async 'credential.setPassword'() {
    const userId = await aLinkedUser();
    return (options) => auth.credential.setPassword({ userId, newPassword, ...options });
  },
  async 'credential.reauthenticate'() {
    const { id: userId, password } = await aUser();
    const authenticatedAt = new Date(Date.now() - 3_600_000);
    const { session } = await auth.createSession(userId, { authenticatedAt });
    return (options) =>
      auth.credential.reauthenticate({ userId, sessionId: session.id, password, ...options });
  },
  async 'credential.sendVerification'() {
    const { id: userId } = await aUser();
    return (options) => auth.credential.sendVerification({ userId, ...options });
  },
  async 'credential.verifyEmail'() {
    const { id: userId } = await aUser();
    const token = await aMailedToken(() => auth.credential.sendVerification({ userId }));
    return (options) => auth.credential.verifyEmail({ token, sessionUserId: userId, ...options });
  },
  async 'credential.requestPasswordReset'() {
    const email = String((await aUser()).email);
    return (options) => auth.credential.requestPasswordReset({ email, ...options });
  },
  async 'credential.resetPassword'() {
    const email = String((await aUser()).email);
    const token = await aMailedToken(() => auth.credential.requestPasswordReset({ email }));
    return (options) => auth.credential.resetPassword({ token, newPassword, ...options });
  },
  'credential.importUsers': async () => (options) =>
    auth.credential.importUsers([{ email: newcomer().email, passwordHash: null }], options),
  async 'apiKeys.create'() {
    const { id } = await aUser();
    return (options) => auth.apiKeys.create(id, { name: 'a program', ...options });
  },
  async 'apiKeys.revoke'() {
    const { id } = await aUser();
    const { apiKey } = await auth.apiKeys.create(id, { name: 'a program' });
    return (options) => auth.apiKeys.revoke(id, apiKey.id, options);
  },
  'admin.createUser': async () => (options) => auth.admin.createUser({ email: newcomer().email, ...options }),
  async 'admin.updateUser'() {
    const { id } = await aUser();
    return (options) => auth.admin.updateUser(id, { username: `username_${++count}`, ...options });
  },
  async 'admin.deleteUser'() {
    const { id } = await aUser();
    return (options) => auth.admin.deleteUser(id, options);
  },
  async 'admin.sendPasswordReset'() {
    const { id } = await aUser();
    return (options) => auth.admin.sendPasswordReset(id, options);
  },
  async 'admin.revokeUserSession'() {
    const { user, session } = await aSession();
    return (options) => auth.admin.revokeUserSession(user.id, session.id, options);
  },
  async 'admin.revokeUserSessions'() {
    const { user } = await aSession();
    return (options) => auth.admin.revokeUserSessions(user.id, options);
  },
  async 'suspension.suspend'() {
    const { id } = await aUser();
    return (options) => auth.suspension.suspend(id, options);
  },
  async 'suspension.reinstate'() {
    const { id } = await aUser();
    await auth.suspension.suspend(id);
    return (options) => auth.suspension.reinstate(id, options);
  },
  'oauth.authorizeUrl': async () => (options) => auth.oauth.authorizeUrl('oidc', options),
  async 'oauth.linkUrl'() {
    const { session } = await aSession();
    return (options) => auth.oauth.linkUrl('oidc', session.id, options);
  },
  async 'oauth.reauthenticateUrl'() {
    const { session } = await aSession(await aLinkedUser());
    return (options) => auth.oauth.reauthenticateUrl('oidc', session.id, options);
  },
  async 'oauth.callback'() {
    const flow = await aFlow();
    return (options) => auth.oauth.callback({ ...flow, ...options });
  },
  async 'oauth.unlink'() {
    const userId = await aLinkedUser();
    await auth.credential.setPassword({ userId, newPassword });
    return (options) => auth.oauth.unlink(userId, 'oidc', options);
  },
};

/** What changes nothing that the app could see, or only the Auth itself. */
const READING = [
  ...['getSession', 'authenticate', 'listSessions', 'on', 'openapi', 'close', 'users.get', 'users.find'],
  ...[
    'credential.usernameAvailable',
    'apiKeys.list',
    'auditLog.listEvents',
    'oauth.accounts',
    'oauth.isPending',
  ],
  ...[
    'suspension.isSuspended',
    'admin.isAdministrator',
    'admin.listUsers',
    'admin.getUser',
    'admin.listUserSessions',
  ],
];

/** Not for apps. */
const INTERNAL = [
  'oauth.keepForm',
  'auditLog.record',
  'auditLog.forget',
  'auditLog.prune',
  'auditLog.settle',
];

/** Maintenance in batches of its own, and what a provider has done and no rollback takes back: see docs/databases.md. */
const WITHOUT = ['migrate', 'prune', 'rotateSecrets', 'oauth.tokens', 'oauth.refresh'];

test('every operation is known to write, or not to', () => {
  const known = [...Object.keys(WRITING), ...READING, ...WITHOUT, ...INTERNAL];
  expect(operationsOf(auth).sort()).toEqual(known.sort());
});

function operationsOf(api: object): string[] {
  return Object.entries(api).flatMap(([name, value]) => {
    if (typeof value === 'function') return [name];
    const prototype = name === 'models' ? null : Object.getPrototypeOf(value);
    const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype ?? {}))
      .filter(([method, { value }]) => typeof value === 'function' && method !== 'constructor')
      .map(([method]) => `${name}.${method}`);
    return methods;
  });
}

describe.each(Object.entries(WRITING))('auth.%s', (_name, prepare) => {
  test('leaves nothing behind after a rollback', async () => {
    const { before, call } = await start(prepare);
    const work = own.transaction(async (transaction) => {
      await call({ transaction });
      throw undone;
    });
    await expect(work).rejects.toBe(undone);
    await settled(auth);
    expect([mails, events]).toEqual([[], []]);
    expect(await everything()).toEqual(before);
  });

  test('takes effect with the commit, and not before', async () => {
    const { before, call } = await start(prepare);
    await own.transaction(async (transaction) => {
      await call({ transaction });
      expect([mails, events]).toEqual([[], []]);
      expect(await everything()).toEqual(before);
    });
    await settled(auth);
    expect(await everything()).not.toEqual(before);
  });
});

async function start(prepare: Prepare) {
  const call = await prepare();
  await settled(auth);
  [mails, events] = [[], []];
  return { call, before: await everything() };
}

/** All rows of latchkey's tables, as another connection sees them. */
async function everything() {
  const tables = Object.values(auth.models).map((model) => String(model.getTableName()));
  const contents = tables.map(async (table) => [table, await rows(database, `SELECT * FROM ${table}`)]);
  return Object.fromEntries(await Promise.all(contents)) as Record<string, unknown>;
}
