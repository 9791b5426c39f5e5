import type { Sequelize, Transaction } from 'sequelize';
import type { WindowRule } from '../limits/limiter.js';
import type { RedisClient } from '../limits/redis-store.js';
import type { Logger } from '../logger.js';
import type { MailMessage } from '../mail/messages.js';
import type { NoticeKind } from '../mail/notice-kinds.js';
import type { WebhookOptions } from '../outbox/webhooks.js';
import type { User } from '../tables/core.js';
import type { SessionBridge } from './bridge.js';

/** The type of a field's value. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'json';

/** A field that the app adds to its users. */
export interface FieldOptions {
  /**
   * The type of its values. An `integer` has 32 bits, with a sign. A `date` is a `Date` in code, and an ISO 8601 time in
   * JSON, in the years 1 to 9999. A `json` value is anything that JSON can represent.
   */
  readonly type: FieldType;
  /** Whether every new user must have a value. @default false */
  readonly required?: boolean;
  /** The value of new users who have none. @default null */
  readonly default?: unknown;
  /** The maximum number of characters of a string, in Unicode code points. @default 255 */
  readonly maxLength?: number;
  /** The minimum number of characters of a string, likewise. @default 0 */
  readonly minLength?: number;
  /** A regular expression that a string must match. @default any string */
  readonly pattern?: RegExp;
  /** The allowed values of a string, an integer or a number. @default all */
  readonly enum?: readonly (string | number)[];
  /** The minimum of an integer or a number. @default none */
  readonly minimum?: number;
  /** The maximum of an integer or a number. @default none */
  readonly maximum?: number;
  /**
   * Who sets it. `user`: users themselves too, when they sign up and with PATCH /me. `none`: only the app's code and
   * administrators.
   * @default 'user'
   */
  readonly input?: 'user' | 'none';
  /**
   * Who sees it. `self`: the user too, in `req.auth.user` and in responses. `admin`: administrators and `auth.users.get`.
   * `none`: only the app's own queries, with `auth.models` or its model.
   * @default 'self'
   */
  readonly output?: 'self' | 'admin' | 'none';
}

/** The fields of users, by their names in camelCase. */
export type FieldsOptions = Readonly<Record<string, FieldOptions>>;

/** Every way of making an account. Plugins add their own. */
export interface CreatedVias {
  /** The app's own code. */
  code: unknown;
  /** An import from another system. */
  import: unknown;
}

/** How an account was made. */
export type CreatedVia = keyof CreatedVias;

