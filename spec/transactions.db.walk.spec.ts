import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Sequelize, Transaction } from 'sequelize';
import { internalsOf } from '../lib/auth.js';
import { uuidv7 } from '../lib/crypto/uuid.js';
import { type ConnectionTransaction, createAuth, type MailMessage, type User } from '../lib/index.js';
import { memoryLogger, SECRET } from './support/app.js';
import { type AppConnection, connectByDriver } from './support/app-connection.js';
import { connectAsApp } from './support/app-database.js';
import { Authenticator } from './support/authenticator.js';
import { beforeChange } from './support/changes.js';
import { createDatabase, dialect, rows, type SpecDatabase } from './support/database.js';
import { everyPlugin } from './support/every-plugin.js';
import { type LyingProvider, startLyingProvider } from './support/lying-provider.js';
import { oidcPlugin } from './support/oauth-app.js';
import { visitProvider } from './support/oidc.js';
import { withoutOutbox } from './support/outbox.js';
import { startReceiver } from './support/receiver.js';
import { settled } from './support/sessions.js';
import { straysOf } from './support/strays.js';
import { codeOf } from './support/two-factor.js';

const undone = new Error('the app undoes it');

let database: SpecDatabase;
let own: Sequelize;
let app: AppConnection;
let provider: LyingProvider;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let auth: ReturnType<typeof open>;
let strays: string[];
let mails: MailMessage[] = [];
let isMailDown = false;
let events: string[] = [];
let count = 0;

function send(message: MailMessage): void {
  if (isMailDown) throw new Error('the mail server is down');
  mails.push(message);
}

