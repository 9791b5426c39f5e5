import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { type AnyAuth, internalsOf } from '../auth.js';
import type { AuthConfig } from '../config/config.js';
import { type PlainRequest, UNTOUCHED } from '../context/call.js';
import {
  type AskedMembership,
  howToNameAdministrators,
  type RequestMembership,
} from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { AuthError, excerpt } from '../errors.js';
import {
  authenticate,
  authenticateIfPossible,
  isInScopes,
  readAlongside,
  requireAal,
  requireAdministrator,
  requireFreshSession,
  requireScopes,
} from '../http/admit.js';
import type { Middleware } from '../http/middleware.js';
import { answerError, forExpress, protect } from '../http/problem.js';
import { nearest, requireKnownKeys } from '../known-keys.js';
import { covers, type Roles } from '../permissions.js';
import type { Plugin } from '../plugin.js';
import { type Acting, checkActing } from '../sessions/acting.js';
import { isNavigation, isUnsafe } from '../sessions/origin.js';
import { type Authentication, switchesOfVias, type Via } from '../sessions/request.js';
import { performance } from '../timers.js';
import { marked, markOfGuard } from './marks.js';
import { type GuardedAuthentication, type Permits, setAuthentication } from './request.js';

/** Options of {@link requireSession} and of the guards that require more. */
export interface SessionGuardOptions extends GuardOptions {
  /**
   * The maximum number of seconds since the user signed in or reauthenticated, for sensitive actions. If it was longer
   * ago, the user gets 403 `reauthentication_required`. An API key gets `session_required` (ASVS 5.0, 7.5).
   * @default no limit
   */
  freshWithin?: number;
  /**
   * The authenticator assurance level that the session must have, for sensitive pages. With 2, the user must have
   * signed in with two factors or a passkey, or have provided one since. Otherwise they get 403
   * `second_factor_required`. An API key gets `session_required` (NIST SP 800-63B-4).
   * @default 1
   */
  aal?: 1 | 2;
  /**
   * The tasks that can be open, for the pages where users complete them: see `tasks` in the config. A session with
   * another open task gets 403 `task_required`, and a browser that opens a page is redirected to the page of the task.
   * @default []
   */
  tasks?: readonly string[];
  /**
   * The requests that are admitted while an administrator acts as the user: see `admin({ actAs })`. Others get 403
   * `acting_session`. `read` admits requests with GET or HEAD, except upgrades such as those to WebSockets. `write` admits
   * all of them, and `false` none. A guard with `aal: 2` or `freshWithin` never admits any.
   * @default 'read'
   */
  acting?: Acting;
}

/** Options of {@link requireSession}. */
export interface RequireSessionOptions extends SessionGuardOptions {
  /**
   * The scopes that an API key must have; otherwise it gets 403 `insufficient_scope`. If the list is empty, an API key
   * with scopes gets 403 `scope_required`, because it is limited to them. Sessions are not limited by scopes. With
   * `apiKeys({ scopes })`, only scopes that are declared there are accepted.
   * @default []
   */
  scopes?: readonly string[];
}

/**
 * Admits only requests with a session or an API key, and sets `req.auth`. Others get a 401 problem. Works without a
 * mounted router.
 *
 * A request with an unsafe method that is authenticated by the cookie must come from this app or a trusted origin.
 * Otherwise it gets 403 `origin_not_allowed`.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * app.get('/reports', requireSession(auth), (req, res) => res.json({ hello: req.auth.user.email }));
 */
export function requireSession(auth: AuthOrConfig, options: RequireSessionOptions = {}): Middleware {
  requireKnownKeys('requireSession', options, [...OF_SESSION_GUARD, 'scopes']);
  const { scopes = [] } = options;
  checkScopes('requireSession', internalsOf(auth).core, scopes);
  const handler = sessionGuard('requireSession', auth, options, {
    limitScopes: (core, authentication) => requireScopes(core, authentication, scopes),
  });
  return marked(handler, markOfGuard('requireSession', options));
}

/** Options of {@link requirePermission}. */
export type RequirePermissionOptions = SessionGuardOptions;

/**
 * Admits only requests whose user has a permission, and sets `req.auth`. Others get 403 `permission_required`. An API
 * key that has scopes must also have the permission among them; otherwise it gets 403 `insufficient_scope`.
 *
 * @param permission a permission of a role in `roles({ roles })`, such as `posts:write`
 * @throws TypeError if no role has the permission, or on invalid options
 *
 * @example
 * app.post('/posts', requirePermission(auth, 'posts:write'), (req, res) => res.sendStatus(201));
 */
