import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { clientAddress } from '../context/address.js';
import type { Client } from '../context/call.js';
import type { Core } from '../core/core.js';
import { DEADLINE_MS } from '../database/turn.js';
import { AuthError, checkTogether } from '../errors.js';
import { isNavigation, isUnsafe, requireOwnOrigin } from '../sessions/origin.js';
import type { Authentication } from '../sessions/request.js';
import { isPending } from '../sessions/signed-in.js';
import { performance } from '../timers.js';
import {
  presentsOtherSession,
  readAlongside,
  requireAdministrator,
  requireAuthentication,
  requireOwnSession,
  sessionOrNone,
} from './admit.js';
import { underAuthority } from './authority.js';
import {
  checkParameters,
  isEmpty,
  isForm,
  nothing,
  queryOf,
  readBody,
  readForm,
  readFormPost,
  validate,
  validateWhole,
} from './body.js';
import { keepRefused } from './form-values.js';
import { bodyOfForm, emptiedIn, FormPages, type Pair, requireOnce, textsOf } from './forms.js';
import { answerError, answerPage, protect, redirectError } from './problem.js';
import { respond } from './respond.js';
import { type Access, type Call, type Reply, type Route, takesForms } from './route.js';
import { requireRecent, requireRecentOrPassword } from './sensitive.js';

const FORMS_ONLY =
  'This path is for HTML forms: send the body as application/x-www-form-urlencoded in UTF-8.';

/** Creates the Express handler of a route. It authenticates, validates, handles and responds. */
export function endpoint(core: Core, route: Route): RequestHandler {
  const hasForms = takesForms(core.settings, route);
  return async (req: Request, res: Response, next: NextFunction) => {
    const startedAt = performance.now();
    const pages = hasForms && isForm(req) && !isEmptyCall(req) ? new FormPages(core, route, req) : null;
    try {
      protect(res);
      const work = () => handle(core, route, req, res, pages);
      const reply = await core.context.forRequest(clientOf(core, req), DEADLINE_MS, work);
      respond(core, route, pages && !isFile(route, reply) ? pages.redirect(reply) : reply, res);
    } catch (error) {
      const isAnswered = pages !== null && refuseForm(core, pages, error, res, startedAt);
      if (!isAnswered && !(await leadBack(core, route, error, req, res)))
        answerError(core, error, res, next, startedAt);
    }
  };
}

/**
 * Responds with a page to a browser that has followed a link to a route, such as the link to a provider.
 *
 * @returns whether it has responded. Otherwise, the response is the problem
 */
async function leadBack(
  core: Core,
  { method, answers }: Route,
  error: unknown,
  req: Request,
  res: Response,
): Promise<boolean> {
  const isLink = method === 'get' && (302 in answers || 303 in answers);
  if (!isLink || !core.pages || !(error instanceof AuthError) || res.headersSent) return false;
  return core.pages.answer(error, req, res, queryOf(req).get('callback_url'));
}

/** Whether a browser saves the body of a reply, so that a form stays on its page. */
export function isFile({ answers }: Route, { status }: Reply): boolean {
  return answers[status]?.file !== undefined;
}

/**
 * Responds to the error of a form with a redirect to the page that shows it. The page gets the typed values. If there
 * is no such page, a browser gets a small page of latchkey's, and a program gets the problem.
 *
 * @returns whether it has responded. Otherwise, the response is the problem
 */
function refuseForm(
  core: Core,
  pages: FormPages,
  error: unknown,
  res: Response & { readonly req: Request },
  startedAt: number,
): boolean {
  const page = pages.pageFor(error);
  if (!(error instanceof AuthError) || res.headersSent) return false;
  if (page === null && !isNavigation(res.req)) return false;
  if (page === null) answerPage(core, error, res, startedAt);
  else {
    keepRefused(core, error, page, pages.typed, res);
    redirectError(core, error, page, res, startedAt);
  }
  return true;
}

/**
 * Whether a program sends an empty body. Some HTTP clients, such as axios in Node, label an empty body as a form, but
 * cannot follow a redirect to a page.
 */
function isEmptyCall(req: Request): boolean {
  return isEmpty(req) && req.accepts(['html', 'json']) === 'json';
}

/** Creates the handler for a known path with an unsupported method. */
export function methodNotAllowed(core: Core, allowed: readonly string[]): RequestHandler {
  return (_req, res, next) => {
    res.setHeader('Allow', allowed.join(', '));
    answerError(core, new AuthError('method_not_allowed'), res, next);
  };
}

async function handle(
  core: Core,
  route: Route,
  req: Request,
  res: Response,
  pages: FormPages | null,
): Promise<Reply> {
  // Read the form first, so that every error leads to the page that the form names.
  return callRoute(core, route, req, res, pages ? pages.takeFrom(await readForm(req, res)) : null);
}

/**
 * Calls a route: authenticates, validates and handles a request.
 *
 * @param fields the fields of a form that was read already. Null to read the body as JSON
 * @param admit checks who calls the route, in addition to the route's own checks
 */
