import { admin, apiKeys, auditLog, createAuth, credentialPassword, oauth } from 'latchkey';
import { ADMIN_EMAIL } from './administrator.js';
import { inDataFolder, kept, randomText } from './data.js';
import { keepMail } from './mails.js';
import { providers } from './providers.js';
import { ORIGIN } from './settings.js';

/** All that this app decides about its accounts and sessions. */
export const auth = createAuth({
  database: process.env.DATABASE_URL ?? `sqlite:${inDataFolder('demo.db')}`,
  secret: process.env.AUTH_SECRET ?? kept('secret', randomText),
  baseUrl: ORIGIN,
  // Programs that cannot keep cookies, such as curl in a script, send the session's token in a header.
  bearerEnabled: true,
  email: { send: keepMail },
  plugins: [
    credentialPassword({ username: true, signInOnSignUp: true, sendVerificationOnSignUp: true }),
    oauth(),
    ...providers.map(({ plugin }) => plugin),
    apiKeys(),
    admin({ adminEmails: [ADMIN_EMAIL] }),
    auditLog(),
  ],
});

export type DemoAuth = typeof auth;
