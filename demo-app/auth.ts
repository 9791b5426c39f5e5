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
import { pages } from 'latchkey/pages';
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
  email: { send: keepMail },
  user: { fields: { name: { type: 'string', maxLength: 80 } } },
  plugins: [
    credentialPassword({
      username: true,
      signInOnSignUp: true,
      sendVerificationOnSignUp: true,
      unknownBrowser: 'code',
    }),
    emailSignIn({ signUp: true }),
    // A browser that returns from a provider too late gets to the sign-in page, which says so.
    oauth({ errorUrl: '/auth/sign-in' }),
    ...providers,
    twoFactor(),
    // Bound to the host of the origin, localhost.
    passkeys(),
    apiKeys(),
    admin({ adminEmails: [ADMIN_EMAIL] }),
    suspension(),
    auditLog(),
    pages({ home: '/', theme: { accent: '#4338ca' } }),
  ],
});

export type DemoAuth = typeof auth;
