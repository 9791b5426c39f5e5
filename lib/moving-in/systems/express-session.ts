import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import type { OldSession, SessionBridge } from '../bridge.js';
import {
  type BridgeOptions,
  type FoundUser,
  isSigned,
  keepOldOf,
  secretsOption,
  sharedOptions,
  splitSigned,
  userFunction,
  userOf,
} from './bridge-options.js';
import { endOf } from './values.js';

/** The data in a store of express-session: the app's data in `req.session`, and the session's cookie. */
export interface ExpressSessionData {
  /** The cookie of the session. */
  readonly cookie?: {
    /** When the cookie expires, if it does. */
    readonly expires?: Date | string | null | boolean | undefined;
    /** The lifetime of the cookie, in milliseconds. */
    readonly originalMaxAge?: number | null | undefined;
  };
  /** The data that passport stores. */
  // biome-ignore lint/suspicious/noExplicitAny: the app's serializeUser has returned it
  readonly passport?: { readonly user?: any };
  // biome-ignore lint/suspicious/noExplicitAny: it is the app's own data
  readonly [name: string]: any;
}

/** The methods of an express-session store that the bridge uses. Every store has them. */
export interface ExpressSessionStore {
  /** Reads a session. */
  // biome-ignore lint/suspicious/noExplicitAny: stores declare different types
  get(id: string, callback: (error: any, session?: any) => void): unknown;
  /** Deletes a session. */
  // biome-ignore lint/suspicious/noExplicitAny: stores declare different types
  destroy(id: string, callback: (error?: any) => void): unknown;
}

/** Options of {@link expressSession}. */
export interface ExpressSessionOptions extends BridgeOptions {
  /** The store of the sessions, created as in the old app. @default none, required */
  store: ExpressSessionStore;
  /**
   * Returns the account of a session: its id, or with `user.model` the primary key of its row, or
   * `{ id, email, emailVerified }`; null if no user is signed in. An email identifies only imported accounts, because a
   * store does not contain the time when a session started.
   * @default none, required
   */
  userId: (data: ExpressSessionData) => FoundUser | Promise<FoundUser>;
  /**
   * The `secret` of the old app's `session()`, or its list of secrets. Set it, because signatures are not checked
   * otherwise, and anyone who has seen the ids in the store could then use them.
   * @default none
   */
  secret?: string | readonly string[] | undefined;
  /**
   * Whether the old app's `session()` has `rolling: true`, so that only its store knows when sessions expire.
   * @default false
   */
  rolling?: boolean | undefined;
}

/** @internal */
export const schema = () =>
  schemaOf<ExpressSessionOptions>()({
    ...sharedOptions,
    store: z.custom<ExpressSessionStore>(isStore, {
      error: 'must be a store of express-session, with get and destroy, such as the one given to session()',
    }),
    userId: userFunction<[data: ExpressSessionData]>(),
    secret: secretsOption('must be the secret of express-session, or a list of its secrets').optional(),
    rolling: flag.default(false),
  });

/**
 * Takes over the sessions of express-session, with passport or without, from any of its stores.
 *
 * @example
 * createAuth({
 *   database: sequelize,
 *   secret: process.env.AUTH_SECRET,
 *   user: { model: User, foreignKey: 'authId' },
 *   bridges: [
 *     expressSession({
 *       store: new SequelizeStore({ db: sequelize }),
 *       secret: process.env.SESSION_SECRET,
 *       userId: (data) => data.passport?.user,
 *     }),
 *   ],
 * });
 *
 * @throws TypeError naming every mistake in the options
 */
export function expressSession(options: ExpressSessionOptions): SessionBridge {
  const { store, secret, userId, rolling, until, cookieName, keepOld } = readOptions(
    'expressSession',
    schema,
    options,
  );
  return {
    name: 'express-session',
    until: until ?? null,
    keepOld: keepOldOf(keepOld),
    cookieNames: () => [cookieName ?? 'connect.sid'],
    idIn(value) {
      const parts = value.startsWith('s:') ? splitSigned(value.slice(2)) : null;
      return parts && (!secret || isSigned(parts.value, parts.signature, secret)) ? parts.value : null;
    },
    async find(id): Promise<OldSession | null> {
      const data = await get(store, id);
      const user = data && userOf(await userId(data), 'expressSession');
      if (!data || user === null) return null;
      const { expires, originalMaxAge } = data.cookie ?? {};
      const endsAt = typeof expires === 'boolean' ? null : endOf(expires);
      const remembered = endsAt !== null || typeof originalMaxAge === 'number';
      // With `rolling`, each request has extended the session in the store, but not the time in the session's data.
      const prolonged =
        rolling && typeof originalMaxAge === 'number' ? new Date(Date.now() + originalMaxAge) : endsAt;
      return { user, beganAt: null, endsAt: prolonged, remembered };
    },
    end: (id) =>
      new Promise((resolve, reject) => {
        const done = store.destroy(id, (error) => (error ? reject(error) : resolve()));
        failWith(done, reject);
      }),
  };
}

function get(store: ExpressSessionStore, id: string): Promise<ExpressSessionData | null> {
  return new Promise((resolve, reject) => {
    const done = store.get(id, (error: unknown, data?: unknown) => {
      // Stores that use files return this error for a session that does not exist.
      if (error && (error as { code?: unknown }).code !== 'ENOENT') reject(error);
      else resolve(error || typeof data !== 'object' ? null : ((data as ExpressSessionData | null) ?? null));
    });
    failWith(done, reject);
  });
}

/** Handles the promise that some stores also return: it might be rejected before they call back. */
function failWith(done: unknown, reject: (error: unknown) => void): void {
  if (typeof (done as Promise<unknown> | null | undefined)?.then === 'function')
    (done as Promise<unknown>).then(undefined, reject);
}

function isStore(value: unknown): boolean {
  const { get, destroy } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof get === 'function' && typeof destroy === 'function';
}