/** The account that is about to be made. */
export interface UserToCreate {
  /** In canonical form. */
  readonly email: string | null;
  /** In canonical form. */
  readonly username: string | null;
  /** The fields, with their defaults. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** How it is made. */
  readonly via: CreatedVia;
  /** The provider's id, if a provider's sign-in makes it. */
  readonly provider?: string;
  /** What the provider said of the person. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/**
 * Functions of the app that run within the transaction that makes, changes or deletes an account. What one throws rolls
 * everything back: an `AuthError` is the response, anything else goes to the app's error handler. A transaction that the
 * database aborts is retried, and runs them again, so they should have no effects outside of it.
 */
export interface Hooks {
  /** Runs before an account is made. Throw `new AuthError('sign_up_refused', { detail })` to refuse it. @default none */
  beforeCreateUser?(user: UserToCreate, context: { transaction: Transaction }): unknown;
  /**
   * Makes the app's row of a new account, in place of `model.create`. It must have the account's id in `user.foreignKey`.
   * @default `model.create({ …fields, [foreignKey]: user.id })`
   */
  createRow?(
    user: User,
    fields: Readonly<Record<string, unknown>>,
    context: { transaction: Transaction },
  ): unknown;
  /** Runs after an account, and the app's row, was made. @default none */
  afterCreateUser?(user: User, context: { transaction: Transaction; via: CreatedVia }): unknown;
  /**
   * Runs after fields, username, email or its verification changed; `changed` lists the attributes.
   * @default none
   */
  afterUpdateUser?(user: User, changed: readonly string[], context: { transaction: Transaction }): unknown;
  /** Runs before an account is deleted. @default none */
  beforeDeleteUser?(user: User, context: { transaction: Transaction }): unknown;
}

/** A Sequelize model of the app, of any copy of Sequelize. */
export interface RowModel {
  new (...given: never[]): object;
  readonly name: string;
  readonly sequelize?: object | undefined;
  getAttributes(): object;
  getTableName(): string | object;
}

/** Refuses options that do not exist, which an inferred type would otherwise accept. */
type KnownOptions<F extends FieldsOptions> = {
  readonly [K in keyof F]: { readonly [Unknown in Exclude<keyof F[K], keyof FieldOptions>]: never };
};

/** The app's own data of its users. */
export interface UserOptions<F extends FieldsOptions = FieldsOptions> {
  /** Fields beside email and username. @default none */
  readonly fields?: F & KnownOptions<F>;
  /**
   * The app's own Sequelize model of users, on the instance that `database` is. Each account has one row, which is made
   * with it and holds the fields; guards set `req.user` to it.
   * @default none: the fields are columns of latchkey's table
   */
  readonly model?: RowModel;
  /**
   * The attribute of `model` with the account's id, a `DataTypes.UUID` with a unique index.
   * @default none, required with `model`
   */
  readonly foreignKey?: string;
}

/** How the session cookie is set. */
export interface CookieOptions {
  /**
   * The cookie's name.
   * @default `__Host-latchkey` if secure (`__Secure-latchkey` with a domain or path), else `latchkey`
   */
  name?: string;
  /** A domain whose subdomains get the cookie too. @default the current host only */
  domain?: string;
  /** The path below which browsers send the cookie. @default `/` */
  path?: string;
  /** Whether browsers send the cookie with requests from other sites. @default `lax` */
  sameSite?: 'lax' | 'strict' | 'none';
  /** Restricts the cookie to https. @default true if `baseUrl` is https or `NODE_ENV` is production */
  secure?: boolean;
}

/** The lifetime of sessions. All durations are in seconds. */
export interface SessionOptions {
  /** Ends a session that has not been used for this long. @default 604800 (7 days) */
  idleTimeout?: number;
  /** Ends a remembered session after this long, even if it is active. @default 2592000 (30 days) */
  lifetime?: number;
  /** Ends any other session after this long, even if it is active. @default 86400 (24 hours) */
  shortLifetime?: number;
  /**
   * The minimum interval between updates of a session's last activity; 0 updates it on every request. It is capped at a
   * quarter of `idleTimeout`, so that an active session does not go idle.
   * @default 60
   */
  touchInterval?: number;
  /** How the cookie is set. @default see {@link CookieOptions} */
  cookie?: CookieOptions;
}

/** Rate limits, and where their counters are stored. `false` disables a rule. */
export interface RateLimitOptions {
  /** A Redis URL (needs the package `ioredis`), or a client of `ioredis` or `redis`. @default the database */
  store?: RedisClient | string;
  /**
   * What the keys in Redis start with. Apps that share one Redis need different ones.
   * @default `latchkey:`, and the `tablePrefix`
   */
  keyPrefix?: string;
  /**
   * Sign-ins per address, including those that start at a provider, and everything else that checks or sets a
   * password, except sign-ups.
   * @default { limit: 20, window: 60 }
   */
  signIn?: WindowRule | false;
  /** Sign-ups per address, and new users of providers. @default { limit: 20, window: 60 } */
  signUp?: WindowRule | false;
  /** Verification and reset emails, per address and per account. @default { limit: 3, window: 60 } */
  mail?: WindowRule | false;
  /**
   * Checks of one account's password, right or wrong, from any address, other than sign-ins.
   * @default { limit: 60, window: 60 }
   */
  passwordCheck?: WindowRule | false;
  /** Changes of one account's password by the user, other than resets by email. @default { limit: 5, window: 3600 } */
  passwordChange?: WindowRule | false;
  /** Checks of whether a username is available, per address. @default { limit: 60, window: 60 } */
  usernameCheck?: WindowRule | false;
  /**
   * Requests for passkey options: for sign-ins per address, and for everything else per account.
   * @default { limit: 60, window: 60 }
   */
  passkeyOptions?: WindowRule | false;
  /**
   * Wrong passwords per account: how many are allowed before attempts are paused, and the first and the longest pause,
   * in seconds. The pause doubles with each further failure.
   * @default { failures: 5, firstPause: 15, maxPause: 900 }
   */
  account?: { failures: number; firstPause: number; maxPause: number } | false;
}

/** How emails are sent, and where their links lead. */
export interface EmailOptions {
  /**
   * Sends an email. Called after the response. If it fails, or has not returned after 60 seconds, it is called again later,
   * for three days.
   * @default none, required
   */
  send: (message: MailMessage) => unknown;
  /**
   * The app's page that reads `?token=` and calls POST /verify-email: a URL, or a path relative to `baseUrl`. Without
   * `baseUrl`, links with a path are relative, and `send` must make them absolute.
   * @default `/verify-email`
   */
  verifyUrl?: string;
  /** Likewise, the app's page that reads `?token=` and calls POST /passwords/reset. @default `/reset-password` */
  resetUrl?: string;
  /** Likewise, the page of the link in invitations, where a new user chooses a password. @default the `resetUrl` */
  invitationUrl?: string;
  /** Likewise, the app's page that reads `?token=` and calls POST /email-changes/confirm. @default `/change-email` */
  changeEmailUrl?: string;
  /** Likewise, the app's page that reads `?token=` and calls POST /undo-change. @default `/undo-change` */
  undoUrl?: string;
  /**
   * Which notices tell users what happens to their accounts. A kind that is left out is neither sent nor can it be undone.
   * @default true: all of them
   */
  notices?: boolean | readonly NoticeKind[];
}

/** How emails and webhooks are sent that could not be sent at once. */
export interface OutboxOptions {
  /**
   * How often a process looks for them, in seconds; false if it never does, and a job calls `auth.outbox.deliver()` instead.
   * @default 15
   */
  interval?: number | false;
}

/** Which routes users have to change their own account. */
export interface AccountOptions {
  /** PATCH /me. @default true */
  update?: boolean;
  /** The routes below /email-changes. @default true */
  changeEmail?: boolean;
  /** DELETE /me. @default true */
  delete?: boolean;
}

/** What becomes of accounts that are deleted. */
export interface AccountDeletionOptions {
  /**
   * For how many days an account is kept shut before `auth.prune()` deletes it for good, 0 to 3650. Until then, the link in
   * the notice about it can bring it back.
   * @default 0: it is deleted at once
   */
  graceDays?: number;
}

/** The config of `createAuth`, `authRouter` and the guards. */
export interface AuthConfig<P = readonly unknown[], F extends FieldsOptions = FieldsOptions> {
  /**
   * The app's own Sequelize instance, or a URL: `sqlite:./app.db`, `mysql://…`, `mariadb://…`, `postgres://…`.
   * @default none, required
   */
  database: Sequelize | string;
  /**
   * A secret of at least 32 bytes, from which encryption keys are derived. During rotation, a list: the first secret
   * encrypts, all of them decrypt.
   * @default none, required
   */
  secret: string | readonly string[] | undefined;
  /** The enabled features, in any order. @default [] */
  plugins?: P;
  /** The app's public origin, such as `https://app.example.com`. @default none */
  baseUrl?: string;
  /** The path of the routes if the router is mounted at the root of the app. @default `/auth` */
  httpBasePath?: string;
  /** Also accepts session tokens as `Authorization: Bearer`, and returns them at sign-in. @default false */
  bearerEnabled?: boolean;
  /** Whether the routes that a page calls also take HTML forms, and answer them with redirects. @default true */
  forms?: boolean;
  /** Other origins that may send the session cookie, and to which browsers may be redirected. @default [] */
  trustedOrigins?: readonly string[];
  /** The lifetime of sessions, and their cookie. @default see {@link SessionOptions} */
  session?: SessionOptions;
  /**
   * Rate limits for sign-ins, sign-ups and emails; `false` disables all of them.
   * @default on, in the database
   */
  rateLimit?: false | RateLimitOptions;
  /** Enables email verification and password reset. @default none */
  email?: EmailOptions;
  /** How what could not be sent at once is sent later. @default see {@link OutboxOptions} */
  outbox?: OutboxOptions;
  /** Endpoints that get events as signed POST requests. @default [] */
  webhooks?: readonly WebhookOptions[];
  /** The app's own data of its users. @default email and username only */
  user?: UserOptions<F>;
  /** Functions of the app that run when accounts are made, changed and deleted. @default none */
  hooks?: Hooks;
  /**
   * The property of requests that guards set, if another package uses `req.auth`. `currentUser` and `currentSession` work
   * all the same.
   * @default 'auth'
   */
  requestProperty?: string;
  /** `closed` refuses every sign-up. Administrators, code and imports still make accounts. @default 'open' */
  signUp?: 'open' | 'closed';
  /** Which routes users have to change their own account. @default all of them */
  account?: AccountOptions;
  /** What becomes of accounts that are deleted. @default they are deleted at once */
  accountDeletion?: AccountDeletionOptions;
  /**
   * Older systems whose living sessions are taken over, from `latchkey/bridges`, so that nobody signs in again because an
   * app moves.
   * @default none
   */
  bridges?: readonly SessionBridge[];
  /** A prefix for all table names: lower-case letters, digits and `_`. @default '' */
  tablePrefix?: string;
  /** Where latchkey logs. @default warnings and errors go to the console */
  logger?: Logger;
}