export function requirePermission(
  auth: AuthOrConfig,
  permission: string,
  options: RequirePermissionOptions = {},
): Middleware {
  requireKnownKeys('requirePermission', options, OF_SESSION_GUARD);
  const { permissions } = internalsOf(auth).core;
  if (!permissions)
    throw new TypeError(
      'latchkey: requirePermission requires permissions: add roles({ roles: { … } }) to plugins',
    );
  requireKnownPermission('requirePermission', permission, permissions.roles);
  const handler = sessionGuard('requirePermission', auth, options, {
    isAllowed: (core, { user }) => covers(core.permissionsOf(user), [permission]),
    limitScopes(core, authentication) {
      if (!isInScopes(core, authentication, permission)) throw new AuthError('insufficient_scope');
    },
  });
  return marked(handler, markOfGuard(`requirePermission ${permission}`, options));
}

/** What a guard for sessions and API keys requires. */
interface Required {
  /** Asks for the membership that is required. @default none is required */
  ask?(req: Request): AskedMembership;
  /** Whether the user has the required permission. @default none is required */
  isAllowed?(core: Core, authentication: GuardedAuthentication): boolean;
  /** Rejects a credential whose scopes do not allow the request. */
  limitScopes(core: Core, authentication: Authentication): void;
}

/** Creates a guard that admits sessions and API keys. @throws TypeError on invalid options */
export function sessionGuard(
  name: string,
  auth: AuthOrConfig,
  options: SessionGuardOptions,
  { ask, isAllowed, limitScopes }: Required,
): RequestHandler {
  const { freshWithin, aal = 1, tasks = [], acting = 'read' } = options;
  checkFreshWithin(name, freshWithin);
  checkAal(name, aal);
  checkActing(name, acting);
  checkTasks(name, internalsOf(auth).core, tasks);
  const pass = (core: Core, authentication: GuardedAuthentication): GuardedAuthentication => {
    if (isAllowed && !isAllowed(core, authentication)) throw new AuthError('permission_required');
    // Check these before the scopes, because no API key can pass them.
    if (aal > 1) requireAal(authentication, aal);
    if (freshWithin !== undefined) requireFreshSession(core, authentication, freshWithin);
    limitScopes(core, authentication);
    return authentication;
  };
  const check = (core: Core, authentication: Authentication | null, asked?: AskedMembership) => {
    if (!authentication) throw new AuthError('unauthenticated');
    // Each request has its own authentication, so it does not have to be copied.
    const passWith = (found?: RequestMembership) => pass(core, Object.assign(authentication, found));
    const found = asked?.of(authentication.user.id);
    return found instanceof Promise ? found.then(passWith) : passWith(found);
  };
  const admit = (core: Core, found: Authentication) => core.tasks.admit(found, tasks);
  // An acting session is never fresh, and never verified with two factors.
  const admits = aal > 1 || freshWithin !== undefined ? false : acting;
  const decide = (core: Core, req: Request, res: Response) => authenticate(core, req, res, admits);
  return guard(name, auth, options, { ...(ask && { ask }), decide, check, admit });
}

/** @throws TypeError if no role names the permission */
export function requireKnownPermission(name: string, permission: unknown, roles: Roles): void {
  if (typeof permission === 'string' && roles.knows(permission)) return;
  throw new TypeError(
    `latchkey: ${name}: no role has the permission ${excerpt(String(permission))}: correct it, or add it to a role`,
  );
}

/**
 * Returns what decides about permissions in handlers behind a guard: the membership that the guard has found, or else the
 * roles of the user. They are never added up. Null if there are no permissions.
 */
function permitsOf(core: Core, authentication: GuardedAuthentication): Permits | null {
  const { permissions, memberships } = core;
  const { membership } = authentication;
  if (memberships && membership)
    return (permission) => {
      requireKnownPermission('permits', permission, memberships.roles);
      const granted = memberships.roles.permissionsOf([membership.role]);
      return covers(granted, [permission]) && isInScopes(core, authentication, permission);
    };
  if (!permissions && !memberships) return null;
  return (permission) => {
    const isKnown = memberships?.permissions.includes(permission) ?? false;
    if (!isKnown && permissions) requireKnownPermission('permits', permission, permissions.roles);
    else if (!isKnown)
      throw new TypeError(
        'latchkey: permits requires permissions: add roles({ roles: { … } }) to plugins, or use requireMember in front of the route',
      );
    return (
      covers(core.permissionsOf(authentication.user), [permission]) &&
      isInScopes(core, authentication, permission)
    );
  };
}

