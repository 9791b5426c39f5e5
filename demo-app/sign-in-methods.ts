import { Op } from 'sequelize';
import type { DemoAuth } from './auth.js';

/** How a user can sign in. */
export async function signInMethods(
  auth: DemoAuth,
  id: string,
): Promise<{ password: boolean; providers: string[]; passkeys: number; totp: boolean; email: boolean }> {
  const [accounts, passkeys, { totp }, user] = await Promise.all([
    auth.oauth.accounts(id),
    auth.passkeys.list(id),
    auth.twoFactor.status(id),
    auth.users.get(id),
  ]);
  // Counts rows, so that the password hash itself is never loaded.
  const withPassword = await auth.models.User.count({ where: { id, passwordHash: { [Op.ne]: null } } });
  return {
    password: withPassword > 0,
    providers: accounts.map(({ provider }) => provider),
    passkeys: passkeys.length,
    totp,
    email: user?.emailProof === 'mailbox',
  };
}