function open() {
  return createAuth({
    database: own,
    secret: SECRET,
    baseUrl: 'http://localhost',
    rateLimit: false,
    logger: memoryLogger(),
    email: { send },
    webhooks: [
      { url: `${receiver.origin}/hooks`, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` },
    ],
    outbox: { interval: false },
    plugins: [
      ...everyPlugin({ sendsEmails: true, password: { sendVerificationOnSignUp: true } }),
      oidcPlugin(provider),
    ],
  });
}

beforeAll(async () => {
  database = await createDatabase();
  own = connectAsApp(database);
  app = await connectByDriver(database);
  provider = await startLyingProvider();
  receiver = await startReceiver();
  auth = open();
  await auth.migrate();
  strays = straysOf(auth);
  internalsOf(auth).core.events.onAny((name) => events.push(name));
});
// Each test reads all rows several times.
afterEach(async () => {
  await settled(auth);
  // The key of imports is created once, even if the import fails.
  const emptied = tables().filter((table) => table !== 'import_keys');
  for (const table of emptied) await rows(database, `DELETE FROM ${table}`);
});
afterAll(async () => {
  await auth.close();
  await own.close();
  await app.close();
  await provider.stop();
  await receiver.stop();
  await database.drop();
});

/** A call, and how it is made. What comes before happens outside the transaction. */
type Prepare = () => Promise<
  (options: { transaction: Transaction | ConnectionTransaction }) => Promise<unknown>
>;

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
const aPasskey = async () => {
  const { user, session } = await aSession();
  await auth.markEmailVerified(user.id);
  const owner = { userId: user.id, sessionId: session.id };
  const device = new Authenticator({ origin: 'http://localhost' });
  const response = device.create((await auth.passkeys.registrationOptions(owner)).options as never);
  return { owner, device, response };
};
const anAddedPasskey = async () => {
  const { owner, device, response } = await aPasskey();
  return { ...owner, device, id: (await auth.passkeys.register({ ...owner, response })).id };
};
const aFlow = async () => {
  const { email } = newcomer();
  provider.lies = { claims: { sub: `subject of ${email}`, email, email_verified: true } };
  const { url, browser } = await auth.oauth.authorizeUrl('oidc');
  const parameters = new URL(await visitProvider(url)).searchParams;
  return { provider: 'oidc', parameters, browser };
};
const aLinkedUser = async (): Promise<string> => {
  const { issued } = await auth.oauth.callback(await aFlow());
  return issued && 'user' in issued ? issued.user.id : '';
};
/** The owner of an authenticator app, which is confirmed, and a session with aal 2. */
const aProtectedUser = async () => {
  const { id: userId, email, password } = await aUser();
  await auth.markEmailVerified(userId);
  const owner = { userId, sessionId: (await aSession(userId)).session.id };
  const { secret } = await auth.twoFactor.enroll(owner);
  const { recoveryCodes } = await auth.twoFactor.confirm({ ...owner, code: codeOf(secret) });
  return { ...owner, email: String(email), password, code: String(recoveryCodes[0]) };
};
const aPendingSignIn = async () => {
  const { email: credential, password, code } = await aProtectedUser();
  const signedIn = await auth.credential.signIn({ credential, password });
  const pendingToken = 'secondFactor' in signedIn ? signedIn.secondFactor.pendingToken : '';
  return { pendingToken, method: 'recovery_code', code };
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
  'users.ensure': async () => (options) => auth.users.ensure({ ...newcomer(), ...options }),
  async 'users.delete'() {
    const { id } = await aUser();
    return (options) => auth.users.delete(id, options);
  },
  async 'users.restore'() {
    const { id } = await aUser();
    const { core } = internalsOf(auth);
    const record = await core.users.findRecord({ id });
    await core.database.transaction((transaction) =>
      core.userUpdates.update(record!, { deletedAt: new Date() }, transaction),
    );
    return (options) => auth.users.restore(id, options);
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
  async 'users.requireNewPassword'() {
    const { id } = await aUser();
    return (options) => auth.users.requireNewPassword(id, options);
  },
  async exportUser() {
    const { id } = await aUser();
    return (options) => auth.exportUser(id, options);
  },
  async endUndo() {
    const { id } = await aUser();
    await beforeChange(auth, id);
    return (options) => auth.endUndo(id, options);
  },
  async undoChange() {
    const { id } = await aUser();
    const token = await beforeChange(auth, id);
    return (options) => auth.undoChange(token, { trusted: true, ...options });
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
  async 'credential.removePassword'() {
    const userId = await aLinkedUser();
    await auth.credential.setPassword({ userId, newPassword });
    return (options) => auth.credential.removePassword({ userId, ...options });
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
    await settled(auth);
    const { pendingToken } = (await auth.credential.requestPasswordReset({ email })) ?? {};
    await settled(auth);
    const code = mails.at(-1)?.code;
    return (options) => auth.credential.resetPassword({ code, pendingToken, newPassword, ...options });
  },
  'movingIn.importUsers': async () => (options) =>
    auth.movingIn.importUsers([{ email: newcomer().email }], options),
  async 'movingIn.importOrganizations'() {
    const { email } = newcomer();
    await auth.movingIn.importUsers([{ ref: email, email }]);
    const members = [{ userRef: email, role: 'owner' }];
    return (options) =>
      auth.movingIn.importOrganizations([{ ref: email, name: 'Acme', slug: 'acme', members }], options);
  },
  async 'apiKeys.create'() {
    const { id } = await aUser();
    return (options) => auth.apiKeys.create(id, { name: 'a program', ...options });
  },
  async 'apiKeys.revoke'() {
    const { id } = await aUser();
    const { apiKey } = await auth.apiKeys.create(id, { name: 'a program' });
    return (options) => auth.apiKeys.revoke(id, apiKey.id, options);
  },
  async 'passkeys.registrationOptions'() {
    const { owner } = await aPasskey();
    return (options) => auth.passkeys.registrationOptions({ ...owner, ...options });
  },
  async 'passkeys.register'() {
    const { owner, response } = await aPasskey();
    return (options) => auth.passkeys.register({ ...owner, response, ...options });
  },
  async 'passkeys.rename'() {
    const { userId, id } = await anAddedPasskey();
    return (options) => auth.passkeys.rename(userId, id, 'another name', options);
  },
  async 'passkeys.remove'() {
    const { userId, id } = await anAddedPasskey();
    return (options) => auth.passkeys.remove(userId, id, options);
  },
  async 'passkeys.reauthenticationOptions'() {
    const { userId, sessionId } = await anAddedPasskey();
    return (options) => auth.passkeys.reauthenticationOptions({ userId, sessionId, ...options });
  },
  async 'passkeys.reauthenticate'() {
    const { userId, sessionId, device } = await anAddedPasskey();
    const { options: asked } = await auth.passkeys.reauthenticationOptions({ userId, sessionId });
    const response = device.get(asked as never);
    return (options) => auth.passkeys.reauthenticate({ userId, sessionId, response, ...options });
  },
  'passkeys.signInOptions': async () => (options) => auth.passkeys.signInOptions(options),
  async 'passkeys.signIn'() {
    const { device } = await anAddedPasskey();
    const { options: asked, pendingToken } = await auth.passkeys.signInOptions();
    const response = device.get(asked as never);
    return (options) => auth.passkeys.signIn({ response, pendingToken, ...options });
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
  async 'roles.set'() {
    const { id } = await aUser();
    return (options) => auth.roles.set(id, ['editor'], options);
  },
  'organizations.create': async () => {
    const { id: ownerId } = await aUser();
    return (options) =>
      auth.organizations.create({ name: 'Acme', slug: `acme-${++count}`, ownerId, ...options });
  },
  async 'organizations.update'() {
    const { id } = await anOrganization();
    return (options) => auth.organizations.update(id, { name: `Acme ${++count}`, ...options });
  },
  async 'organizations.delete'() {
    const { id } = await anOrganization();
    return (options) => auth.organizations.delete(id, options);
  },
  async 'organizations.addMember'() {
    const [{ id }, user] = [await anOrganization(), await aUser()];
    return (options) => auth.organizations.addMember(id, user.id, 'member', options);
  },
  async 'organizations.setRole'() {
    const { id, memberId } = await anOrganization();
    return (options) => auth.organizations.setRole(id, memberId, 'admin', options);
  },
  async 'organizations.removeMember'() {
    const { id, memberId } = await anOrganization();
    return (options) => auth.organizations.removeMember(id, memberId, options);
  },
  async 'organizations.invite'() {
    const { id } = await anOrganization();
    const { email } = newcomer();
    return (options) => auth.organizations.invite(id, { email, role: 'member', ...options });
  },
  async 'organizations.revokeInvitation'() {
    const { id } = await anOrganization();
    const invitation = await auth.organizations.invite(id, { email: newcomer().email, role: 'member' });
    return (options) => auth.organizations.revokeInvitation(id, invitation.id, options);
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
  async 'twoFactor.enroll'() {
    const { userId, sessionId } = await aProtectedUser();
    return (options) => auth.twoFactor.enroll({ userId, sessionId, ...options });
  },
  async 'twoFactor.confirm'() {
    const { id: userId } = await aUser();
    await auth.markEmailVerified(userId);
    const owner = { userId, sessionId: (await aSession(userId)).session.id };
    const { secret } = await auth.twoFactor.enroll(owner);
    return (options) => auth.twoFactor.confirm({ ...owner, code: codeOf(secret), ...options });
  },
  async 'twoFactor.turnOff'() {
    const { userId, sessionId } = await aProtectedUser();
    return (options) => auth.twoFactor.turnOff({ userId, sessionId, ...options });
  },
  async 'twoFactor.usePasskeys'() {
    const { userId, sessionId } = await anAddedPasskey();
    return (options) => auth.twoFactor.usePasskeys({ userId, sessionId, on: true, ...options });
  },
  async 'twoFactor.renewRecoveryCodes'() {
    const { userId, sessionId } = await aProtectedUser();
    return (options) => auth.twoFactor.renewRecoveryCodes({ userId, sessionId, ...options });
  },
  async completeSignIn() {
    const pending = await aPendingSignIn();
    return (options) => auth.completeSignIn({ ...pending, ...options });
  },
  async sendSignInCode() {
    const { email, password } = newcomer();
    await auth.users.create({ email, password, emailVerified: true });
    const signedIn = await auth.credential.signIn({ credential: email, password });
    const pendingToken = 'secondFactor' in signedIn ? signedIn.secondFactor.pendingToken : '';
    return (options) => auth.sendSignInCode({ pendingToken, ...options });
  },
  'emailSignIn.request': async () => (options) =>
    auth.emailSignIn.request({ email: newcomer().email, ...options }),
  async 'emailSignIn.confirm'() {
    const email = String((await aUser()).email);
    await settled(auth);
    const { pendingToken } = await auth.emailSignIn.request({ email });
    await settled(auth);
    const code = mails.at(-1)?.code;
    return (options) => auth.emailSignIn.confirm({ code, pendingToken, ...options });
  },
  async 'emailSignIn.requestReauthentication'() {
    const { user, session } = await aSession(await aLinkedUser());
    return (options) =>
      auth.emailSignIn.requestReauthentication({ userId: user.id, sessionId: session.id, ...options });
  },
  async 'twoFactor.options'() {
    const { pendingToken } = await aPendingSignIn();
    return (options) => auth.twoFactor.options({ pendingToken, ...options });
  },
  async 'twoFactor.disable'() {
    const { userId } = await aProtectedUser();
    return (options) => auth.twoFactor.disable(userId, options);
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
  async 'oauth.tokens'() {
    const userId = await aLinkedUser();
    return (options) => auth.oauth.tokens(userId, 'oidc', options);
  },
  async 'outbox.retry'() {
    const { id: userId } = await aUser();
    await settled(auth);
    isMailDown = true;
    await auth.credential.sendVerification({ userId });
    await settled(auth);
    isMailDown = false;
    const { entries } = await auth.outbox.list({ limit: 1 });
    return (options) => auth.outbox.retry(String(entries[0]?.id), options);
  },
};

/**
 * What is read in a transaction: each writes something in it, and then sees it. Outside, nobody does before the commit.
 */
const READING: Record<string, () => Promise<(options: { transaction?: Transaction }) => Promise<unknown>>> = {
  async getSession() {
    const { id } = await aUser();
    return sees(
      (options) => auth.createSession(id, options),
      ({ token }, options) => auth.getSession(aPage(token).request, options),
    );
  },
  async listSessions() {
    const { id } = await aUser();
    return sees(
      (options) => auth.createSession(id, options),
      async (_session, options) => (await auth.listSessions(id, options)).length > 0,
    );
  },
  async 'organizations.get'() {
    const owner = await aUser();
    return sees(
      (options) => anOrganizationOf(owner.id, options),
      async ({ id }, options) => (await auth.organizations.get(id, options)) !== null,
    );
  },
  async 'organizations.list'() {
    const owner = await aUser();
    return sees(
      (options) => anOrganizationOf(owner.id, options),
      async ({ id }, options) =>
        (await auth.organizations.list(options)).organizations.some((one) => one.id === id),
    );
  },
  async 'organizations.ofUser'() {
    const { id: ownerId } = await aUser();
    return sees(
      (options) => anOrganizationOf(ownerId, options),
      async (_one, options) => (await auth.organizations.ofUser(ownerId, options)).organizations.length > 0,
    );
  },
  async 'organizations.members'() {
    const owner = await aUser();
    return sees(
      (options) => anOrganizationOf(owner.id, options),
      async ({ id }, options) => (await auth.organizations.members(id, options)).members.length > 0,
    );
  },
  async 'organizations.invitations'() {
    const { id } = await anOrganization();
    const { email } = newcomer();
    return sees(
      (options) => auth.organizations.invite(id, { email, role: 'member', ...options }),
      async (_one, options) => (await auth.organizations.invitations(id, options)).invitations.length > 0,
    );
  },
  'roles.of': async () => sees(aNewUser, ({ id }, options) => auth.roles.of(id, options)),
  'users.get': async () => sees(aNewUser, ({ id }, options) => auth.users.get(id, options)),
  'users.find': async () =>
    sees(aNewUser, ({ email }, options) => auth.users.find({ email: String(email), ...options })),
  'users.list': async () =>
    sees(
      aNewUser,
      async ({ email }, options) =>
        (await auth.users.list({ search: String(email), ...options })).users.length > 0,
    ),
  'credential.usernameAvailable': async () => {
    const username = `name_${++count}`;
    return sees(
      (options) => auth.users.create({ username, ...options }),
      async (_user, options) => !(await auth.credential.usernameAvailable(username, options)),
    );
  },
  async 'apiKeys.list'() {
    const { id } = await aUser();
    return sees(
      (options) => auth.apiKeys.create(id, { name: 'a program', ...options }),
      async (_key, options) => (await auth.apiKeys.list(id, options)).length > 0,
    );
  },
  async 'passkeys.list'() {
    const { owner, response } = await aPasskey();
    return sees(
      (options) => auth.passkeys.register({ ...owner, response, ...options }),
      async (_passkey, options) => (await auth.passkeys.list(owner.userId, options)).length > 0,
    );
  },
  async 'auditLog.listEvents'() {
    const { id } = await aUser();
    const event = { id: uuidv7(), kind: 'sign_in.failed', userId: id, details: '{}', createdAt: new Date() };
    return sees(
      (options) => auth.models.AuditEvent.create(event as never, options),
      async (_event, options) =>
        (await auth.auditLog.listEvents({ userId: id, ...options })).events.some(
          (one) => one.id === event.id,
        ),
    );
  },
  async 'outbox.list'() {
    const { id: userId } = await aUser();
    await settled(auth);
    const newest = async (options: object) =>
      (await auth.outbox.list({ limit: 1, ...options })).entries[0]?.id;
    const before = await newest({});
    return sees(
      (options) => auth.credential.sendVerification({ userId, ...options }),
      async (_nothing, options) => (await newest(options)) !== before,
    );
  },
  async 'oauth.accounts'() {
    const flow = await aFlow();
    return sees(
      (options) => auth.oauth.callback({ ...flow, ...options }),
      async ({ issued }, options) => (await auth.oauth.accounts(userOf(issued), options)).length > 0,
    );
  },
  'oauth.isPending': async () =>
    sees(
      (options) => auth.oauth.authorizeUrl('oidc', options),
      ({ url }, options) => auth.oauth.isPending('oidc', new URL(url).searchParams, options),
    ),
  async 'twoFactor.status'() {
    const { userId } = await aProtectedUser();
    return sees(
      (options) => auth.twoFactor.disable(userId, options),
      async (_nothing, options) => !(await auth.twoFactor.status(userId, options)).totp,
    );
  },
  'admin.listUsers': async () =>
    sees(
      aNewUser,
      async ({ email }, options) =>
        (await auth.admin.listUsers({ search: String(email), ...options })).users.length > 0,
    ),
  'admin.getUser': async () => sees(aNewUser, ({ id }, options) => auth.admin.getUser(id, options)),
  async 'admin.listUserSessions'() {
    const { id } = await aUser();
    return sees(
      (options) => auth.createSession(id, options),
      async (_session, options) => (await auth.admin.listUserSessions(id, options)).length > 0,
    );
  },
};

const aNewUser = (options: object) => auth.users.create({ ...newcomer(), ...options });
const anOrganizationOf = (ownerId: string, options: object) =>
  auth.organizations.create({ name: 'Acme', slug: `acme-${++count}`, ownerId, ...options });
/** An organization with another member. */
const anOrganization = async () => {
  const [owner, { id: memberId }] = [await aUser(), await aUser()];
  const { id } = await anOrganizationOf(owner.id, {});
  await auth.organizations.addMember(id, memberId, 'member');
  return { id, memberId };
};
const userOf = (issued: unknown) => (issued as { user: User }).user.id;

/** Writes in a transaction once. After that, it only reads, in the transaction or outside. */
function sees<Written>(
  write: (options: { transaction: Transaction }) => Promise<Written>,
  read: (written: Written, options: { transaction?: Transaction }) => Promise<unknown>,
) {
  let written: { readonly value: Written } | undefined;
  return async (options: { transaction?: Transaction }) => {
    if (options.transaction) written ??= { value: await write({ transaction: options.transaction }) };
    return read((written as { value: Written }).value, options);
  };
}

/** What needs no database, or is about the Auth itself. */
const WITHOUT_DATABASE = [
  ...['on', 'openapi', 'close', 'health', 'formValues', 'suspension.isSuspended', 'admin.isAdministrator'],
];

/** Not for apps. */
const INTERNAL = [
  'oauth.keepForm',
  'oauth.returnsToApp',
  'auditLog.record',
  'auditLog.forget',
  'auditLog.settle',
  'roles.change',
  'roles.setByAdministrator',
];

/** Maintenance in batches of its own, and what a provider has done and no rollback takes back: see docs/databases.md. */
const WITHOUT = ['migrate', 'prune', 'rotateSecrets', 'oauth.refresh', 'outbox.deliver'];

test('every operation is known to write, or not to', () => {
  const known = [WRITING, READING].flatMap((calls) => Object.keys(calls));
  known.push(...WITHOUT_DATABASE, ...WITHOUT, ...INTERNAL);
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
    await app.begin();
    await call({ transaction: app });
    await app.send('ROLLBACK');
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

  test('is done with its events and emails written down, or not at all', async () => {
    const { before, call } = await start(prepare);
    const refusal = await withoutOutbox(database, () =>
      call({} as never).then(
        () => null,
        (error) => error,
      ),
    );
    await settled(auth);
    expect([mails, events, strays]).toEqual([[], [], []]);
    if (refusal === null) return;
    expect(refusal).toMatchObject({ code: 'unavailable' });
    expect(lasting(await everything())).toEqual(lasting(before));
  });
});

describe.each(Object.entries(READING))('auth.%s', (_name, prepare) => {
  test('sees what the transaction has written', async () => {
    const read = await prepare();
    await settled(auth);
    const work = own.transaction(async (transaction) => {
      expect(Boolean(await read({ transaction }))).toBe(true);
      throw undone;
    });
    await expect(work).rejects.toBe(undone);
    expect(
      await read({}).then(Boolean, ({ code }) =>
        /^(user_not_found|invalid_session)$/.test(code) ? false : code,
      ),
    ).toBe(false);
  });
});

test('auth.outbox.retry sends after the commit', async () => {
  const retry = await WRITING['outbox.retry']?.();
  await settled(auth);
  mails = [];
  await own.transaction(async (transaction) => {
    expect(await retry?.({ transaction })).toBe(true);
    // A delivery that has begun already would find nothing, and look again only after a while.
    await settled(auth);
    expect(mails).toEqual([]);
  });
  await settled(auth);
  expect(mails).toHaveLength(1);
});

test('auth.oauth.tokens refreshes outside every transaction', async () => {
  const userId = await aLinkedUser();
  const work = own.transaction((transaction) =>
    auth.oauth.tokens(userId, 'oidc', { refreshWithin: 60, transaction }),
  );
  await expect(work).rejects.toThrow(
    /^latchkey: auth.oauth.tokens: pass refreshWithin or transaction, not both/,
  );
});

const MISSPELLED = /^latchkey: auth\.[\w.]+:? .*transactoin.* \(did you mean transaction\?\)/;

/** Its argument has options only beside what identifies a user, which can be a whole person. */
const WITHOUT_OPTIONS = ['users.find'];

// Options are read before the database.
if (dialect === 'sqlite')
  test.each(Object.entries({ ...WRITING, ...READING }).filter(([name]) => !WITHOUT_OPTIONS.includes(name)))(
    'auth.%s rejects an option that it does not know, and changes nothing',
    async (name, prepare) => {
      const call = (await prepare()) as (options: object) => Promise<unknown>;
      await settled(auth);
      const before = await everything();
      const work = own.transaction(async (transaction) => {
        if (name in READING) await call({ transaction });
        await expect(call({ transaction, transactoin: transaction })).rejects.toThrow(MISSPELLED);
        throw undone;
      });
      await expect(work).rejects.toBe(undone);
      expect(await everything()).toEqual(before);
    },
  );

async function start(prepare: Prepare) {
  const call = await prepare();
  await settled(auth);
  [mails, events] = [[], []];
  return { call, before: await everything() };
}

/** What is used up by whatever is shown for it, right or wrong, before anything else is done. */
const USED_UP = new Set(['passkeys', 'passkey_challenges', 'oauth_flows']);

function lasting(tables: Record<string, unknown>) {
  return Object.entries(tables).filter(([table]) => !USED_UP.has(table));
}

/**
 * A row as text: Jest compares thousands of them much faster than bytes, which it compares one by one. The tries of
 * emailed codes are left out, because they are counted whatever becomes of the transaction.
 */
function asText({ tries, ...row }: Record<string, unknown>): string {
  const columns = Object.entries(row).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? value.toString('hex') : value,
  ]);
  return JSON.stringify(Object.fromEntries(columns));
}

const tables = () => Object.values(auth.models).map((model) => String(model.getTableName()));

/** All rows of latchkey's tables, as another connection sees them. */
async function everything() {
  const contents = tables().map(async (table) => [
    table,
    (await rows(database, `SELECT * FROM ${table}`)).map(asText),
  ]);
  return Object.fromEntries(await Promise.all(contents)) as Record<string, unknown>;
}