/** Options of {@link requireAdmin}. */
export interface RequireAdminOptions extends GuardOptions {
  /**
   * The authenticator assurance level that the session must have. With 2, the administrator must have signed in with
   * two factors or a passkey, or have provided one since. Otherwise they get 403 `second_factor_required` (NIST SP
   * 800-63B-4).
   * @default 1
   */
  aal?: 1 | 2;
  /**
   * The maximum number of seconds since the administrator signed in or reauthenticated, for sensitive actions. If it
   * was longer ago, they get 403 `reauthentication_required` (ASVS 5.0, 7.5).
   * @default no limit
   */
  freshWithin?: number;
}

/**
 * Admits only administrators and sets `req.auth`. Other users get a 403 problem. Works without a mounted router.
 *
 * @example
 * app.get('/ops', requireAdmin(auth), (req, res) => res.send('for administrators'));
 *
 * @throws TypeError if no plugin defines administrators, or on invalid options
 */
export function requireAdmin(auth: AuthOrConfig, options: RequireAdminOptions = {}): Middleware {
  requireKnownKeys('requireAdmin', options, [...OF_GUARD, 'aal', 'freshWithin']);
  const { aal = 1, freshWithin } = options;
  if (!internalsOf(auth).core.hasAdministrators) {
    throw new TypeError(
      ['latchkey: requireAdmin requires administrators to be configured', ...howToNameAdministrators()].join(
        ': ',
      ),
    );
  }
  checkFreshWithin('requireAdmin', freshWithin);
  checkAal('requireAdmin', aal);
  const handler = guard('requireAdmin', auth, options, {
    decide: requireAdministrator,
    check(core, authentication) {
      if (aal > 1) requireAal(authentication, aal);
      if (freshWithin !== undefined) requireFreshSession(core, authentication, freshWithin);
    },
  });
  return marked(handler, markOfGuard('requireAdmin', options));
}

/** Options of all guards. */
export interface GuardOptions {
  /**
   * A function that responds when the guard rejects a request, for example by redirecting to a sign-in page. Call
   * `next(error)` for errors that it does not handle.
   * @default a problem response
   */
  onError?(error: AuthError, req: Request, res: Response, next: NextFunction): unknown;
  /** The kinds of credentials to accept; at least one must be enabled. @default all enabled ones */
  accept?: readonly Via[];
  /**
   * Whether a request counts as activity of its session. With `false`, it neither updates the session's last activity
   * nor keeps the session from expiring, for requests that a page sends by itself, such as polling.
   * @default true
   */
  touch?: boolean;
}

/** The keys of {@link GuardOptions}. */
const OF_GUARD = ['onError', 'accept', 'touch'];

/** The keys of {@link SessionGuardOptions}. */
export const OF_SESSION_GUARD = [...OF_GUARD, 'freshWithin', 'aal', 'tasks', 'acting'];

/** @throws TypeError if one of the tasks does not exist */
function checkTasks(name: string, { tasks: { names } }: Core, tasks: unknown): void {
  if (Array.isArray(tasks) && tasks.every((task) => names.includes(task))) return;
  throw new TypeError(
    `latchkey: ${name}'s tasks must be a list of tasks that are in the config: ${names.join(', ') || 'there are none'}`,
  );
}

/** @throws TypeError if they are not a list of strings, or if no credential can ever have one of the scopes */
export function checkScopes(name: string, { carriers }: Core, scopes: readonly string[]): void {
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
    throw new TypeError(`latchkey: ${name}'s scopes must be a list of strings`);
  const limited = carriers.filter((carrier) => carrier.scopes);
  const declared = limited.flatMap(({ declaredScopes }) => declaredScopes ?? []);
  // A credential whose scopes are not declared can have any.
  if (limited.length === 0 || declared.length < limited.length) return;
  const names = declared.flatMap((one) => one.names);
  const other = scopes.find((scope) => !names.includes(scope));
  if (other === undefined) return;
  const near = nearest(other, names);
  throw new TypeError(
    `latchkey: ${name}'s scopes contain ${excerpt(other)}${near ? ` (did you mean ${near}?)` : ''}, which is not declared: add it to ${declared.map(({ by }) => by).join(' or ')}, or correct it`,
  );
}

