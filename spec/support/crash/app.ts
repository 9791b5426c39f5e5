// The app of the crash test: its config, for the processes, and for the one that migrates.
import {
  admin,
  apiKeys,
  credentialPassword,
  emailSignIn,
  type MailMessage,
  oauth,
  passkeys,
  suspension,
  twoFactor,
} from '../../../lib/index.js';
import { oidc } from '../../../lib/providers.js';
import { SECRET } from '../app.js';
import { PAGE } from '../passkeys.js';

/** Passwords begin with it, so that one search finds any that is stored as it is. */
export const PASSWORD_MARK = 'the password of somebody';

/** The id of the OpenID provider. */
export const PROVIDER = 'oidc';

/** What a process of the app is given. */
export interface Surroundings {
  /** The URL. */
  readonly database: string;
  readonly lanes: number;
  /** Where webhooks go. @default nowhere */
  readonly webhook?: string;
  /** Whether people sign in by email too. Each mailbox is a way in then, so that none is ever the last. @default false */
  readonly byMail?: boolean;
  /** Whether a code is emailed after a password in an unknown browser. @default false */
  readonly byCode?: boolean;
  /** The OpenID provider, and what the app is called there. */
  readonly provider: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };
}

/** Imports are of so many users: more than one transaction makes. */
export const IMPORTED = 600;

/** The identity of a user of an import, which is its email too. */
export const importedEmail = (batch: number, index: number) => `imported-${batch}-${index}@example.com`;

/** Each lane of the storm has an administrator. */
export const adminEmail = (lane: number) => `admin-${lane}@example.com`;
export const ADMIN_PASSWORD = `${PASSWORD_MARK} who administers`;

const WEBHOOK_SECRET = `whsec_${Buffer.from('the secret of the crash test').toString('base64')}`;

/** Counts everything, and refuses nothing that the storm does from its one address. */
const rule = { limit: 10_000_000, window: 60 };

/** The config of the app but for its logger. */
export const crashConfig = (
  { database, lanes, provider, webhook, byMail = false, byCode = false }: Surroundings,
  send: (message: MailMessage) => unknown,
) => ({
  database,
  secret: SECRET,
  baseUrl: PAGE,
  email: { send },
  webhooks: webhook ? [{ url: webhook, secret: WEBHOOK_SECRET }] : [],
  rateLimit: {
    signIn: rule,
    signUp: rule,
    mail: rule,
    mailAddress: rule,
    account: { failures: 1000, firstPause: 1, maxPause: 1 },
  },
  plugins: [
    credentialPassword({ bcryptCost: 4, unknownBrowser: byCode ? 'code' : 'notify' }),
    ...(byMail ? [emailSignIn()] : []),
    twoFactor({ issuer: 'Storm' }),
    passkeys(),
    oauth(),
    oidc({ id: PROVIDER, ...provider, trustEmailVerified: true }),
    apiKeys(),
    admin({ adminEmails: Array.from({ length: lanes }, (_, lane) => adminEmail(lane)) }),
    suspension(),
  ] as const,
});

/** The limits that the config cannot change. */
export const FIXED_LIMITS = {
  passwordCheck: rule,
  passwordChange: rule,
  passkeyOptions: rule,
  providerLink: rule,
  recoveryCodes: rule,
};

/** What a process can be told to do. */
export type Work = { what: 'settle' | 'prune' | 'deliver' } | { what: 'import'; batch: number };

/** What the parent tells a process. Work is answered with `{ id }`. */
export type Order = { id: number } & (
  | Work
  /** Kills the process before or after a writing statement, the one after `spared` others. */
  | { what: 'die'; spared: number; moment: 'before' | 'after' }
);

/** What a process tells its parent. */
export type Report =
  | { port: number }
  | { id: number; error?: string }
  | { mail: number; message: { kind: string; to: string; token: string | undefined } };
