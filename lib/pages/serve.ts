import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import * as z from 'zod';
import { createToken } from '../crypto/token.js';
import { DEADLINE_MS } from '../database/turn.js';
import { AuthError, invalidField } from '../errors.js';
import { type Html, html, isHtml } from '../html.js';
import {
  authenticateIfPossible,
  isOfDeadCookie,
  readAlongside,
  requireAdministrator,
  requireOwnSession,
} from '../http/admit.js';
import { HUMAN_FIELD } from '../http/ask-human.js';
import { queryOf, readForm } from '../http/body.js';
import { withError } from '../http/callback-url.js';
import { callRoute, clientOf, isFile, methodNotAllowed } from '../http/endpoint.js';
import { type Pair, requireOnce, textsOf, withUnchecked } from '../http/forms.js';
import { nameRoute } from '../http/name-route.js';
import { forExpress, startError } from '../http/problem.js';
import { respond, setReplyCookies } from '../http/respond.js';
import type { Reply, Route } from '../http/route.js';
import { say } from '../phrases.js';
import { isAmbiguous, sessionOf } from '../sessions/carriers.js';
import type { Alongside } from '../sessions/lookup.js';
import { isNavigation, requireOwnOrigin } from '../sessions/origin.js';
import { type Authentication, isSession, type SessionAuthentication } from '../sessions/request.js';
import { isPending } from '../sessions/signed-in.js';
import { fieldsShownAgain } from '../shown-again.js';
import { performance } from '../timers.js';
import { en, type Words, wordsIn } from '../words/pages/index.js';
import { isConfirmed } from './account/proof.js';
import type { Assets } from './assets.js';
import { FOR_USER, formsIn, hidden, labelOf } from './controls.js';
import { methodsOf } from './entrance/second-factor.js';
import { explain } from './errors.js';
import { policyWith } from './human.js';
import { documentOf, headOf, type Loaded, mainOf, titleOf, wordsForScripts } from './layout.js';
import type { Note } from './notes.js';
import { Leave, type Page, type PageForm, type SharedForm, type View, type Visit } from './page.js';
import { pathOf } from './page-cookies.js';
import { providerIds, providerName } from './providers.js';
import { type Refused, type Resumed, SESSION_OVER, type Site } from './site.js';
import type { CommonValues, ErrorValues, RenderedPage } from './values.js';

/**
 * The policy of every page. No page needs an exception, because none has an inline script or style. Pages with a human
 * check can also load it: see {@link policyWith}.
 */
export const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
  "form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** The field that a form with {@link PageForm.confirmation} has. */
const CONFIRMATION = 'confirmation';

/** The page that confirms who the user is. */
const CONFIRMING = 'reauthenticate';

/** The header that a script sends with a form, to get an address instead of a redirect. */
const BY_SCRIPT = 'latchkey-form';

/** The maximum number of characters that are kept in a cookie when a form was rejected. */
const MAX_NOTE = 1000;

/** The maximum length of an email (RFC 3696, erratum 1690). */
const MAX_EMAIL = 320;

type Handle = (req: Request, res: Response) => Promise<void>;

/** A request that was rejected. */
interface Rejected {
  /** Whether the browser opens a page, and does not send a form. */
  readonly opens: boolean;
  /** Where the user continues once they have access. */
  readonly returnTo: string;
  /** The page with the link that the browser has followed, which can show the error. @default none */
  readonly from?: string | null;
  /** When the request started, by `performance.now()`, for the log. */
  readonly startedAt?: number;
}

/** What the page about a rejected request says in addition to the error. */
interface Refusal {
  readonly startedAt?: number | undefined;
  /** The page where the user can get access, after which the form must be filled in again. @default none */
  readonly way?: string | null;
  /** The account that has no access. @default not named */
  readonly account?: string | null;
  /** The page for the administrator who acts as a user, after the next sign-in. @default no one acts */
  readonly afterActing?: string | null;
}

/** A form whose route needs a recent sign-in, as it was sent. */
interface Pressed extends Pick<Visit, 'auth' | 'returnTo'> {
  readonly page: Page;
  readonly form: PageForm;
  readonly typed: ReadonlyMap<string, string>;
}

/** A request for a page. `returnTo` is the address as the client has sent it. */
interface Asked extends Pick<Visit, 'req' | 'res' | 'auth' | 'refused'> {
  readonly returnTo: string | null | undefined;
}

/** Serves pages and their forms. */
export class PageServer {
  readonly #site: Site;
  readonly #pages: readonly Page[];
  readonly #assets: Assets;
  /** The words of each language, and those for scripts. */
  readonly #words = new Map<string, { readonly words: Words; readonly forScripts: Html }>();
  /** What was read together with a session. */
  readonly #alongside = new WeakMap<SessionAuthentication, Alongside>();

  constructor(site: Site, pages: readonly Page[], assets: Assets) {
    this.#site = site;
    this.#pages = pages;
    this.#assets = assets;
  }