/** Checks a number of seconds. @throws TypeError if it is not positive */
function checkFreshWithin(name: string, freshWithin: unknown): void {
  if (freshWithin === undefined) return;
  if (!(typeof freshWithin === 'number' && freshWithin > 0))
    throw new TypeError(`latchkey: ${name}'s freshWithin must be a number of seconds`);
}

/** Checks an assurance level. @throws TypeError if the level does not exist */
function checkAal(name: string, aal: unknown): void {
  if (aal !== 1 && aal !== 2) throw new TypeError(`latchkey: ${name}'s aal must be 1 or 2`);
}

/** Options of {@link optionalSession}. */
export interface OptionalSessionOptions extends GuardOptions {
  /** The requests in which an acting session is not ignored: see {@link SessionGuardOptions.acting}. @default 'read' */
  acting?: Acting;
}

/**
 * Sets `req.auth` if the request presents a credential. Other requests continue without it. The guard can be used in
 * front of everything, including the router.
 *
 * An invalid session cookie (expired, revoked, malformed, or the cookies of two sessions) is ignored, and the response
 * clears it. The cookie is not cleared if the response itself sets it, as a sign-in does, or if its token was
 * replaced in the last minute. It is also not cleared if the response comes more than a second later, because the
 * browser might have a new cookie by then.
 *
 * A session with open tasks is ignored too, but its cookie stays: see `tasks` in the config. The same is true of the
 * session of an account that has no row in the table of `user.model`, which is logged.
 *
 * While an administrator acts as the user, the session is ignored in requests that `acting` does not admit.
 *
 * An invalid Bearer token or API key is rejected with 401, and an API key that has scopes with 403 `scope_required`. A
 * cookie from another site is rejected with 403 if the method is unsafe. Use `onError` to continue instead.
 *
 * @example
 * app.use(optionalSession(auth));
 * app.get('/', optionalSession(auth), (req, res) => res.send(req.auth ? 'Welcome back' : 'Welcome'));
 */
export function optionalSession(auth: AuthOrConfig, options: OptionalSessionOptions = {}): Middleware {
  requireKnownKeys('optionalSession', options, [...OF_GUARD, 'acting']);
  const { acting = 'read' } = options;
  checkActing('optionalSession', acting);
  const check = (core: Core, authentication: Authentication | null): undefined => {
    if (authentication) requireScopes(core, authentication, []);
  };
  const admit = ({ tasks }: Core, found: Authentication) => tasks.admitIfDone(found);
  const decide = (core: Core, req: Request, res: Response) => authenticateIfPossible(core, req, res, acting);
  const handler = guard('optionalSession', auth, options, { decide, check, admit });
  return marked(handler, { kind: 'passing', label: 'optionalSession' });
}

/** An Auth, or the config to create one: the first argument of the router and the guards. */
export type AuthOrConfig = AnyAuth | AuthConfig<readonly Plugin[]>;

type Checked = GuardedAuthentication | undefined;

/** The rules of a guard, in the order in which a request must pass them. */
interface GuardRules<A extends Authentication | null> {
  /** Asks for a membership, before the credential is looked up, so that the same statement can read it. */
  readonly ask?: (req: Request) => AskedMembership;
  readonly decide: (core: Core, req: Request, res: Response) => Promise<A>;
  /** Decides about open tasks. By default, there must be none. */
  readonly admit?: (core: Core, found: NonNullable<A>) => A;
  /** Rejects the request, or returns the authentication that handlers get. By default, it stays as it is. */
  readonly check?: (core: Core, authentication: A, asked?: AskedMembership) => Checked | Promise<Checked>;
}

