import type { Request } from 'express';
import * as z from 'zod';
import type { Settings } from '../config/config.js';
import type { HumanCheckRoute } from '../config/human-check.js';
import type { CookieSettings } from '../config/session.js';
import { type AuthError, type AuthErrorCode, type GivenFieldError, messageOf } from '../errors.js';
import { say } from '../phrases.js';
import type { Alongside } from '../sessions/lookup.js';
import type { Authentication, SessionAuthentication } from '../sessions/request.js';
import type { SignedIn } from '../sessions/signed-in.js';
import type { OpenTo } from '../sessions/tasks.js';
import type { User } from '../tables/core.js';
import type { PageOptions } from '../tables/pages.js';

/**
 * Who is allowed to call a route. `public`: anyone; `authenticated`: a session or another credential, such as an API
 * key; `session`: a session; `session-or-none`: a session, or a client without an active one, whose call has no `auth`;
 * `admin`: an administrator's session. Public routes with an unsafe method still reject other sites, because such routes
 * can sign a browser in.
 */
export type Access = 'public' | 'authenticated' | 'session' | 'session-or-none' | 'admin';

/** The validated input of a handler. */
export interface Call<A extends Access, Body, Query> {
  readonly auth: A extends 'public'
    ? null
    : A extends 'authenticated'
      ? Authentication
      : A extends 'session-or-none'
        ? SessionAuthentication | null
        : SessionAuthentication;
  readonly body: Body;
  readonly query: Query;
  readonly params: Readonly<Record<string, string>>;
  readonly req: Request;
  /** What {@link Route.alongside} has returned. It might have received its rows. */
  readonly alongside?: Alongside | undefined;
  /** The fields of a form that are not fields of the body: see `Route.formFields`. */
  readonly formFields?: ReadonlyMap<string, string>;
}

/** A body that rarely changes. Clients can cache it if they revalidate it with each use (RFC 9110, 13.1.2). */
export interface CacheableBody {
  readonly json: string;
  readonly etag: string;
}