  /** Returns the words in the language of a request. */
  #wordsFor(req: Request): Words {
    return this.#wordsIn(this.#site.core.languages.of(req)).words;
  }

  #wordsIn(tag: string) {
    const { languages } = this.#site.core;
    const known = this.#words.get(tag);
    if (known) return known;
    const catalogue = languages.loaded('pages', tag) ?? en;
    const words = wordsIn(languages.scriptOf(tag), catalogue, languages.textsIn(tag));
    const made = { words, forScripts: wordsForScripts(words) };
    this.#words.set(tag, made);
    return made;
  }

  /** Creates the handler of all pages, which passes other paths on. */
  router(): Router {
    const router = express.Router();
    const { core } = this.#site;
    router.get('/assets/:file', (req, res, next) => this.#assets.send(req.params.file ?? '', req, res, next));
    for (const page of this.#pages) {
      const shown = router.route(page.path);
      nameRoute(core, shown, page.path);
      shown.get(this.#guarded((req, res) => this.#show(page, req, res)));
      const ofRoutes = this.#site.methodsAt(page.path);
      const allowed = ['GET', 'HEAD', ...ofRoutes];
      // Programs call the routes, so they get a problem instead of a page.
      const refuse =
        ofRoutes.length > 0 ? methodNotAllowed(this.#site.core, allowed) : this.#notAllowed(allowed);
      shown.all((req, res, next) => (ofRoutes.includes(req.method) ? next() : refuse(req, res, next)));
      for (const form of page.forms) {
        const declared = `${form.below ?? page.path}/${form.name}`;
        const path = router.route(declared);
        nameRoute(core, path, declared);
        path.post(this.#guarded((req, res) => this.#send(page, form, req, res), page));
        // A browser requests the address of a form with GET if the user reloads or edits it.
        path.get((req, res) => this.#leave(this.#pageAgain(page, req), res));
        path.all(this.#notAllowed(['GET', 'HEAD', 'POST']));
      }
    }
    return router;
  }

  #notAllowed(methods: readonly string[]): RequestHandler {
    return (_req, res) => {
      res.setHeader('Allow', methods.join(', '));
      this.refuse(new AuthError('method_not_allowed'), res);
    };
  }

  /** Returns the page of a form, with the token of the link that opened it. */
  #pageOf(page: Page, req: Request, returnTo: string | null = null): string {
    const token = queryOf(req).get('token');
    return this.#site.page(page.name, {
      returnTo,
      params: req.params as Record<string, string>,
      query: token ? { token } : {},
    });
  }

  /** Returns the page of a form that was rejected, with the `return_to` that the form had. */
  #pageAgain(page: Page, req: Request): string {
    const { notes } = this.#site;
    return this.#pageOf(page, req, notes.of(req, pathOf(this.#pageOf(page, req))).returnTo);
  }

  /**
   * Responds to a browser that a guard of the app or a route has rejected: redirects it to the page where the user can get
   * access, or shows why it was rejected.
   *
   * @param from the page with the link that the browser has followed. Null for a page that was opened itself
   * @returns false unless a browser opens a page or sends a form
   */
  async answerGuard(
    error: AuthError,
    req: Request,
    res: Response,
    from: string | null = null,
  ): Promise<boolean> {
    const { headers, method } = req;
    await this.#site.core.languages.ready();
    if (headers['hx-request'] !== undefined) return this.#answerHtmx(error, req, res);
    const destination = headers['sec-fetch-dest'];
    const isDocument = isNavigation(req) && (destination === undefined || destination === 'document');
    // Only a program presents these credentials.
    if (!isDocument || presentsCredential(headers.authorization) || this.#hasKey(req)) return false;
    await this.#lead(error, req, res, {
      opens: method === 'GET' || method === 'HEAD',
      returnTo: from ?? this.#site.here(req),
      from,
    });
    return true;
  }

  /**
   * Redirects a browser to the page where the user can get access. Shows the error if there is no such page, or for a
   * form.
   */
  async #lead(
    error: AuthError,
    req: Request,
    res: Response,
    { opens, returnTo, from = null, startedAt }: Rejected,
  ): Promise<void> {
    try {
      const to = await this.#wayFor(req, res, error, returnTo);
      if (to === null && from !== null && this.#site.pageAt(from)) {
        startError(this.#site.core, error, 303, res, startedAt);
        this.leaveError(error.code, from, res, null);
        this.#leave(withError(from, error.code), res);
        return;
      }
      // A page that redirects to itself would loop.
      if (!opens || to === null || pathOf(to) === pathOf(this.#site.here(req)))
        this.refuse(error, res, {
          startedAt,
          way: opens ? null : to,
          account: await this.#nameFor(error, req, res),
          afterActing: await this.#afterActing(error, req, res),
        });
      else this.#leave(to, res);
    } catch (thrown) {
      if (!(thrown instanceof AuthError)) throw thrown;
      this.refuse(thrown, res, { startedAt });
    }
  }

  /** Whether a request has the header of a credential other than the cookie, such as an API key. */
  #hasKey({ headers }: Request): boolean {
    return this.#site.core.carriers.some(
      ({ securityScheme: { in: place, name = '' } }) =>
        place === 'header' && headers[name.toLowerCase()] !== undefined,
    );
  }

  async #answerHtmx(error: AuthError, req: Request, res: Response): Promise<boolean> {
    const current = String(req.headers['hx-current-url'] ?? '');
    const { pathname = '', search = '' } = URL.canParse(current) ? new URL(current) : {};
    const to = await this.#wayFor(req, res, error, pathname + search);
    if (to === null) return false;
    startError(this.#site.core, error, error.status, res);
    res.setHeader('HX-Redirect', to);
    this.#end(res, '');
    return true;
  }

  /** Returns the page that a browser is redirected to, after the call that rejected it has ended. */
  #wayFor(req: Request, res: Response, error: AuthError, here: string): Promise<string | null> {
    const { core } = this.#site;
    return core.context.forRequest(clientOf(core, req), DEADLINE_MS, () =>
      this.#wayWithin(req, res, error, here),
    );
  }

  async #wayWithin(req: Request, res: Response, error: AuthError, here: string): Promise<string | null> {
    if (error.code !== 'second_factor_required') {
      const way = await this.#wayTo(error, here);
      const isOver = isOfDeadCookie(this.#site.core, req, error) && !isAmbiguous(error);
      if (way !== null && isOver && this.#site.pageAt(way)) this.#site.notes.leave(res, way, { isOver });
      return way;
    }
    if (await this.#canStepUp(req, res)) {
      const way = await this.#wayTo(error, here);
      if (way !== null) this.#site.notes.leave(res, way, { needsFactor: true });
      return way;
    }
    const done = 'second-factor-needed';
    const to = this.#site.page('account/security', { done, returnTo: this.#site.returnTo(here) });
    this.#site.notes.leave(res, to, { done });
    return to;
  }

  /** Whether the user has a second factor or a passkey. A user without one must set one up first. */
  async #canStepUp(req: Request, res: Response): Promise<boolean> {
    const auth = await authenticateIfPossible(this.#site.core, req, res);
    if (!auth || !isSession(auth)) return true;
    const { methods } = await this.#site.reauthentications({
      auth,
      req,
      params: {},
      token: null,
      refused: null,
    });
    return methods.some((method) => method !== 'password' && method !== 'email_code');
  }

  async #wayTo(error: AuthError, here: string): Promise<string | null> {
    const to = this.#site.wayTo(error, here);
    const waits = error.code === 'unauthenticated' && this.#site.hasPage('second-factor');
    if (!waits || (await methodsOf(this.#site)).length === 0) return to;
    return this.#site.page('second-factor', { returnTo: this.#site.returnTo(here) });
  }

  /** Returns the account that has no access to a page of administrators. Null for other errors. */
  async #nameFor(error: AuthError, req: Request, res: Response): Promise<string | null> {
    const { core } = this.#site;
    if (error.code !== 'admin_required') return null;
    return core.context.forRequest(clientOf(core, req), DEADLINE_MS, async () => {
      const auth = await authenticateIfPossible(core, req, res);
      return auth && this.#site.nameOf(auth.user);
    });
  }

  /** Returns the page of the user as whom an administrator acts. Null for other errors. */
  async #afterActing(error: AuthError, req: Request, res: Response): Promise<string | null> {
    const { core } = this.#site;
    if (error.code !== 'acting_session' || !this.#site.hasPage(USER)) return null;
    return core.context.forRequest(clientOf(core, req), DEADLINE_MS, async () => {
      const auth = await authenticateIfPossible(core, req, res, 'write');
      return auth && this.#site.page(USER, { params: { id: auth.user.id } });
    });
  }

  /** Responds to a browser with a page that shows why its request was rejected. */
  refuse(
    error: AuthError,
    res: Response,
    { startedAt, way = null, account = null, afterActing = null }: Refusal = {},
  ): void {
    startError(this.#site.core, error, error.status, res, startedAt);
    protectPage(res);
    const words = this.#wordsFor(res.req);
    const t = words.refusal;
    const explained = explain(this.#site, error, { page: 'refusal', form: null, here: null }, words);
    const values = this.#common(
      null,
      { auth: null, error: null, returnTo: null, done: null, joining: null },
      words,
    );
    const title = t.titlesOf[error.code] ?? t.titles[error.status] ?? words.errorHeading;
    const fields = Object.entries(explained.fields);
    const text = [account && t.signedInAs(account), explained.detail, way && t.notSaved]
      .filter((sentence) => sentence)
      .join(' ');
    const list = this.#listFor(error);
    const view: View = {
      title,
      ...(list !== undefined && { up: { href: this.#site.page(list), name: words.names[list] ?? list } }),
      main: html`${text !== '' && html`<p>${text}</p>`}
${fields.length > 0 && html`<ul>${fields.map(([name, text]) => html`<li>${words.labeled(words.ofApp(labelOf(name)), text)}</li>`)}</ul>`}
${way !== null && html`<p><a href="${way}" data-part="button">${words.steps[error.status === 401 ? 'sign-in' : 'reauthenticate']}</a></p>`}<p><a href="${this.#site.home}" data-part="button secondary">${t.back(values.appName)}</a></p>${
        account !== null && html`<p><a href="${this.#site.page('sign-out')}">${t.other}</a></p>`
      }${
        error.code === 'acting_session' &&
        html`<form method="post" action="${this.#site.page('sign-out')}/confirm">${
          afterActing !== null && hidden('return_to', afterActing)
        }<button type="submit" data-part="button primary">${t.stopActing}</button></form>`
      }`,
    };
    const loaded = this.#loaded([], words);
    const head = headOf(words.titleOf(title, values.appName), loaded, null, false);
    this.#end(
      res,
      String(
        documentOf(
          { ...values, page: 'refusal' },
          { head, main: mainOf({ ...values, page: 'refusal' }, view, words) },
          loaded,
          words,
        ),
      ),
    );
  }

  /** Returns the page that lists what a page would show that does not exist. */
  #listFor({ code }: AuthError): string | undefined {
    const lists: Readonly<Record<string, string>> = {
      user_not_found: USERS,
      organization_not_found: 'account/organizations',
    };
    const name = lists[code];
    return name !== undefined && this.#site.hasPage(name) ? name : undefined;
  }

  /** @param page the page of a form, whose own address cannot be returned to */
  #guarded(handle: Handle, page: Page | null = null) {
    return async (req: Request, res: Response, next: NextFunction): Promise<void> => {
      const startedAt = performance.now();
      const { core } = this.#site;
      try {
        await core.context.forRequest(clientOf(core, req), DEADLINE_MS, () => handle(req, res));
      } catch (error) {
        if (res.headersSent || !(error instanceof AuthError)) next(forExpress(error));
        else
          await this.#turnAway(error, req, res, startedAt, page).catch((thrown) => next(forExpress(thrown)));
      }
    };
  }

  /** Redirects a browser that opens a page to the page where the user can get access. */
  async #turnAway(
    error: AuthError,
    req: Request,
    res: Response,
    startedAt: number,
    page: Page | null,
  ): Promise<void> {
    const here = page ? this.#pageOf(page, req) : this.#site.here(req);
    // If users cannot return to this page, pass on its own `return_to`.
    const returnTo = this.#site.returnTo(here) ?? queryOf(req).get('return_to') ?? here;
    await this.#lead(error, req, res, { opens: page === null, returnTo, startedAt });
  }

  async #show(page: Page, req: Request, res: Response): Promise<void> {
    const auth = await this.#authenticate(page, req, res);
    const returnTo = queryOf(req).get('return_to');
    const visit = this.#visit(page, { req, res, auth, returnTo, refused: null });
    if (page.name === CONFIRMING && auth)
      this.#site.cookies.dropPressExceptOf(visit.returnTo, req, res, auth.session.id);
    await this.#render(page, visit, 200);
  }

  async #send(page: Page, form: PageForm, req: Request, res: Response): Promise<void> {
    // Another site must not put words into the form of a page.
    requireOwnOrigin(req, this.#site.core.settings);
    const { within } = form;
    const shown = within ? page.forms.find(({ name }) => name === within.form) : form;
    const sentPairs = withUnchecked(await readForm(req, res), shown?.route.body ?? NO_BODY);
    const pairs = within ? fieldsWithin(within, form.route, sentPairs) : sentPairs;
    const fields = textsOf(pairs, form.route.body);
    const returnTo = this.#site.returnTo(fields.get('return_to'));
    // A button of a form can call a route that asks for a person, and another button one that does not.
    const unasked = form.route.formFields ? [] : [HUMAN_FIELD];
    const translated = Object.entries(form.translate?.(fields, this.#site) ?? {});
    const own = [
      ...['return_to', FOR_USER, ...unasked, ...ownFieldsOf(form)],
      ...translated.map(([name]) => name),
    ];
    const given = [...pairs.filter(([name]) => !own.includes(name)), ...translated];
    let reply: Reply;
    try {
      const ofPage = pairs.filter(([name]) => own.includes(name));
      requireOnce(ofPage, form.route.body);
      await this.#requireConfirmation(page, form, fields, req, res);
      reply = await callRoute(this.#site.core, form.route, req, res, given, (auth) => {
        requireUser(auth, fields);
        form.check?.(fields, auth?.user ?? null);
      });
    } catch (thrown) {
      if (!(thrown instanceof AuthError) || thrown.status === 503 || thrown.code === 'origin_not_allowed')
        throw thrown;
      let error = thrown;
      // The password was right, so latchkey has just emailed another link.
      if (
        error.code === 'email_not_verified' &&
        page.kind === 'entrance' &&
        this.#site.hasPage('verify-email')
      ) {
        const to = this.#site.unverified(returnTo);
        this.#keepEmail(page, form, fields, res);
        const account = fields.get(form.account ?? '') ?? '';
        const email = account.includes('@') && account.length <= MAX_NOTE ? account : null;
        this.#site.notes.leave(res, to, { email, from: page.name });
        this.#goOn(to, req, res);
        return;
      }
      const auth = await this.#authenticate(page, req, res);
      error = (await form.restate?.(error, { auth })) ?? error;
      // What was typed for one account must not be one press away from another one.
      const isOfOther = auth !== null && error.errors?.[0]?.code === OTHER_ACCOUNT;
      const typed: ReadonlyMap<string, string> = isOfOther ? new Map() : keepable(form, fields, error);
      if (
        page.kind === 'account' &&
        (await this.#confirmFirst(error, { page, form, typed, returnTo, auth }, req, res))
      )
        return;
      const here = this.#site.returnTo(this.#pageOf(page, req)) ?? returnTo;
      const isByScript = req.headers[BY_SCRIPT] !== undefined;
      const sent = new Map([...fields, ...translated]);
      const where = { page: page.name, form, sent, isByScript, here };
      const words = this.#wordsFor(req);
      const found = explain(this.#site, error, where, words);
      const account = isOfOther ? this.#site.nameOf(auth.user) : null;
      const explained = account === null ? found : { ...found, fields: { '': words.otherAccount(account) } };
      const others = isOfOther ? [] : Object.entries(typedWithin(page, form, sentPairs)).filter(isText);
      const isUnplaced = explained.steps.length === 0 && Object.keys(explained.fields).length === 0;
      const refused: Refused = {
        form: within?.form ?? form.name,
        error,
        explained: within
          ? {
              ...explained,
              fields: Object.fromEntries(namedWithin(within, Object.entries(explained.fields))),
            }
          : explained,
        // One error stands beside its field. Several, and the next step after an error, stand together above the form.
        focuses: isUnplaced ? (form.focuses ?? null) : null,
        showsError:
          page.kind === 'account' ||
          (isUnplaced && form.focuses !== undefined) ||
          (explained.steps.length === 0 && Object.keys(explained.fields).length === 1),
        fields: within ? new Map([...others, ...namedWithin(within, [...typed])]) : typed,
        given: isOfOther ? [] : sentPairs.filter(([, text]) => text !== '').map(([name]) => name),
        token: fields.get('token') ?? null,
      };
      // Keep the policy of the page or the app, which `startError` replaces.
      const policy = res.getHeader('Content-Security-Policy');
      startError(this.#site.core, error, error.status, res);
      if (policy === undefined) res.removeHeader('Content-Security-Policy');
      else res.setHeader('Content-Security-Policy', policy);
      this.#keepReturnTo(page, returnTo, req, res);
      if (!form.emailsNewAddress) this.#keepEmail(page, form, fields, res);
      await this.#render(
        page,
        this.#visit(page, { req, res, auth, returnTo: fields.get('return_to'), refused }),
        error.status,
      );
      return;
    }
    if (isFile(form.route, reply)) {
      protectPage(res);
      respond(this.#site.core, form.route, reply, res);
      return;
    }
    setReplyCookies(this.#site.core, reply, res);
    for (const [name, value] of Object.entries(reply.headers ?? {})) res.appendHeader(name, value);
    const sent = {
      site: this.#site,
      req,
      reply,
      returnTo,
      fields,
      params: req.params as Record<string, string>,
    };
    const to = this.#nextOf(form, reply, sent);
    const once = form.showOnce?.(reply);
    if (once !== undefined) await this.#keepOnce(req, res, reply, to, once);
    if (page.name === CONFIRMING) {
      const session = await this.#sessionAfter(req, reply);
      // Another tab might have kept the press since the page was opened.
      if (session) this.#site.cookies.dropPressExceptOf(returnTo, req, res, session.id);
    }
    if (form.remembers !== undefined) this.#site.cookies.setWay(res, form.remembers);
    if (form.keepsReturnTo) this.#site.cookies.setReturnTo(res, returnTo);
    // Who has signed in needs no field filled in.
    if (!reply.issue || isPending(reply.issue)) this.#keepEmail(page, form, fields, res);
    const done = new URL(to, 'http://relative.invalid').searchParams.get('done');
    const email = fields.get(form.emails ?? '') || fields.get(form.names ?? '') || null;
    const isRemembered = fields.get('remember_me') === 'true';
    if (done !== null || email !== null) {
      const typed = this.#typedFor(page, form, sentPairs, { req, to });
      const from = this.#fromOf(page, { req, to });
      this.#site.notes.leave(res, to, { done, email, isRemembered, typed, from });
    }
    this.#goOn(to, req, res);
  }

  /**
   * Leads a user whose session is not recent to the page that makes it so, and back to what was typed. Only the user's own
   * press of a button gets here, so that no link can resume anything.
   *
   * @returns false if the error is another one, or the app has no such page
   */
  async #confirmFirst(
    error: AuthError,
    { page, form, typed, returnTo, auth }: Pressed,
    req: Request,
    res: Response,
  ): Promise<boolean> {
    const { code } = error;
    if (!auth || (code !== 'reauthentication_required' && code !== 'second_factor_required')) return false;
    const back = this.#pageOf(page, req, returnTo);
    const to = await this.#wayWithin(req, res, error, back);
    if (to === null) return false;
    const fields = Object.fromEntries(typed);
    this.#site.cookies.keepPress(res, back, auth.session.id, {
      action: pathOf(this.#site.here(req)),
      form: form.name,
      // Browsers and proxies reject large cookies.
      fields: JSON.stringify(fields).length > MAX_NOTE ? {} : fields,
    });
    startError(this.#site.core, error, 303, res);
    this.#goOn(to, req, res);
    return true;
  }

  /** Keeps `return_to` for a user who enters the address of a rejected form again, which is not the one of its page. */
  #keepReturnTo(page: Page, returnTo: string | null, req: Request, res: Response): void {
    // Browsers and proxies reject large cookies.
    if (returnTo === null || returnTo.length > MAX_NOTE) return;
    const { notes } = this.#site;
    const at = pathOf(this.#pageOf(page, req));
    notes.leave(res, at, { ...notes.of(req, at), returnTo });
  }

  /** Keeps the email that was typed for the other pages before a sign-in. Only a form of this origin gets here. */
  #keepEmail(
    page: Page,
    { account, emails }: PageForm,
    fields: ReadonlyMap<string, string>,
    res: Response,
  ): void {
    const email = fields.get(account ?? emails ?? '') ?? '';
    if (page.kind === 'entrance' && email.includes('@') && email.length <= MAX_EMAIL)
      this.#site.notes.keepEmail(res, email);
  }

  /** Returns the page that has led to the next one. A form of that page itself does not change it. */
  #fromOf(page: Page, { req, to }: { readonly req: Request; readonly to: string }): string | null {
    const here = pathOf(this.#pageOf(page, req));
    return pathOf(to) === here ? (this.#site.notes.of(req, here).from ?? null) : page.name;
  }

  /** Returns what the next page gets of the fields that a form shares. A form of that page itself does not change it. */
  #typedFor(
    page: Page,
    form: PageForm,
    pairs: readonly Pair[],
    { req, to }: { readonly req: Request; readonly to: string },
  ): NonNullable<Note['typed']> {
    const here = pathOf(this.#pageOf(page, req));
    if (pathOf(to) === here) return this.#site.notes.of(req, here).typed ?? {};
    const typed = typedWithin(page, form, pairs);
    // Browsers and proxies reject large cookies.
    if (JSON.stringify(typed).length <= MAX_NOTE) return typed;
    return Object.fromEntries(Object.keys(typed).map((name) => [name, null]));
  }

  /**
   * Requires that the user has typed what the form asks for, before anything is done that cannot be undone.
   *
   * @throws AuthError `validation_failed` for the field `confirmation`
   */
  async #requireConfirmation(
    page: Page,
    form: PageForm,
    fields: ReadonlyMap<string, string>,
    req: Request,
    res: Response,
  ): Promise<void> {
    if (!form.confirmation) return;
    const auth = await this.#authenticate(page, req, res);
    requireUser(auth, fields);
    const typed = fields.get(CONFIRMATION) ?? '';
    const visit = this.#visit(page, { req, res, auth, returnTo: null, refused: null });
    const expected = (await form.confirmation(visit)) ?? this.#wordsFor(req).confirmation.word;
    if (plain(typed) === plain(expected)) return;
    const code = plain(typed) === '' ? 'required' : 'not_confirmed';
    throw new AuthError('validation_failed', {
      errors: [{ pointer: `/${CONFIRMATION}`, code, detail: say('not-confirmed') }],
    });
  }

  /** Keeps a value that is shown once, for the session that can see it. */
  async #keepOnce(req: Request, res: Response, reply: Reply, to: string, once: unknown): Promise<void> {
    const session = await this.#sessionAfter(req, reply);
    if (session) this.#site.cookies.keep(res, to, session.id, once);
  }

  /** Returns the session of the browser after a form. Undefined if it has none. */
  async #sessionAfter(req: Request, { issue }: Reply) {
    if (issue && !isPending(issue)) return issue.session;
    return (await sessionOf(this.#site.core.carriers, req))?.session;
  }

  #nextOf(form: PageForm, { issue }: Reply, sent: Parameters<PageForm['next']>[0]): string {
    if (issue && isPending(issue)) return this.#site.page('second-factor', { returnTo: sent.returnTo });
    const to = form.next(sent);
    return issue?.passwordRemoved ? this.#site.passwordDropped(to) : to;
  }

  async #authenticate(page: Page, req: Request, res: Response): Promise<SessionAuthentication | null> {
    const alongside = page.alongside?.(req.params as Record<string, string>);
    const find = () => this.#find(page, req, res);
    const auth = await (alongside ? readAlongside(req, alongside, find) : find());
    if (auth && alongside) this.#alongside.set(auth, alongside);
    return auth;
  }

  async #find(page: Page, req: Request, res: Response): Promise<SessionAuthentication | null> {
    const { core } = this.#site;
    if (page.access === 'anyone') {
      const acting = page.openToActing ? 'write' : false;
      const found = await authenticateIfPossible(core, req, res, acting);
      return found && isSession(found) ? found : null;
    }
    const found = await (page.access === 'admin' ? requireAdministrator : requireOwnSession)(core, req, res);
    return core.tasks.admit(found, page.openTo);
  }

  #visit(page: Page, { req, res, auth, returnTo, refused }: Asked): Visit {
    const site = this.#site;
    const isShown = refused === null && req.method === 'GET';
    const query = queryOf(req);
    // A rejected form is shown with the note of its page.
    const note = site.notes.of(req, refused ? pathOf(this.#pageOf(page, req)) : undefined);
    const inAddress = site.notes.inAddress(req, query.get('sealed'), auth?.session.id ?? null);
    const done = query.get('done');
    const isMeant = note.done === done || inAddress.done === done;
    const said = isMeant ? done : null;
    const isOver = note.isOver === true && auth === null;
    const wanted =
      site.returnTo(returnTo) ?? (page.keepsReturnTo ? site.returnTo(site.cookies.returnTo(req)) : null);
    // The page asks the user to sign in and then to link the provider.
    const isToLink =
      page.kind === 'entrance' && note.error === ACCOUNT_EXISTS && query.get('error') === ACCOUNT_EXISTS;
    return {
      site,
      req,
      res,
      auth,
      ...(auth && { alongside: this.#alongside.get(auth) }),
      refused,
      query,
      params: req.params as Record<string, string>,
      token: (refused ? refused.token : queryOf(req).get('token')) || null,
      returnTo: isToLink ? site.linkedAccounts(wanted) : wanted,
      resumed: isShown && auth && page.kind === 'account' ? this.#resumed(page, req, res, auth) : null,
      shownOnce: isShown && auth ? this.#site.cookies.take(req, res, auth.session.id) : undefined,
      lastWay: this.#site.cookies.way(req),
      // A form, a script or a provider has led there with the message in the address.
      done: refused === null ? (said ?? (isOver ? SESSION_OVER : null)) : null,
      sentTo: inAddress.email ?? note.email ?? null,
      known: site.notes.emailOf(req),
      from: note.from ?? null,
      isRemembered: note.isRemembered ?? false,
      typed: note.typed ?? {},
    };
  }

  /** Returns the form of a page that the user has sent before confirming who it is. */
  #resumed(page: Page, req: Request, res: Response, auth: SessionAuthentication): Resumed | null {
    const press = this.#site.cookies.takePress(req, res, auth.session.id);
    const form = press && page.forms.find(({ name }) => name === press.form);
    if (!form) return null;
    if (!isConfirmed(this.#site, auth)) return { ...press, state: 'kept' };
    // What cannot be undone takes one more press, and so does a page that another site might have opened.
    const isOwn = req.headers['sec-fetch-site'] === 'same-origin';
    return { ...press, state: isOwn && !form.confirmation ? 'sent' : 'confirmed' };
  }

  /** Returns the error in the address of a page that a provider has led back to. */
  #errorIn(page: Page, { req, query, returnTo }: Visit): ErrorValues | null {
    const code = query.get('error');
    if (code === null || this.#site.notes.of(req).error !== code) return null;
    const error = errorNamed(code);
    const here = code === ACCOUNT_EXISTS ? returnTo : this.#site.here(req);
    const where = { page: page.name, form: null, here };
    const words = this.#wordsFor(req);
    const explained = error && explain(this.#site, error, where, words);
    const id = query.get('provider') ?? '';
    const atProvider = providerIds(this.#site).includes(id) && words.errorsAt[code];
    if (!explained || !atProvider) return explained;
    return { ...explained, detail: atProvider(providerName(this.#site, id), page.name) };
  }

  /** Leaves the error of a redirect for the page that it leads to, if it is one of latchkey's. */
  leaveError(code: string, to: string, res: Response, email: string | null): void {
    if (!this.#site.pageAt(to)) return;
    this.#site.notes.leave(res, to, { error: code });
    if (email !== null) this.#site.notes.keepEmail(res, email);
  }

  async #render(page: Page, visit: Visit, status: number): Promise<void> {
    const { site, req, res, refused, returnTo } = visit;
    const own = await site.core.database.together(async () => page.values(visit));
    if (own instanceof Leave) {
      if (own.way !== undefined) this.#site.cookies.setWay(res, own.way);
      this.#goOn(own.to, req, res);
      return;
    }
    const error = refused?.explained ?? this.#errorIn(page, visit);
    const done = error ? null : visit.done;
    const words = this.#wordsFor(req);
    const saysItself = error?.code === 'invalid_token' && saysInvalid(page, own);
    const values = {
      ...this.#common(
        page,
        { auth: visit.auth, error, returnTo, done, joining: this.#joiningOf(page, visit) },
        words,
      ),
      // A page with a token must not link to other origins, because they would learn that it was open.
      ...(visit.token !== null && { links: site.ownLinks }),
      ...own,
      ...(saysItself && { error: null }),
    };
    const view = { ...page.view(values, words), focusesHeading: saysItself };
    const isSaid = done !== null && (done === 'joined' || Object.hasOwn(words.done, done));
    // The pages before a sign-in depend on the message, so they keep it for a reload.
    if (isSaid && page.kind === 'account' && req.method === 'GET') site.notes.dropMessage(req, res);
    const render = site.settings.render;
    const nonce = render ? createToken('') : null;
    const human = site.core.humanCheck ? formsIn(own).find((form) => form.human)?.human : null;
    const policy = human ? policyWith(CSP, human) : CSP;
    const loaded = this.#loaded([...(view.scripts ?? []), ...(human ? ['human.js'] : [])], words);
    const title = titleOf(values, view, words);
    const main = mainOf(values, view, words);
    const headWith = (title: string) => headOf(title, loaded, nonce, visit.token !== null);
    const documentWith = (main: Html, ownTitle = title) =>
      documentOf(values, { head: headWith(ownTitle), main }, loaded, words);
    res.statusCode = status;
    if (render) {
      // A document of latchkey has the policy of the pages.
      const documents = new Set<string>();
      const rendered = {
        name: page.name,
        kind: page.kind,
        title,
        values,
        head: headWith(title),
        main,
        words,
        document(main, title) {
          const document = documentWith(main, title);
          documents.add(String(document));
          return document;
        },
        csp: policy,
        nonce,
      } as RenderedPage;
      protectPage(res, null);
      const document = await render(rendered, req, res);
      if (res.headersSent || res.writableEnded) return;
      requireDocument(document);
      if (document) {
        // A whole document of the app can load what the app's own policy allows.
        if (documents.has(String(document))) protectPage(res, policy);
        else if (!res.hasHeader('Content-Security-Policy'))
          res.setHeader('Content-Security-Policy', "frame-ancestors 'none'; base-uri 'none'");
        this.#end(res, isHtml(document) ? String(document) : document);
        return;
      }
    }
    protectPage(res, policy);
    this.#end(res, String(documentWith(main)));
  }

  #loaded(scripts: readonly string[], { lang }: Words): Loaded {
    const { settings } = this.#site;
    const asset = (name: string) => this.#site.url(`/assets/${this.#assets.fileOf(name)}`);
    return {
      styles: [asset('style.css'), asset('theme.css'), ...(settings.stylesheet ? [settings.stylesheet] : [])],
      scripts: ['form.js', ...scripts].map(asset),
      icon: asset('icon.svg'),
      logo: settings.theme.logo ?? null,
      words: this.#wordsIn(lang).forScripts,
    };
  }

  #common(
    page: Page | null,
    { auth, error, returnTo, done, joining }: Found,
    { lang, dir }: Words,
  ): CommonValues {
    const site = this.#site;
    const kind = page?.kind ?? 'entrance';
    const isAccount = kind === 'account' && auth !== null;
    return {
      page: page?.name ?? '',
      kind,
      appName: site.appName,
      home: site.home,
      lang,
      dir,
      links: site.settings.links,
      navigation: isAccount ? site.navigation(auth, page?.name ?? '') : [],
      signOut: isAccount ? site.page('sign-out') : null,
      account: auth && site.nameOf(auth.user),
      error,
      done,
      returnTo,
      joining,
    };
  }

  /** Returns the organization of the invitation that a user returns to. Only this browser has opened it. */
  #joiningOf({ kind, name }: Page, { req, returnTo }: Visit): string | null {
    const isOnTheWay =
      kind === 'entrance' && name !== 'join' && this.#site.pageAt(returnTo ?? '')?.name === 'join';
    return isOnTheWay ? (this.#site.cookies.invitation(req)?.organization ?? null) : null;
  }

  /**
   * Sends a browser to the next address, after a form or from the page that a form has redirected to. It does not
   * redirect to other origins, because Chrome checks every redirect after a form against `form-action`.
   */
  #goOn(to: string, req: Request, res: Response): void {
    protectPage(res);
    if (req.headers[BY_SCRIPT] !== undefined) {
      res.statusCode = 200;
      res.setHeader('Latchkey-Location', to);
      this.#end(res, '');
    } else if (to.startsWith('/')) this.#leave(to, res);
    else {
      res.statusCode = 200;
      const words = this.#wordsFor(req);
      this.#end(
        res,
        String(html`<!doctype html>
<html lang="${words.lang}" dir="${words.dir}">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${to}"><title>${words.continue}</title></head>
<body><p><a href="${to}">${words.continue}</a></p></body>
</html>
`),
      );
    }
  }

  #leave(to: string, res: Response): void {
    protectPage(res);
    res.statusCode = 303;
    res.setHeader('Location', to);
    res.end();
  }

  #end(res: Response, document: string): void {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end(res.req.method === 'HEAD' ? undefined : document);
  }
}

/**
 * Whether a header presents a credential of a program. Browsers send credentials of HTTP authentication by themselves.
 */
function presentsCredential(authorization: string | undefined): boolean {
  return authorization !== undefined && !/^(basic|digest|negotiate|ntlm)\b/i.test(authorization);
}

/** Whether a page itself says that its link is no longer valid, so that the error would only repeat it. */
function saysInvalid({ kind }: Page, own: object): boolean {
  return kind === 'entrance' && 'token' in own && own.token === null;
}

/** Returns a typed text without differences that users do not see, or do not mean. */
function plain(typed: string): string {
  return typed.normalize('NFKC').trim().toLowerCase();
}

/** @throws TypeError if the app has rendered something other than a document */
function requireDocument(document: unknown): void {
  if (document === undefined || document === null || typeof document === 'string' || isHtml(document)) return;
  throw new TypeError(
    `latchkey: pages: render returned ${typeof document === 'object' ? 'an object' : `a ${typeof document}`}: return the document as a string or html, or undefined`,
  );
}

interface Found {
  readonly auth: SessionAuthentication | null;
  readonly error: ErrorValues | null;
  readonly returnTo: string | null;
  readonly done: string | null;
  readonly joining: string | null;
}

/** Sets the headers of pages, and replaces those that the app has set. @param policy null to keep the app's policy */
function protectPage(res: Response, policy: string | null = CSP): void {
  if (policy !== null) res.setHeader('Content-Security-Policy', policy);
  res.setHeader('Referrer-Policy', 'same-origin');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  // No other window can keep a reference to a page (ASVS 5.0, 3.4.8).
  res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  res.setHeader('Cache-Control', 'no-store');
  res.vary('Accept, Accept-Language, Cookie');
}

/** Returns the fields of a form that was sent by a button of another one. It can also be sent with its own names. */
function fieldsWithin(
  { fields }: SharedForm,
  { formFields = {} }: Route,
  pairs: readonly Pair[],
): readonly Pair[] {
  const own = new Set([...Object.keys(fields), ...Object.keys(formFields), 'return_to']);
  const named = new Map(Object.entries(fields).map(([name, shared]) => [shared, name]));
  return pairs.flatMap(([name, value]): Pair[] => {
    const isOwn = own.has(name);
    const other = isOwn ? name : named.get(name);
    return other === undefined ? [] : [[other, value]];
  });
}

/** The error of a sign-in at a provider that is not linked to the account with its email. */
const ACCOUNT_EXISTS = 'account_exists';

/** The page that lists what a page for an unknown user would show. */
const USERS = 'administration/users';

/** The page of a user, for administrators. */
const USER = 'administration/users/user';

/** The code of a form that was shown to another account. */
const OTHER_ACCOUNT = 'other_account';

const NO_BODY = z.object({});

/** Returns what was typed in the fields that a shared form keeps. Null for a value that is secret. */
function typedWithin(
  { forms }: Page,
  { within }: PageForm,
  pairs: readonly Pair[],
): Readonly<Record<string, string | null>> {
  const body = within && forms.find(({ name }) => name === within.form)?.route.body;
  if (!within?.keeps || !body) return {};
  const shown = fieldsShownAgain(body);
  const typed = [...textsOf(pairs, body)].filter(
    ([name, text]) => text !== '' && within.keeps?.includes(name),
  );
  return Object.fromEntries(typed.map(([name, text]) => [name, shown.has(name) ? text : null]));
}

function isText(entry: [string, string | null]): entry is [string, string] {
  return entry[1] !== null;
}

/** Names what belongs to the fields of a route as the form does that shows them. */
function namedWithin<T>({ fields }: SharedForm, entries: readonly [string, T][]): [string, T][] {
  return entries.map(([name, value]) => [fields[name] ?? name, value]);
}

/** Returns the names of the fields that only the page reads. */
function ownFieldsOf({ ownFields = [], confirmation }: PageForm): readonly string[] {
  return confirmation ? [...ownFields, CONFIRMATION] : ownFields;
}

/** Returns the fields that are not secret, and those that the form sends along. Only these are sent back. */
function keepable(
  form: PageForm,
  fields: ReadonlyMap<string, string>,
  { code, errors = [] }: AuthError,
): ReadonlyMap<string, string> {
  const { route, sendsAlong = [] } = form;
  const areRight =
    code === 'validation_failed' && errors.every(({ pointer }) => !sendsAlong.includes(pointer.slice(1)));
  const shown = new Set([
    ...ownFieldsOf(form),
    ...(route.body ? fieldsShownAgain(route.body) : []),
    ...(areRight ? sendsAlong : []),
  ]);
  return new Map([...fields].filter(([name]) => shown.has(name)));
}

/**
 * Requires that a form was shown to the user who sends it, because another account might have signed in meanwhile, in
 * another tab.
 *
 * @throws AuthError `validation_failed`
 */
function requireUser(auth: Authentication | null, fields: ReadonlyMap<string, string>): void {
  const userId = fields.get(FOR_USER);
  if (auth && userId !== undefined && auth.user.id !== userId)
    throw invalidField('', OTHER_ACCOUNT, say('other-account'));
}

/** Returns the error with a code. Null if there is no such code. */
function errorNamed(code: string): AuthError | null {
  try {
    return new AuthError(code as never);
  } catch {
    return null;
  }
}