export async function callRoute(
  core: Core,
  route: Route,
  req: Request,
  res: Response,
  fields: readonly Pair[] | null,
  admit?: (authentication: Authentication | null) => void,
): Promise<Reply> {
  const params = req.params as Record<string, string>;
  const alongside = route.alongside?.(params);
  const authenticate = () => authenticationFor(core, route, req, res);
  let authentication = await (alongside ? readAlongside(req, alongside, authenticate) : authenticate());
  if (route.byCookieOnly && authentication?.via !== 'cookie') throw new AuthError('unauthenticated');
  admit?.(authentication);
  try {
    authentication = authentication && core.tasks.admit(authentication, route.openTo);
    requireRecent(core, route, authentication);
  } catch (error) {
    const reply = error instanceof AuthError ? route.whenNotRecent?.(error, req) : null;
    if (reply) return reply;
    throw error;
  }
  const query = await readParameters(route, req, res);
  const [ofBody, beside] = fields ? besideBody(route, fields) : [null];
  const body = await (ofBody ? readFields(route, ofBody) : readBodyOf(route, req, res));
  const call: Call<Access, unknown, unknown> = {
    auth: authentication as never,
    query,
    body: await requireRecentOrPassword(core, route, authentication, { body, params }),
    params,
    req,
    ...(alongside && { alongside }),
    ...(beside && { formFields: beside }),
  };
  const reply = await underAuthority(core, route, call, () => route.handle(call)).catch((error) => {
    throw isAboutOwnAccount(route, error) ? new AuthError('invalid_session') : error;
  });
  if (reply.issue && !isPending(reply.issue)) await core.afterSignInOrOut(reply.issue, req, res);
  else if (reply.clearCookie && hasSignedOut(core, route, req, authentication))
    await core.afterSignInOrOut(null, req, res);
  return reply;
}

/** Whether the account of the request was deleted meanwhile, with all its sessions. */
function isAboutOwnAccount({ access, problems = [] }: Route, error: unknown): boolean {
  const isOwn = (access === 'session' || access === 'authenticated') && !problems.includes('user_not_found');
  return isOwn && error instanceof AuthError && error.code === 'user_not_found';
}

/**
 * Whether a browser has signed out, perhaps after its session had ended. A client that signs out with another credential
 * keeps the cookies that it has.
 */
function hasSignedOut(
  core: Core,
  { access }: Route,
  req: Request,
  authentication: Authentication | null,
): boolean {
  if (authentication) return authentication.via === 'cookie';
  return access === 'session-or-none' && !presentsOtherSession(core, req);
}

async function authenticationFor(
  core: Core,
  route: Route,
  req: Request,
  res: Response,
): Promise<Authentication | null> {
  const acting = route.openToActing ? 'write' : false;
  switch (route.access) {
    case 'public':
      if (isUnsafe(req.method) && !route.fromOtherSites) requireOwnOrigin(req, core.settings);
      return null;
    case 'authenticated':
      return requireAuthentication(core, req, res, acting);
    case 'session':
      return requireOwnSession(core, req, res, acting);
    case 'session-or-none':
      return sessionOrNone(core, req, res, acting);
    case 'admin':
      return requireAdministrator(core, req, res);
  }
}

/**
 * Separates the fields of a form's body from the fields that only forms have.
 *
 * @throws AuthError `validation_failed` if one of these is sent twice
 */
function besideBody(
  { formFields = {} }: Route,
  fields: readonly Pair[],
): [ofBody: readonly Pair[], beside?: ReadonlyMap<string, string>] {
  const isBeside = ([name]: Pair) => Object.hasOwn(formFields, name);
  const beside = fields.filter(isBeside);
  if (beside.length === 0) return [fields];
  requireOnce(beside);
  return [fields.filter((pair) => !isBeside(pair)), textsOf(beside)];
}

async function readFields(route: Route, fields: readonly Pair[]): Promise<unknown> {
  const { method, body = nothing } = route;
  if (method !== 'patch') return validateWhole(bodyOfForm(fields, body), route);
  // Only forms of pages are sent to a PATCH route. They contain the current values, so the user has cleared empty
  // fields.
  const emptied = emptiedIn(fields, body);
  const values = bodyOfForm(fields, body, true);
  let whole: unknown;
  checkTogether(
    () => {
      if (emptied.length > 0) throw new AuthError('validation_failed', { errors: emptied });
    },
    () => {
      whole = validate(values, body);
    },
  );
  return whole;
}

async function readBodyOf(route: Route, req: Request, res: Response): Promise<unknown> {
  if (route.forms === 'only') throw new AuthError('unsupported_media_type', { detail: FORMS_ONLY });
  if (route.body) return readBody(req, res, route);
  if (isUnsafe(req.method) && !route.formPost) await readBody(req, res, {});
  return undefined;
}

async function readParameters(route: Route, req: Request, res: Response): Promise<unknown> {
  if (route.formPost) return checkParameters(await readFormPost(req, res), route.formPost);
  return route.query ? checkParameters(queryOf(req), route.query) : undefined;
}

/** Returns the client that sent a request. */
export function clientOf(core: Core, req: Request): Client {
  if (req.headers['x-forwarded-for'] !== undefined && !req.app.get('trust proxy')) warnOfProxy(core);
  // `req.ip` follows the app's `trust proxy` setting.
  const ip = req.ip === undefined ? null : clientAddress(req.ip);
  return { ip, userAgent: req.headers['user-agent'] ?? null, request: req };
}

const warned = new WeakSet<Core>();

/** Warns once that all clients behind a proxy share the limits of one address if the app does not trust the proxy. */
function warnOfProxy(core: Core): void {
  if (warned.has(core) || !core.limiter.countsAddresses) return;
  warned.add(core);
  core.settings.log.warn(
    'proxy.not_trusted',
    'requests have an X-Forwarded-For header, but the app trusts no proxy, so rate limits count all ' +
      "clients behind a proxy as one. If the app is behind a proxy, set for example app.set('trust proxy', 1)",
    { cause: null },
  );
}
