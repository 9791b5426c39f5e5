import type { Request } from 'express';
import type { z } from 'zod';
import type { Authentication, SessionAuthentication } from '../core/authentication.js';
import type { IssuedSession } from '../core/sessions.js';
import type { AuthErrorCode } from '../errors.js';

/**
 * Who may call a route. `public`: anyone; `authenticated`: a session or another credential, such as an API key;
 * `session`: a session; `admin`: an administrator's session. An unsafe public route still refuses other sites, since it
 * can sign a browser in.
 */
export type Access = 'public' | 'authenticated' | 'session' | 'admin';

/** What a handler gets, all of it checked. */
export interface Call<A extends Access, Body, Query> {
  readonly auth: A extends 'public'
    ? null
    : A extends 'authenticated'
      ? Authentication
      : SessionAuthentication;
  readonly body: Body;
  readonly query: Query;
  readonly params: Readonly<Record<string, string>>;
  readonly req: Request;
}

/** What a handler answers. */
export interface Reply {
  readonly status: number;
  /** Cut to what the route declares for this status. */
  readonly body?: unknown;
  /** A session that was just begun: its token is sent as a cookie, and as a header where bearer is on. */
  readonly issue?: IssuedSession;
  /** Clears the session cookie. */
  readonly clearCookie?: boolean;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One answer of a route, as it is documented. */
export interface Answer {
  readonly description: string;
  readonly schema?: z.ZodType;
}

/** One route: all that validates a request, limits its answer and describes both. */
export interface Route<A extends Access = Access, Body = unknown, Query = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Below the base path, with `:name` for parameters. */
  readonly path: string;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  readonly access: A;
  /** The session must have begun, or been reauthenticated, at most this many seconds ago. */
  readonly fresh?: number;
  /** For a public route to which other sites send browsers: it must check by itself what to believe. */
  readonly fromOtherSites?: true;
  readonly body?: z.ZodType<Body>;
  readonly query?: z.ZodType<Query>;
  /** Parameters in the body, as a form sends them, in place of the query. */
  readonly form?: z.ZodType<Query>;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Its own problems; those of access, body and query follow from the rest. */
  readonly problems?: readonly AuthErrorCode[];
  handle(call: Call<A, Body, Query>): Promise<Reply>;
}

/** Declares a route. */
export function route<A extends Access, Body = undefined, Query = undefined>(
  declaration: Route<A, Body, Query>,
): Route {
  // The types of body and query concern only the route and its handler.
  return declaration as unknown as Route;
}
