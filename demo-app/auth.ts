import {
  admin,
  apiKeys,
  auditLog,
  createAuth,
  credentialPassword,
  emailSignIn,
  oauth,
  passkeys,
  suspension,
  twoFactor,
} from 'latchkey';
import { inDataFolder, kept, randomText } from './data.js';
import { keepMail } from './mails.js';
import { providers } from './providers.js';
import { ADMIN_EMAIL, ORIGIN } from './settings.js';

/** Everything that this app decides about its accounts and sessions. */
export const auth = createAuth({
  database: process.env.DATABASE_URL ?? `sqlite:${inDataFolder('demo.db')}`,
  secret: process.env.AUTH_SECRET ?? kept('secret', randomText),
  baseUrl: ORIGIN,
  appName: 'latchkey demo',
  // Programs that do not store cookies, such as curl in a script, send the session token in a header.
  bearerEnabled: true,
  email: { send: keepMail, forgotPasswordUrl: '/forgotten-password' },
  user: { fields: { name: { type: 'string', maxLength: 80 } } },
  plugins: [
    credentialPassword({
      username: true,
      signInOnSignUp: true,
      sendVerificationOnSignUp: true,
      unknownBrowser: 'code',
    }),
    emailSignIn({ signUp: true }),
    oauth({ errorUrl: '/sign-in-failed' }),
    ...providers.map(({ plugin }) => plugin),
    twoFactor(),
    // Bound to the host of the origin, localhost.
    passkeys(),
    apiKeys(),
    admin({ adminEmails: [ADMIN_EMAIL] }),
    suspension(),
    auditLog(),
  ],
});

export type DemoAuth = typeof auth;
