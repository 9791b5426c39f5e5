import type { Request } from 'express';
import * as z from 'zod';
import type { Settings } from '../config/config.js';
import type { AuthErrorCode } from '../errors.js';
import type { Authentication, SessionAuthentication } from '../sessions/request.js';
import type { SignedIn } from '../sessions/signed-in.js';
import type { PageOptions } from '../tables/pages.js';

/**
 * Who may call a route. `public`: anyone; `authenticated`: a session or another credential, such as an API key;
 * `session`: a session; `session-or-pending`: a session, or a browser with a pending sign-in, whose call has no `auth`;
 * `admin`: an administrator's session. Public routes with an unsafe method still reject other
 * sites, since they can sign a browser in.
 */
export type Access = 'public' | 'authenticated' | 'session' | 'session-or-pending' | 'admin';

/** The validated input of a handler. */
export interface Call<A extends Access, Body, Query> {
  readonly auth: A extends 'public'
    ? null
    : A extends 'authenticated'
      ? Authentication
      : A extends 'session-or-pending'
        ? SessionAuthentication | null
        : SessionAuthentication;
  readonly body: Body;
  readonly query: Query;
  readonly params: Readonly<Record<string, string>>;
  readonly req: Request;
}

/** The output of a handler. */
export interface Reply {
  readonly status: number;
  /** Limited to the fields that the route declares for this status. */
  readonly body?: unknown;
  /**
   * A new session, whose token is sent as a cookie and, with `bearerEnabled`, as a header; or a pending sign-in, whose token
   * is sent as a cookie.
   */
  readonly issue?: SignedIn;
  /** Clears the session cookie. */
  readonly clearCookie?: boolean;
  /** Clears the cookie of a pending sign-in. */
  readonly clearPending?: boolean;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** A documented response of a route. */
export interface Answer {
  readonly description: string;
  /** @internal */
  readonly schema?: z.ZodType;
  /** Whether it can demand a second factor in place of a session. */
  readonly mayWait?: boolean;
}

/** A route. Validation, the fields of the response, and the OpenAPI document are derived from it. */
export interface Route<A extends Access = Access, Body = unknown, Query = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below the base path, with `:name` for parameters. */
  readonly path: string;
  /** One line for the OpenAPI document. */
  readonly summary: string;
  readonly access: A;
  /** The user must have signed in or reauthenticated at most this many seconds ago. */
  readonly fresh?: number;
  /**
   * Whether it changes how the user can sign in, so that an account with a second factor demands a session that has shown it
   * in the last ten minutes.
   * @default false
   */
  readonly changesWaysIn?: true;
  /** Disables the origin check of a public route that other sites send browsers to. Its handler must prevent CSRF. */
  readonly fromOtherSites?: true;
  /** @internal */
  readonly body?: z.ZodType<Body>;
  /** @internal */
  readonly query?: z.ZodType<Query>;
  /** Parameters that a provider sends as a form in the body instead of the query. @internal */
  readonly formPost?: z.ZodType<Query>;
  /**
   * Whether pages may send an HTML form here: its fields are those of the body, and the answer is a redirect. `only` for
   * a twin. False for what is shown once, and for what only programs call.
   * @default true for POST with a body
   */
  readonly forms?: boolean | 'only';
  /** The path of a twin that takes this request as an HTML form, which cannot be sent by another method than POST. */
  readonly formTwin?: string;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Additional problems; those of access, body and query are derived. */
  readonly problems?: readonly AuthErrorCode[];
  handle(call: Call<A, Body, Query>): Promise<Reply>;
}

/** Declares a route. */
export function route<A extends Access, Body = undefined, Query = undefined>(
  declaration: Route<A, Body, Query>,
): Route {
  // The types of body and query matter only within the declaration.
  return declaration as unknown as Route;
}

/** Whether an HTML form may be sent to a route. */
export function takesForms({ forms }: Settings, route: Route): boolean {
  return forms && (route.forms ?? (route.method === 'post' && route.body !== undefined)) !== false;
}

/** The routes and, if forms are on, their twins. */
export function withTwins({ forms }: Settings, routes: readonly Route[]): Route[] {
  return routes.flatMap(({ formTwin, ...route }) => {
    if (!forms || formTwin === undefined) return [route];
    const summary = `${route.summary}, by a form`;
    return [route, { ...route, method: 'post', path: formTwin, summary, forms: 'only' }];
  });
}

/** A non-empty string in a request: well-formed Unicode without NUL, of limited length. */
export function text(maxLength: number) {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), {
      error: 'must be well-formed Unicode without a NUL character',
      abort: true,
    });
}

/** An id in JSON. Not z.uuid(), which accepts only certain versions. */
export const id = z.string().meta({ format: 'uuid' });

/** A time in JSON: ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 });

/** The query parameters of a paginated list. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 200')
    .optional(),
  cursor: text(100).optional(),
};

export function pageOptions({
  limit,
  cursor,
}: {
  limit?: string | undefined;
  cursor?: string | undefined;
}): PageOptions {
  return { ...(limit && { limit: Number(limit) }), ...(cursor !== undefined && { cursor }) };
}
