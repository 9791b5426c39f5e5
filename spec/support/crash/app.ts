// The app of the crash test: its config, for the processes, and for the one that migrates.
import {
  admin,
  apiKeys,
  credentialPassword,
  type MailMessage,
  passkeys,
  suspension,
  twoFactor,
} from '../../../lib/index.js';
import { SECRET } from '../app.js';
import { PAGE } from '../passkeys.js';

/** Passwords begin with it, so that one search finds any that is stored as it is. */
export const PASSWORD_MARK = 'the password of somebody';

/** Each lane of the storm has an administrator. */
export const adminEmail = (lane: number) => `admin-${lane}@example.com`;
export const ADMIN_PASSWORD = `${PASSWORD_MARK} who administers`;

/** Counts everything, and refuses nothing that the storm does from its one address. */
const rule = { limit: 10_000_000, window: 60 };

/** The config of the app but for its logger. */
export const crashConfig = (database: string, lanes: number, send: (message: MailMessage) => unknown) => ({
  database,
  secret: SECRET,
  baseUrl: PAGE,
  email: { send },
  rateLimit: {
    ...{ signIn: rule, signUp: rule, mail: rule, passwordCheck: rule, passwordChange: rule },
    passkeyOptions: rule,
    account: { failures: 1000, firstPause: 1, maxPause: 1 },
  },
  plugins: [
    credentialPassword({ bcryptCost: 4 }),
    twoFactor({ issuer: 'Storm' }),
    passkeys(),
    apiKeys(),
    admin({ adminEmails: Array.from({ length: lanes }, (_, lane) => adminEmail(lane)) }),
    suspension(),
  ] as const,
});

/** What the parent tells a process. Each is answered with `{ id }`, but for `die`. */
export type Order = { id: number } & (
  | { what: 'settle' | 'prune' | 'deliver' }
  /** Kills the process before or after a writing statement, the one after `spared` others. */
  | { what: 'die'; spared: number; moment: 'before' | 'after' }
);

/** What a process tells its parent. */
export type Report =
  | { port: number }
  | { id: number; error?: string }
  | { mail: number; message: { kind: string; to: string; token: string | undefined } };
