import { Op } from 'sequelize';
import type { DemoAuth } from './auth.js';

/** How a user can sign in. */
export async function signInMethods(
  auth: DemoAuth,
  id: string,
): Promise<{ password: boolean; providers: string[] }> {
  const accounts = await auth.oauth.accounts(id);
  // Counts rows, so that the password hash itself is never loaded.
  const withPassword = await auth.models.User.count({ where: { id, passwordHash: { [Op.ne]: null } } });
  return { password: withPassword > 0, providers: accounts.map(({ provider }) => provider) };
}
