import type { Sequelize } from 'sequelize';
import type { WindowRule } from './limits/limiter.js';
import type { RedisClient } from './limits/redis-store.js';
import type { Logger } from './logger.js';
import type { MailMessage } from './mail/message.js';

/** How the session cookie is set. */
export interface CookieOptions {
  /** @default `__Host-latchkey` where Secure (`__Secure-latchkey` with a domain or path), else `latchkey` */
  name?: string;
  /** Sends the cookie to subdomains of this domain too. @default the host alone */
  domain?: string;
  /** @default `/` */
  path?: string;
  /** @default `lax` */
  sameSite?: 'lax' | 'strict' | 'none';
  /** @default true where `baseUrl` is https or `NODE_ENV` is production */
  secure?: boolean;
}

/** How long sessions live. All times in seconds. */
export interface SessionOptions {
  /** A session ends when it was not used for so long. @default 604800 (7 days) */
  idleTimeout?: number;
  /** The end of a remembered session, however busy. @default 2592000 (30 days) */
  lifetime?: number;
  /** The end of a session that is not remembered, however busy. @default 86400 (24 hours) */
  shortLifetime?: number;
  /** Last activity is written at most this often. @default 60 */
  touchInterval?: number;
  /** How the cookie is set. @default see {@link CookieOptions} */
  cookie?: CookieOptions;
}

/** What is limited, and where it is counted. A rule that is `false` is off. */
export interface RateLimitOptions {
  /** A Redis URL (with the package `ioredis`), or the app's own client of `ioredis` or `redis`. @default the database */
  store?: RedisClient | string;
  /** Sign-ins by one address. @default { limit: 20, window: 60 } */
  signIn?: WindowRule | false;
  /** Sign-ups by one address. @default { limit: 20, window: 60 } */
  signUp?: WindowRule | false;
  /** Verification and reset mails, by one address and for one account. @default { limit: 3, window: 60 } */
  mail?: WindowRule | false;
  /**
   * Wrong passwords for one account: how many are free, and the first and the longest pause after, in seconds.
   * @default { failures: 5, firstPause: 15, maxPause: 900 }
   */
  account?: { failures: number; firstPause: number; maxPause: number } | false;
}

/** How mails leave the app, and where their links lead. */
export interface EmailOptions {
  /** Sends a mail. It is called after the answer; what it throws is logged. @default none, required */
  send: (message: MailMessage) => unknown;
  /** The app's page that takes `?token=` and calls POST /verify-email. @default `/verify-email` of `baseUrl` */
  verifyUrl?: string;
  /** The app's page that takes `?token=` and calls POST /passwords/reset. @default `/reset-password` of `baseUrl` */
  resetUrl?: string;
}

/** What `createAuth`, `authRouter` and the guards take. */
export interface AuthConfig<P = readonly unknown[]> {
  /**
   * The app's own Sequelize instance, or a URL: `sqlite:./app.db`, `mysql://…`, `mariadb://…`, `postgres://…`.
   * @default none, required
   */
  database: Sequelize | string;
  /**
   * At least 32 bytes that nobody else knows. A list while rotating: the first writes, all read. Plugins that encrypt
   * or sign derive their keys from it.
   * @default none, required
   */
  secret: string | readonly string[] | undefined;
  /** What is on, in any order. @default [] */
  plugins?: P;
  /** The app's public origin, such as `https://app.example.com`. @default none */
  baseUrl?: string;
  /** Where the routes are when the router is mounted at the root of the app. @default `/auth` */
  httpBasePath?: string;
  /** Takes and gives session tokens as `Authorization: Bearer` too. @default false */
  bearerEnabled?: boolean;
  /** Further origins whose pages may use the session cookie. @default [] */
  trustedOrigins?: readonly string[];
  /** How long sessions live, and their cookie. @default see {@link SessionOptions} */
  session?: SessionOptions;
  /**
   * Limits of sign-ins, sign-ups and mails; `false` switches all off.
   * @default on, in the database
   */
  rateLimit?: false | RateLimitOptions;
  /** Switches on the verification of emails and the reset of passwords. @default none */
  email?: EmailOptions;
  /** Before `users`, `sessions` and the other tables' names: lower-case letters, digits and `_`. @default '' */
  tablePrefix?: string;
  /** @default warnings and errors to the console */
  logger?: Logger;
}
