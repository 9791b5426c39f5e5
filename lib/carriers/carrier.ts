import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKey } from '../models/api-key.js';
import type { Session } from '../models/session.js';
import type { User } from '../models/user.js';

/** A person who is signed in. */
export interface SessionAuthentication {
  readonly user: User;
  readonly session: Session;
  readonly apiKey: null;
  readonly via: 'cookie' | 'bearer';
}

/** A program that acts for a user by an API key. */
export interface ApiKeyAuthentication {
  readonly user: User;
  readonly session: null;
  readonly apiKey: ApiKey;
  readonly via: 'api-key';
}

/** Who makes a request, and by what. */
export type Authentication = SessionAuthentication | ApiKeyAuthentication;

/** How a credential came. */
export type Via = Authentication['via'];

/** A request of Express, of Node or of Fetch; an object with headers will do. */
export interface RequestLike {
  readonly headers: IncomingHttpHeaders | Headers;
  readonly ip?: string | undefined;
}

/** What is read of a request, with headers as Node gives them. */
export interface PlainRequest {
  readonly headers: IncomingHttpHeaders;
  readonly ip?: string | undefined;
}

export function toPlainRequest(request: RequestLike): PlainRequest {
  const { headers, ip } = request ?? {};
  if (typeof headers !== 'object' || headers === null) {
    throw new TypeError('latchkey: give a request, or an object with its headers');
  }
  // By shape: there are more classes of Headers than the global one.
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return { headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])), ip };
}

/** One way in which a credential travels. */
export interface Carrier {
  readonly via: Via;
  /** What a 401 offers in `WWW-Authenticate` (RFC 9110, 11.6.1). */
  readonly challenge: string;
  /** How the OpenAPI document describes it. */
  readonly securityScheme: Readonly<Record<string, string>>;
  /**
   * Null where the request carries nothing of this kind.
   *
   * @throws AuthError where it carries something that opens nothing; then no other carrier is asked
   */
  authenticate(request: PlainRequest): Promise<Authentication | null>;
  /** The session tokens that the request carries, good or bad. */
  sessionTokens(request: PlainRequest): string[];
}
