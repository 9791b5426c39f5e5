import type { Client, ClientPlugin, PasskeysClient, Result } from '../../lib/client.js';

/** Everything that the server of the story has on. */
export interface StoryShape {
  plugins: ClientPlugin;
  fields: { plan: 'free' | 'pro' | null };
  newFields: { plan?: 'free' | 'pro' | null };
  bearer: true;
}

/** What a story needs of where it runs. */
export interface StoryTools {
  readonly client: Client<StoryShape>;
  /** The ceremonies: those of a browser, or those of an authenticator in software. */
  readonly ceremonies: Pick<
    PasskeysClient<StoryShape>,
    'create' | 'signIn' | 'completeSignIn' | 'reauthenticate' | 'undoChange'
  >;
  /** The token or code of the last email of this kind to an address. */
  mailed(kind: string, to: string): Promise<string>;
  /** The code of an authenticator app with this secret, of a step that has not been used. */
  totp(secret: string): Promise<string>;
  readonly email: string;
}

const FIRST = 'an analytical engine';
const SECOND = 'nanoseconds of wire';

/** Calls every method, as the user `email`, who is an administrator. Throws if one has another outcome than expected. */
export async function story({ client, ceremonies, mailed, totp, email }: StoryTools): Promise<void> {
  const { credential, emailSignIn, passkeys, twoFactor, apiKeys, admin, oauth } = client;
  const name = email.split('@')[0] ?? '';

  equal((await ok(credential.checkUsername({ username: name }))).available, true);
  const account = { email, username: name, password: FIRST, plan: 'free' as const };
  const signedUp = await ok(credential.signUp(account));
  equal(signedUp && 'user' in signedUp && signedUp.user.plan, 'free');
  await fails(credential.signUp(account), 409, 'email_taken');
  const invalid = await fails(credential.signUp({ ...account, email: 'x' }), 422, 'validation_failed');
  equal(invalid.errors?.map(({ pointer }) => pointer).join(), '/email');
  await fails(credential.signIn({ credential: email, password: SECOND }), 401, 'invalid_credentials');
  const first = await ok(credential.signIn({ credential: email, password: FIRST, remember_me: true }));
  if (first.step !== 'done') throw new Error(`the step is ${first.step}`);
  equal(first.user.email, email);
  equal((await ok(client.me())).session?.id, first.session.id);
  equal((await ok(client.updateMe({ plan: 'pro' }))).user.plan, 'pro');
  await ok(credential.sendVerification());
  const verification = await mailed('verify-email', email);
  equal(typeof (await ok(credential.verifyEmail({ token: verification }))).user.email_verified_at, 'string');

  const challenge = await client.humanChallenge();
  equal(typeof (challenge.data ?? challenge.error?.code), 'string');
  equal((await ok(client.signInMethods())).password, true);
  equal((await ok(client.sessions())).sessions.length, 1);
  const { devices } = await ok(client.devices());
  equal(devices.map(({ current }) => current).join(), 'true');
  await fails(client.forgetDevice(first.user.id, { password: FIRST }), 404, 'device_not_found');
  await fails(client.revokeSession(first.user.id), 404, 'session_not_found');
  await ok(client.reauthenticate({ password: FIRST }));

  const created = await ok(apiKeys.create({ name: 'nightly import' }));
  equal(created.key.startsWith(created.api_key.start), true);
  equal((await ok(apiKeys.list())).api_keys.length, 1);
  await ok(apiKeys.revoke(created.api_key.id));

  const passkey = (await ok(ceremonies.create({ name: 'Laptop' }))).passkey;
  equal((await ok(passkeys.rename(passkey.id, { name: 'Phone' }))).passkey.name, 'Phone');
  equal((await ok(passkeys.list())).signal.accepted.length, 1);
  await ok(ceremonies.reauthenticate());
  await ok(client.signOut());
  await fails(client.me(), 401, 'unauthenticated');
  const byPasskey = await ok(ceremonies.signIn({ remember_me: true }));
  equal(byPasskey.step === 'done' && byPasskey.session.aal, 2);

  await ok(credential.changePassword({ current_password: FIRST, new_password: SECOND }));
  equal((await ok(client.accountChanges())).changes[0]?.kind, 'password-changed');
  const token = await mailed('password-changed', email);
  equal((await ok(client.lookUpUndo({ token }))).kind, 'password-changed');
  await fails(client.undoChange({ token, password: SECOND }), 401, 'invalid_credentials');
  equal((await ok(ceremonies.undoChange({ token }))).undone, 'password-changed');
  await ok(credential.requestPasswordReset({ email }));
  const reset = await mailed('reset-password', email);
  await ok(credential.resetPassword({ token: reset, new_password: FIRST }));

  await ok(ceremonies.signIn());
  await ok(client.changeEmail({ new_email: `other-${email}` }));
  await ok(client.cancelEmailChange());
  await ok(client.changeEmail({ new_email: `new-${email}` }));
  const confirmation = await mailed('verify-new-email', `new-${email}`);
  equal((await ok(client.confirmEmail({ token: confirmation }))).user.email, `new-${email}`);
  await ok(client.changeEmail({ new_email: email, password: FIRST }));
  await ok(client.confirmEmail({ token: await mailed('verify-new-email', email) }));

  const { accounts } = await ok(oauth.accounts());
  equal(accounts.length, 0);
  const { url } = await ok(oauth.authorize('fixed', { callback_url: '/welcome' }));
  equal(new URL(url).origin, 'https://fixed.example');
  equal(new URL((await ok(oauth.link('fixed'))).url).origin, 'https://fixed.example');
  await fails(oauth.reauthenticate('fixed'), 404, 'account_not_linked');
  await fails(oauth.unlink('fixed'), 404, 'account_not_linked');
  await fails(oauth.tokens('fixed'), 404, 'account_not_linked');
  await fails(oauth.refreshTokens('fixed'), 404, 'account_not_linked');
  await fails(oauth.authorize('a/b', {}), 404, 'provider_not_found');

  await ok(credential.removePassword());
  await ok(credential.setPassword({ new_password: SECOND }));
  await fails(emailSignIn.requestReauthentication(), 409, 'email_code_not_offered');

  await administer();
  await organize();

  const { secret } = await ok(twoFactor.enroll());
  const enabled = await ok(twoFactor.confirm({ code: await totp(secret) }));
  equal(enabled.recovery_codes.length, 10);
  equal((await ok(twoFactor.status())).totp, true);
  const [recovery = ''] = (await ok(twoFactor.renewRecoveryCodes())).recovery_codes;
  await ok(client.signOut());
  const waiting = await ok(credential.signIn({ credential: email, password: SECOND }));
  if (waiting.step !== 'second_factor') throw new Error(`the step is ${waiting.step}`);
  const pending = tokenOf(waiting.second_factor.pending_token);
  await fails(client.sendSignInCode(pending), 409, 'email_code_not_offered');
  await fails(client.completeSignIn({ method: 'totp', code: '000000', ...pending }), 401, 'invalid_code');
  await ok(client.completeSignIn({ method: 'recovery_code', code: recovery, ...pending }));
  await ok(twoFactor.usePasskeys({ on: true }));
  await ok(client.signOut());
  const again = await ok(credential.signIn({ credential: email, password: SECOND }));
  if (again.step !== 'second_factor') throw new Error(`the step is ${again.step}`);
  await ok(ceremonies.completeSignIn(tokenOf(again.second_factor.pending_token)));
  await ok(twoFactor.usePasskeys({ on: false }));
  await ok(twoFactor.forgetTrustedDevices());
  await ok(twoFactor.disable());

  await ok(passkeys.remove(passkey.id));
  await ok(client.signOut());
  const asked = await ok(emailSignIn.request({ email }));
  const code = await mailed('sign-in-code', email);
  const confirmed = await ok(emailSignIn.confirm({ code, ...tokenOf(asked.pending_token) }));
  equal(confirmed.step, 'done');
  equal((await ok(client.revokeSessions({ others: true }))).revoked, 0);
  const exported = await ok(client.exportMe({ password: SECOND }));
  if (Number.isNaN(Date.parse(exported.exported_at))) throw new Error('the export has no time');
  await ok(client.deleteMe({ password: SECOND }));
  await fails(client.me(), 401);

  async function organize(): Promise<void> {
    const { organizations, admin } = client;
    const { organization, membership } = await ok(organizations.create({ name: 'Acme', slug: 'acme' }));
    const { id } = organization;
    equal(membership.role, 'owner');
    equal((await ok(organizations.list())).organizations[0]?.role, 'owner');
    equal((await ok(organizations.get(id))).organization.slug, 'acme');
    equal((await ok(organizations.update(id, { name: 'Acme Ltd' }))).organization.name, 'Acme Ltd');
    const [member] = (await ok(organizations.members(id, { limit: '5' }))).members;
    const userId = member?.user.id ?? '';
    await fails(organizations.setRole(id, userId, { role: 'member' }), 409, 'last_owner');
    await fails(organizations.removeMember(id, userId), 409, 'last_owner');
    const invited = `invited-${email}`;
    const { invitation } = await ok(organizations.invite(id, { email: invited, role: 'member' }));
    const token = await mailed('organization-invitation', invited);
    equal((await ok(organizations.lookUp({ token }))).account, false);
    await fails(organizations.accept({ token }), 403, 'invitation_for_other_email');
    equal((await ok(organizations.invitations(id))).invitations[0]?.id, invitation.id);
    await ok(organizations.revokeInvitation(id, invitation.id));
    await ok(organizations.delete(id));
    equal((await ok(admin.listUsers({ search: invited }))).users.length, 0);
  }

  async function administer(): Promise<void> {
    const other = `other-${email}`;
    const made = await ok(admin.createUser({ email: other, plan: 'free' }));
    const { id } = made.user;
    equal((await ok(admin.listUsers({ search: other, limit: '5' }))).users.length, 1);
    equal((await ok(admin.updateUser(id, { plan: 'pro' }))).user.plan, 'pro');
    equal((await ok(admin.getUser(id))).sign_in_methods.password, false);
    await ok(admin.sendPasswordReset(id));
    await ok(admin.requireNewPassword(id));
    equal((await ok(admin.listUserSessions(id))).sessions.length, 0);
    await fails(admin.revokeUserSession(id, id), 404, 'session_not_found');
    equal((await ok(admin.revokeUserSessions(id))).revoked, 0);
    equal(typeof (await ok(client.suspension.suspend(id, { reason: 'spam' }))).user.suspended_at, 'string');
    equal((await ok(client.suspension.reinstate(id))).user.suspended_at, null);
    await fails(admin.setRoles(id, { roles: ['editor'] }), 409, 'email_unproven');
    equal((await ok(admin.setRoles(id, { roles: [] }))).user.roles?.length, 0);
    await ok(twoFactor.disableForUser(id));
    // It would replace the session of a browser. With a token, no one can act.
    equal(Boolean((await admin.actAs(id, { reason: '' })).error), true);
    equal((await ok(client.auditLog.list({ user_id: id, limit: '100' }))).events.length > 0, true);
    await ok(admin.deleteUser(id));
  }
}

const tokenOf = (token: string | undefined) => (token === undefined ? {} : { pending_token: token });

async function ok<Data>(call: Promise<Result<Data>>): Promise<Data> {
  const { data, error } = await call;
  if (error)
    throw new Error(`${error.status} ${error.code}: ${error.detail} ${JSON.stringify(error.errors)}`);
  return data as Data;
}

async function fails(call: Promise<Result<unknown>>, status: number, code?: string) {
  const { error } = await call;
  if (error?.status !== status || (code && error.code !== code))
    throw new Error(`expected ${status} ${code}: ${JSON.stringify(error)}`);
  return error;
}

function equal<T>(value: T, expected: T): void {
  if (value !== expected) throw new Error(`expected ${String(expected)}: ${String(value)}`);
}
