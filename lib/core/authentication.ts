import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { PlainRequest } from '../context/call.js';
import type { AuthErrorCode } from '../errors.js';
import type { Session } from '../models/session.js';
import type { User } from '../models/user.js';

/** A person who is signed in. */
export interface SessionAuthentication {
  readonly user: User;
  readonly session: Session;
  readonly apiKey: null;
  readonly via: 'cookie' | 'bearer';
}

/** Every kind of authentication by its `via`. Plugins add theirs. */
export interface Authentications {
  cookie: SessionAuthentication;
  bearer: SessionAuthentication;
}

/** Who makes a request, and how they proved it. */
export type Authentication = Authentications[keyof Authentications];

/** How a credential was sent. */
export type Via = keyof Authentications;

/** A request of Express, Node or Fetch; an object with headers will do. */
export interface RequestLike {
  readonly headers: IncomingHttpHeaders | Headers;
  readonly ip?: string | undefined;
}

export function toPlainRequest(request: RequestLike): PlainRequest {
  const { headers, ip } = request ?? {};
  if (typeof headers !== 'object' || headers === null) {
    throw new TypeError('latchkey: pass a request, or an object with its headers');
  }
  // By shape: there are more classes of Headers than the global one.
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return { headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])), ip };
}

/** One way in which a request carries a credential. */
export interface Carrier {
  readonly via: Via;
  /** Whether the credential is a session; if not, it opens only the routes that say so. */
  readonly carriesSession: boolean;
  /** What a 401 offers in `WWW-Authenticate` (RFC 9110, 11.6.1). */
  readonly challenge: string;
  /** How the OpenAPI document describes it. */
  readonly securityScheme: Readonly<Record<string, string>>;
  /** The problems of its own that a route which accepts it can answer with. */
  readonly problems?: readonly AuthErrorCode[];
  /** What GET /me says of the credential beside its user, for one that is no session. */
  readonly description?: {
    readonly schema: z.ZodRawShape;
    present(authentication: Authentication): Record<string, unknown>;
  };
  /**
   * Null where the request carries nothing of this kind.
   *
   * @throws AuthError where it carries something that is not valid; then no other carrier is asked
   */
  authenticate(request: PlainRequest): Promise<Authentication | null>;
  /** The session tokens that the request carries, valid or not. */
  sessionTokens(request: PlainRequest): string[];
  /** The scopes that limit the credential; without this, it may do all that its user may. */
  scopes?(authentication: Authentication): readonly string[];
}
