import type { DemoAuth } from './auth.js';
import { inDataFolder, kept, randomText } from './data.js';

export const ADMIN_EMAIL = 'admin@example.com';

/**
 * Makes the administrator's account when there is none, so that the administrator's page can be tried without a mail
 * server. A real app has its administrators sign up like everybody else, and prove their mailbox.
 *
 * @returns the file that holds the password
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