/** The output of a handler. */
export interface Reply {
  readonly status: number;
  /** The body. Only the fields that the route declares for this status are sent. */
  readonly body?: unknown;
  /** The body of a response that is the same for all clients. No other response can be cached. */
  readonly cacheable?: CacheableBody;
  /**
   * A new session, whose token is sent as a cookie and, with `bearerEnabled`, as a header. Or a pending sign-in, whose
   * token is sent as a cookie.
   */
  readonly issue?: SignedIn;
  /** What waits in the browser, whose token is sent as a cookie, in a response that issues nothing else. */
  readonly pending?: Waiting;
  /** The value for the browser's device cookie, in a response without a session. @default none */
  readonly device?: string | null;
  /** Whether to clear the session cookie. */
  readonly clearCookie?: boolean;
  /** Other cookies to clear, such as the one of a pending sign-in. */
  readonly clears?: readonly CookieSettings[];
  /** The error that a redirect is the response to. @default none */
  readonly error?: AuthErrorCode;
  /** The email that the error is about, if this browser's user has proven it. @default none */
  readonly email?: string | null;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** A pending sign-in, or a request for an emailed code. */
export interface Waiting {
  readonly pendingToken: string;
  readonly expiresAt: Date;
  /** @default the cookie of pending sign-ins */
  readonly cookie?: CookieSettings;
}

/** A page to which a browser is redirected after a form of one route. */
export interface FormPage {
  /** The name of the form's field that names the page. */
  readonly field: string;
  /** The page to use if the form does not name one. A `redirect_to` is for the next step. */
  readonly page: string;
  /** For the OpenAPI document. */
  readonly description: string;
}

/** A documented response of a route. */
export interface Answer {
  readonly description: string;
  /** @internal */
  readonly schema?: z.ZodType;
  /**
   * The name of the file in which a browser saves the body. The response to a form has this body too, not a redirect.
   */
  readonly file?: string;
  /** Whether the response can require a second factor instead of containing a session. */
  readonly mayWait?: boolean;
}

/**
 * What a route requires before a sensitive change: a change that adds, changes or removes a sign-in method, or issues a
 * credential that outlives the session (ASVS 5.0, 7.5). If the account has a second factor, the session must also have
 * been verified with it just as recently, and the password is not accepted.
 *
 * - `fresh`: the user must have signed in or reauthenticated within this many seconds, by default ten minutes
 * - `fresh-or-password`: the same, or the password in the body. With `only`, this concerns only the requests in which a
 *   field of the body changes something
 * - `second-factor`: only the second factor, for the given reason
 */
export type Sensitive =
  | { readonly asks: 'fresh'; readonly within?: number }
  | {
      readonly asks: 'fresh-or-password';
      readonly only?: OnlyField;
      /** Whether a call changes nothing sensitive, because of its path. @default false */
      isExempt?(userId: string, params: Readonly<Record<string, string>>): boolean;
    }
  | { readonly asks: 'second-factor'; readonly because: string };

/** The field of a body that makes a change sensitive. */
export interface OnlyField {
  readonly field: string;
  /** Whether the value changes anything sensitive. */
  isChange(user: User, value: unknown): boolean;
  /** Returns the input of the handler in place of a value that changes nothing sensitive. @default nothing */
  otherwise?(value: unknown): Readonly<Record<string, unknown>>;
}

/** A route. Validation, the fields of the response, and the OpenAPI document are derived from it. */
export interface Route<A extends Access = Access, Body = unknown, Query = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The path below the base path, with `:name` for parameters. */
  readonly path: string;
  /** The name of the app's option that sets the path, for messages. No other route can then have the same path. */
  readonly chosenBy?: string;
  /**
   * The method of `latchkey/client` that calls the route, such as `credential.signIn`. Absent if only browsers navigate to
   * the route. `npm run client` writes the client from this and from the schemas.
   */
  readonly client?: string;
  /**
   * What a successful call does to the session of the client, whose session store then asks for it again. A route that
   * starts a session returns it, or what the sign-in waits for.
   * @default nothing
   */
  readonly session?: 'starts' | 'changes' | 'ends';
  /** One line for the OpenAPI document and the method of the client. It starts with an imperative. */
  readonly summary: string;
  /** The plugin that the route belongs to. Absent for routes of the core. */
  readonly plugin?: string;
  readonly access: A;
  /** The tasks of the user that can be open. @default none */
  readonly openTo?: OpenTo;
  /** Whether an administrator who acts as the user can call the route. @default false: they get 403 `acting_session` */
  readonly openToActing?: true;
  /** Whether only a session in a cookie can call the route, because its response replaces that session. @default false */
  readonly byCookieOnly?: true;
  /**
   * Returns the ids of the other users whom a call is about, for a route that requires more than a session, such as a role.
   * Each transaction of the route locks them together with the caller, and checks the session again: see `underAuthority`.
   * @default the route requires no more than a session
   */
  locks?(params: Readonly<Record<string, string>>): readonly string[];
  /**
   * Returns other rows that the route needs, by a parameter of its path, which are read in the statement that looks up the
   * session. They must not decide anything in a transaction.
   */
  alongside?(params: Readonly<Record<string, string>>): Alongside;
  /** What the route requires, if it makes a sensitive change. */
  readonly sensitive?: Sensitive;
  /**
   * Replies to a request whose sign-in is not recent enough, or whose user has open tasks, in place of the problem.
   *
   * @returns null to respond with the problem
   */
  whenNotRecent?(error: AuthError, req: Request): Reply | null;
  /** Whether to skip the origin check, because other sites send browsers here. The handler must prevent CSRF. */
  readonly fromOtherSites?: true;
  /**
   * The name by which `humanCheck` asks for a person here. The work calls `context.client.checkpoint` before anything is
   * hashed, written or emailed.
   */
  readonly asksHuman?: HumanCheckRoute;
  /** The headers that the route reads, with their descriptions. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The fields that forms of the route can have in addition to the fields of the body, with their descriptions.
   * @default none
   */
  readonly formFields?: Readonly<Record<string, string>>;
  /** @internal */
  readonly body?: z.ZodType<Body>;
  /**
   * Returns the errors of fields by rules that the schema of the body does not have, such as those for passwords. If the
   * schema rejects a body, these errors are reported too, so that users see all their mistakes at once. Such requests are
   * not counted, so this must not read what is stored, hash, or call a service.
   *
   * @param body the fields as they were sent, of any type
   */
  faultsOf?(body: Readonly<Record<string, unknown>>): Promise<readonly GivenFieldError[]>;
  /** @internal */
  readonly query?: z.ZodType<Query>;
  /** Parameters that a provider sends as a form in the body instead of the query. @internal */
  readonly formPost?: z.ZodType<Query>;
  /**
   * Whether pages can send the fields of the body as an HTML form, which gets a redirect as its response. `only` for a
   * form equivalent. False for routes that return a secret only once, and for routes that only programs call.
   * @default true for POST with a body
   */
  readonly forms?: boolean | 'only';
  /** The page for the next step. A form redirects to this page in place of `redirect_to`. */
  readonly formPage?: FormPage;
  /** The path of the form equivalent: a POST route that accepts this request as an HTML form. */
  readonly formTwin?: string;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Additional problems. The problems of access, body and query are derived. */
  readonly problems?: readonly AuthErrorCode[];
  handle(call: Call<A, Body, Query>): Promise<Reply>;
}

/** Declares a route. */
export function route<A extends Access, Body = undefined, Query = undefined>(
  declaration: Route<A, Body, Query>,
): Route {
  // Only the declaration itself needs the types of body and query.
  return declaration as unknown as Route;
}

/** Whether a route accepts HTML forms. */
export function takesForms({ forms }: Settings, route: Route): boolean {
  return forms && (route.forms ?? (route.method === 'post' && route.body !== undefined)) !== false;
}

/** Returns the routes and, if forms are enabled, their form equivalents. */
export function withTwins({ forms }: Settings, routes: readonly Route[]): Route[] {
  return routes.flatMap(({ formTwin, ...route }) => {
    if (!forms || formTwin === undefined) return [route];
    const summary = `${route.summary}, by a form`;
    return [route, { ...route, method: 'post', path: formTwin, summary, forms: 'only' }];
  });
}

/** The names and descriptions of schemas. */
export const shapeNames = z.registry<{ readonly name: string; readonly description: string }>();

/** Names and describes a schema of a request or response, so that `latchkey/client` has a type with this name. */
export function named<Schema extends z.ZodType>(name: string, description: string, schema: Schema): Schema {
  const described = schema.describe(description);
  shapeNames.add(described, { name, description });
  return described;
}

/** A non-empty string of limited length in a request. It is well-formed Unicode without NUL. */
export function text(maxLength: number) {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), {
      error: messageOf(say('malformed-text')),
      abort: true,
    });
}

/** Whether a body has a code or the token of a link, and not both. */
export function hasCodeOrToken(body: { readonly code?: unknown; readonly token?: unknown }): boolean {
  return (body.code === undefined) !== (body.token === undefined);
}

/** The error of {@link hasCodeOrToken}. It is reported together with those of the other fields. */
export const CODE_OR_TOKEN = {
  path: ['code'],
  error: messageOf(say('not-code-or-token')),
  when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null,
};

/** An id in JSON. It is not z.uuid(), because that accepts only certain versions. */
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
