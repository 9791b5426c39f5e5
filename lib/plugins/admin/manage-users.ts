import type { Transaction } from 'sequelize';
import { readEmail } from '../../accounts/api.js';
import { updateUser as update } from '../../accounts/change.js';
import { deleteUser } from '../../accounts/deletion.js';
import type { Core } from '../../core/core.js';
import { passwordsOf, requirePasswords } from '../../core/passwords.js';
import { readUsername } from '../../core/usernames.js';
import { AuthError, invalidField } from '../../errors.js';
import type { UserForAdmins, UserRecord } from '../../users/user-record.js';
import type { AdminCallOptions, CreateUserByAdminInput, UpdateUserByAdminInput } from './inputs.js';

/** Creates a user without a password, and invites them to choose one. @throws AuthError */
export async function createUser(core: Core, input: CreateUserByAdminInput): Promise<UserForAdmins> {
  const { adminId = null, fields } = input;
  const email = input.email == null ? null : readEmail(input.email, '/email');
  const username = input.username == null ? null : readUsername(core, input.username);
  if (email === null && username === null)
    throw invalidField('/email', 'required', 'is missing: a user needs an email or a username');
  const alongside = async ({ user }: UserRecord, transaction: Transaction) => {
    core.events.emit('admin.user_created', { userId: user.id, adminId }, transaction);
    await passwordsOf(core)?.links?.invite(user, transaction);
  };
  const record = await core.signUp.create(
    { email, username, passwordHash: null },
    { via: 'admin', from: 'code', ...(fields && { fields }), alongside },
  );
  return core.users.forCode(record);
}

/** Changes fields and the username of a user. @throws AuthError */
export async function updateUser(
  core: Core,
  userId: string,
  { adminId = null, username, fields }: UpdateUserByAdminInput,
): Promise<UserForAdmins> {
  const record = await update(core, userId, null, { username, fields }, 'code', (transaction) =>
    core.events.emit('admin.user_updated', { userId, adminId }, transaction),
  );
  return core.users.forCode(record);
}

/** Deletes a user. @throws AuthError */
export async function removeUser(
  core: Core,
  userId: string,
  { adminId = null }: AdminCallOptions,
): Promise<void> {
  if (adminId === userId) throw new AuthError('own_account');
  await deleteUser(core, userId, null, {
    alongside: (transaction) => core.events.emit('admin.user_deleted', { userId, adminId }, transaction),
  });
}

/** Emails a user a reset link. @throws AuthError */
export async function sendPasswordReset(
  core: Core,
  userId: string,
  { adminId = null }: AdminCallOptions,
): Promise<void> {
  const { links } = requirePasswords(core, 'auth.admin.sendPasswordReset');
  if (!links) throw new TypeError('latchkey: this requires email: { send } in the config');
  const user = await core.users.find(userId);
  if (!user) throw new AuthError('user_not_found');
  if (user.email === null) throw new AuthError('email_missing');
  // Counted separately: strangers can use up the limit on what they request.
  await core.limiter.countAccount('mail', user.id, 'admin');
  await core.events.together(['admin.password_reset_sent'], async (transaction) => {
    await links.reset(user, transaction);
    core.events.emit('admin.password_reset_sent', { userId, adminId }, transaction);
  });
}
