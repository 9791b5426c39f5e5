import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { BearerScheme } from '../config/config.js';
import { clientAddress } from '../context/address.js';
import { type CallContext, type PlainRequest, withOriginal } from '../context/call.js';
import type { AppTransaction } from '../database/database.js';
import type { AuthErrorCode } from '../errors.js';
import type { Session, User } from '../tables/core.js';
import { asciiLowerCase } from '../users/canonical.js';
import type { Actor } from './acting.js';

/** The transaction of the app that a call joins. */
export interface TransactionOption {
  /**
   * A transaction of the Sequelize instance that is the config's `database`, or `{ connection }` for a transaction that
   * the app has begun with another library: see {@link ConnectionTransaction}. The call's writes are committed or rolled
   * back with it, and the call's events and emails are sent after the commit. A deadlock or serialization failure is
   * thrown as Sequelize's error, so that the app can retry its transaction.
   * @default none: the call commits its own writes
   */
  transaction?: AppTransaction | null | undefined;
}

/** The client for which the app makes a call. It is recorded in sessions and events, and used for rate limits. */
export interface ClientInput extends TransactionOption {
  /**
   * The request that the app is handling. The IP address and user agent are read from it, and a sign-in ends the
   * sessions that it presents. Requests without a known address share one rate limit.
   * @default none
   */
  request?: RequestLike;
  /**
   * The client's IP address, or null if unknown.
   * @default the request's IP address; without a request, no limit by address applies
   */
  ip?: string | null;
  /** The client's user agent. @default the request's user agent, or none */
  userAgent?: string | null;
}

/** The keys of {@link ClientInput}. */
export const KEYS_OF_CLIENT = ['request', 'ip', 'userAgent', 'transaction'] as const;

/** Runs `work` for the client given in the input, or for the current one if there is none. */
export async function forClientOf<T>(
  context: CallContext,
  input: ClientInput,
  work: () => Promise<T>,
): Promise<T> {
  if (input.request === undefined && input.ip === undefined && input.userAgent === undefined) return work();
  const request = input.request === undefined ? null : toPlainRequest(input.request);
  const {
    ip = request ? (request.ip ?? null) : undefined,
    userAgent = request?.headers['user-agent'] ?? null,
  } = input;
  for (const [name, value] of Object.entries({ ip, userAgent })) {
    if (value === null || value === undefined || typeof value === 'string') continue;
    throw new TypeError(`latchkey: ${name} must be a string or null`);
  }
  return context.forClient({ ip: ip && clientAddress(ip), userAgent, request }, work);
}

/** A signed-in user. */
export interface SessionAuthentication {
  /** The user. */
  readonly user: User;
  /** The session that the request presents. */
  readonly session: Session;
  /** Always null, because it is set only if the request presents an API key. */
  readonly apiKey: null;
  /** How the session token was sent. */
  readonly via: 'cookie' | 'bearer';
  /** The administrator who acts as the user, with `admin({ actAs })`. Null in the user's own sessions. */
  readonly actor: Actor | null;
}

/** Every kind of authentication, keyed by its `via`. Plugins add their own. */
export interface Authentications {
  cookie: SessionAuthentication;
  bearer: SessionAuthentication;
}

/** The user who made a request, and how they authenticated. */
export type Authentication = Authentications[keyof Authentications];

/** How a credential was sent. */
export type Via = keyof Authentications;

/** An Express, Node or Fetch request, or any object with headers. */
export interface RequestLike {
  /** The request headers, in Node's or Fetch's form. */
  readonly headers: IncomingHttpHeaders | Headers;
  /** The client's IP address, if known. */
  readonly ip?: string | undefined;
  /**
   * The method. If it is unsafe, such as `POST`, a request that is authenticated by the cookie must come from this app
   * or a trusted origin.
   * @default none: the origin is not checked
   */
  readonly method?: string | undefined;
}

export function toPlainRequest(request: RequestLike): PlainRequest {
  const { headers, ip, method } = request ?? {};
  if (typeof headers !== 'object' || headers === null) {
    throw new TypeError('latchkey: pass a request, or an object with its headers');
  }
  if (method !== undefined && typeof method !== 'string') {
    throw new TypeError('latchkey: the method of a request must be a string');
  }
  return withOriginal({ headers: plainHeaders(headers), ip, method }, request);
}

/**
 * Converts headers to Node's form. An object can contain one header in several spellings. Their values are joined, so
 * that different credentials are noticed and cannot hide each other.
 */
function plainHeaders(headers: RequestLike['headers']): IncomingHttpHeaders {
  // Do not use `instanceof`, because some libraries have their own Headers class.
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  const byName = new Map<string, Set<string>>();
  for (const [name, given] of pairs) {
    const key = asciiLowerCase(name);
    const values = byName.get(key) ?? new Set();
    for (const value of [given].flat()) if (typeof value === 'string') byName.set(key, values.add(value));
  }
  return Object.fromEntries(
    [...byName].map(([name, values]) => [name, [...values].join(name === 'cookie' ? '; ' : ', ')]),
  );
}

/** Whether a request was authenticated by a session. */
export function isSession(authentication: Authentication): authentication is SessionAuthentication {
  return authentication.session !== null;
}

/** A way for a request to present a credential. */
export interface Carrier {
  readonly via: Via;
  /** Whether the credential is a session. Others are accepted only by routes that allow them. */
  readonly presentsSession: boolean;
  /** The challenge that a 401 sends in `WWW-Authenticate` (RFC 9110, 11.6.1). */
  readonly challenge: string;
  /** The description of the credential in the OpenAPI document. */
  readonly securityScheme: Readonly<Record<string, string>>;
  /** The schemes of the header `Authorization` that present a session. @default none */
  readonly schemes?: readonly BearerScheme[];
  /** The additional problems of routes that accept this credential. */
  readonly problems?: readonly AuthErrorCode[];
  /** The attributes of a credential that is not a session, which GET /me returns in addition to its user. */
  readonly description?: {
    /** @internal */
    readonly schema: z.ZodRawShape;
    present(authentication: Authentication): Record<string, unknown>;
  };
  /**
   * Authenticates a request. Returns null, and not a promise, if the request presents no credential of this kind.
   *
   * @throws AuthError if the credential is invalid; no other carrier is tried then
   */
  authenticate(request: PlainRequest): Promise<Authentication> | null;
  /** Returns the session tokens that the request presents, valid or not. */
  sessionTokens(request: PlainRequest): string[];
  /** Returns the distinct device tokens in the request's cookies, valid or not: see `Devices`. */
  deviceTokens?(request: PlainRequest): string[];
  /**
   * Returns the device value in the request's header, which then replaces the cookies. Null if the request has no such
   * header.
   */
  deviceInHeader?(request: PlainRequest): string | null;
  /** Returns the scopes of the credential. If not implemented, the credential has all the rights of its user. */
  scopes?(authentication: Authentication): readonly string[];
  /** All scopes that credentials can have, and the option that declares them. Undefined if any are possible. */
  readonly declaredScopes?: { readonly names: readonly string[]; readonly by: string };
}

const vias = new Map<Via, string>();

/** Registers how to enable a kind of credential, for error messages. Called when its module is loaded. */
export function declareVia(via: Via, how: string): void {
  vias.set(via, how);
}

/** How to enable the kinds of credential that are disabled by default. */
export const switchesOfVias: ReadonlyMap<string, string> = vias;
