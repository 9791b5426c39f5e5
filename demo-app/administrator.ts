import type { DemoAuth } from './auth.js';
import { inDataFolder, kept, randomText } from './data.js';
import { ADMIN_EMAIL } from './settings.js';

/**
 * Creates the administrator's account if it does not exist, so that you can try the pages of administrators without a mail
 * server. In a real app, administrators sign up like other users and verify their email.
 *
 * @returns the path of the file that contains the password
 */
export async function ensureAdministrator(auth: DemoAuth): Promise<string> {
  const { users } = await auth.admin.listUsers({ search: ADMIN_EMAIL });
  if (!users.some(({ email }) => email === ADMIN_EMAIL)) {
    const password = kept('admin-password.txt', randomText);
    const made = await auth.credential.signUp({ email: ADMIN_EMAIL, password });
    if (made) await auth.markEmailVerified(made.user.id);
  }
  return inDataFolder('admin-password.txt');
}
