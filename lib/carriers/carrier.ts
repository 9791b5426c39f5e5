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

/** What is read of a request: an Express or Node request will do, and so will an object with headers. */
export interface RequestLike {
  readonly headers: IncomingHttpHeaders;
  readonly ip?: string | undefined;
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
  authenticate(request: RequestLike): Promise<Authentication | null>;
  /** The session tokens that the request carries, good or bad. */
  sessionTokens(request: RequestLike): string[];
}