/** A middleware that authenticates a request and sets or clears `req.auth`, or responds with a problem. */
export function guard<A extends Authentication | null>(
  name: string,
  authOrConfig: AuthOrConfig,
  options: GuardOptions,
  { ask, decide, check, admit = (core, found) => core.tasks.admit(found) }: GuardRules<A>,
): RequestHandler {
  const { core } = internalsOf(authOrConfig);
  const { accept, onError, touch = true } = checked(name, options, core);
  const find = (req: Request, res: Response) =>
    touch ? decide(core, req, res) : untouched(req, () => decide(core, req, res));
  return async (req, res, next) => {
    const startedAt = performance.now();
    // An earlier guard, even of another Auth, might have set `req.auth`. Only the last guard's result counts.
    setAuthentication(core, req, null, null);
    try {
      const asked = ask?.(req);
      const found = await (asked ? readAlongside(req, asked, () => find(req, res)) : find(req, res));
      const authentication = found && admit(core, found);
      if (authentication && accept && !accept.includes(authentication.via))
        throw notAccepted(core, authentication, accept);
      // Only an asynchronous rule costs a promise.
      const checking = check?.(core, authentication, asked);
      const admitted = (checking instanceof Promise ? await checking : checking) ?? authentication;
      if (admitted) setAuthentication(core, req, admitted, permitsOf(core, admitted));
    } catch (error) {
      if (!onError || !(error instanceof AuthError)) {
        // If the guard does not accept the cookie, no page could help a browser.
        const isForBrowsers = !accept || accept.includes('cookie');
        try {
          if (error instanceof AuthError && isForBrowsers && (await answerBrowser(core, error, req, res)))
            return;
          await core.languages.ready();
          answerError(core, error, res, next, startedAt);
        } catch (thrown) {
          next(forExpress(thrown));
        }
        return;
      }
      try {
        // Await the function, because Express 4 does not handle rejections.
        await onError(error, req, res, next);
      } catch (thrown) {
        next(forExpress(thrown));
      }
      return;
    }
    next();
  };
}

/** Authenticates a request without counting it as activity of its session. Later guards can count it. */
async function untouched<T>(req: PlainRequest, decide: () => Promise<T>): Promise<T> {
  req[UNTOUCHED] = true;
  try {
    return await decide();
  } finally {
    delete req[UNTOUCHED];
  }
}

/** Responds to a browser with a page, or with a redirect to a page. @returns false if the request gets a problem */
async function answerBrowser(core: Core, error: AuthError, req: Request, res: Response): Promise<boolean> {
  if (await core.pages?.answer(error, req, res)) return true;
  const task = pageOfTask(core, error, req);
  if (task) sendTo(task, res);
  return task !== null;
}

/** Returns the page of the task that made a guard reject the request, for a browser that opens another page. */
function pageOfTask(core: Core, error: unknown, req: Request): string | null {
  if (!(error instanceof AuthError) || error.task === undefined) return null;
  const opensPage = !isUnsafe(req.method) && isNavigation(req);
  const page = opensPage ? core.tasks.pageOf(error.task) : null;
  // If the guard of the task's page does not name the task, the page would redirect to itself forever.
  const isThere =
    page !== null &&
    new URL(page, 'http://x').pathname === core.settings.publicPath + req.originalUrl.split('?')[0];
  return isThere ? null : page;
}

function sendTo(page: string, res: Response): void {
  protect(res);
  res.statusCode = 303;
  res.setHeader('Location', page);
  res.end();
}

function notAccepted(core: Core, { via }: Authentication, accept: readonly Via[]): AuthError {
  const carrier = core.carriers.find((one) => one.via === via);
  if (!carrier?.presentsSession) return new AuthError('session_required');
  return new AuthError('unauthenticated', {
    detail: `Sign in by ${accept.join(' or ')}: this route accepts no other credential.`,
  });
}

function checked(name: string, { onError, accept, touch }: GuardOptions, core: Core): GuardOptions {
  if (onError !== undefined && typeof onError !== 'function') {
    throw new TypeError(`latchkey: ${name}'s onError must be a function`);
  }
  if (accept !== undefined) checkAccept(name, accept, core);
  if (touch !== undefined && typeof touch !== 'boolean') {
    throw new TypeError(`latchkey: ${name}'s touch must be true or false`);
  }
  return { ...(onError && { onError }), ...(accept && { accept }), ...(touch === false && { touch }) };
}

/** Rejects options that no request could satisfy. */
function checkAccept(name: string, accept: unknown, { carriers }: Core): void {
  const on = carriers.map(({ via }) => via);
  const vias: readonly string[] = ['cookie', ...switchesOfVias.keys()];
  if (!Array.isArray(accept) || accept.length === 0 || !accept.every((via) => vias.includes(via))) {
    throw new TypeError(`latchkey: ${name}'s accept must list one or more of ${vias.join(', ')}`);
  }
  if (accept.some((via) => on.includes(via))) return;
  const off = [...new Set(accept)];
  throw new TypeError(
    `latchkey: ${name} accepts only ${off.join(' and ')}, which ${off.length > 1 ? 'are' : 'is'} not enabled: ${off.map((via) => switchesOfVias.get(via)).join(', or ')}`,
  );
}
