import type { Request } from 'express';
import type { z } from 'zod';
import type { Authentication, SessionAuthentication } from '../carriers/carrier.js';
import type { AuthErrorCode } from '../errors.js';
import type { IssuedSession } from '../sessions.js';

/**
 * Who may call a route. `public`: anyone; `identity`: a session or an API key; `session`: a session; `admin`: an
 * administrator's session. An unsafe public route still refuses other sites, since it can sign a browser in.
 */
export type Access = 'public' | 'identity' | 'session' | 'admin';

/** What a handler gets, checked. */
export interface Call<A extends Access, Body, Query> {
  readonly auth: A extends 'public' ? null : A extends 'identity' ? Authentication : SessionAuthentication;
  readonly body: Body;
  readonly query: Query;
  readonly params: Readonly<Record<string, string>>;
  /** Where the request came from. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly req: Request;
}

/** What a handler answers. */
export interface Reply {
  readonly status: number;
  /** Cut to what the route declares for this status. */
  readonly body?: unknown;
  /** A session just begun: its token goes out as cookie, and as header where bearer is on. */
  readonly issue?: IssuedSession;
  /** Clears the session cookie. */
  readonly clearCookie?: boolean;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One answer of a route, for those who read its documentation. */
export interface Answer {
  readonly description: string;
  readonly schema?: z.ZodType;
}

/** One route: all that validates a request, limits its answer and describes both. */
export interface Route<A extends Access = Access, Body = unknown, Query = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Below the base path, with `:name` for what varies. */
  readonly path: string;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  readonly access: A;
  /** For a public route that other sites send browsers to: it must know by its own means what to believe. */
  readonly fromOtherSites?: true;
  readonly body?: z.ZodType<Body>;
  readonly query?: z.ZodType<Query>;
  /** Parameters in the body as a form has them, in place of the query. */
  readonly form?: z.ZodType<Query>;
  readonly answers: Readonly<Record<number, Answer>>;
  /** The problems of its own; those of access, body and query are known from the rest. */
  readonly problems?: readonly AuthErrorCode[];
  handle(call: Call<A, Body, Query>): Promise<Reply>;
}

/** Declares a route. */
export function route<A extends Access, Body = undefined, Query = undefined>(
  declaration: Route<A, Body, Query>,
): Route {
  // The types of body and query are between a route and its handler; the router only sees that it is a route.
  return declaration as unknown as Route;
}
