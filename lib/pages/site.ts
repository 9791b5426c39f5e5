import type { Request } from 'express';
import { isOnlyOurs } from '../config/session.js';
import type { OrganizationsForPages } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { asksHuman } from '../http/ask-human.js';
import { checkParameters } from '../http/body.js';
import { checkCallbackUrl, withPasswordRemoved } from '../http/callback-url.js';
import type { Route } from '../http/route.js';
import { cookieValues } from '../sessions/carriers.js';
import type { Alongside } from '../sessions/lookup.js';
import type { SessionAuthentication } from '../sessions/request.js';
import type { User } from '../tables/core.js';
import type { Purpose } from '../verification/purposes.js';
import type { FoundToken } from '../verification/tokens.js';
import { Notes } from './notes.js';
import type { PagesSettings } from './options.js';
import { PageCookies, type Press } from './page-cookies.js';
import type { Found, Given, NamedRoute, RouteName } from './routes.js';
import type {
  ErrorValues,
  FormValues,
  HumanValues,
  LinkValues,
  MethodValues,
  PageKind,
  PageLinks,
  StepName,
} from './values.js';

/** No sign-in method: see {@link HumanValues.otherWays}. */
const NO_WAYS: HumanValues['otherWays'] = { password: false, email: false, providers: [] };

/** A form that was rejected. */
export interface Refused {
  readonly form: string;
  readonly error: AuthError;
  /** The error, for the user. */
  readonly explained: ErrorValues;
  /** Whether the form shows the error itself, because its page has several forms or the error is about one field. */
  readonly showsError: boolean;
  /** The field that has the focus, because the error is about none. Null if the error has it. */
  readonly focuses: string | null;
  readonly fields: ReadonlyMap<string, string>;
  /** The names of the fields that were filled in, as the form has sent them. */
  readonly given: readonly string[];
  readonly token: string | null;
}

/** A form that the user has sent before confirming who it is, on the page that the user has come back to. */
export interface Resumed extends Press {
  readonly state: NonNullable<FormValues['resumed']>;
}

/** A request for a page or a form. */
export interface Asking {
  readonly req: Request;
  readonly params: Readonly<Record<string, string>>;
  /** The session, on pages that need one or ask for it. */
  readonly auth: SessionAuthentication | null;
  /** The token of a link in an email: from the address or, if a form was rejected, from the form. */
  readonly token: string | null;
  /** The form that was rejected. Null for a GET. */
  readonly refused: Refused | null;
  /** The form that the user has come back to. @default none */
  readonly resumed?: Resumed | null;
  /** What `alongside` of the page has returned. @default nothing */
  readonly alongside?: Alongside | undefined;
}

/** The properties of a page that the site uses. */
export interface SitePage {
  readonly name: string;
  /** Its path below the mount path, with `:name` for parameters. */
  readonly path: string;
  readonly kind: PageKind;
  /** Who can open the page. With `anyone`, the page still gets the session if there is one. */
  readonly access: 'anyone' | 'session' | 'admin';
  /** Whether the navigation leads here. @default false */
  readonly inNavigation?: boolean;
  readonly forms: readonly { readonly name: string; readonly route: Route }[];
}

/** Parameters of a link to a page. */
export interface LinkParameters {
  readonly done?: string | undefined;
  readonly returnTo?: string | null | undefined;
  readonly params?: Readonly<Record<string, string>>;
  /** More parameters of the query. */
  readonly query?: Readonly<Record<string, string>>;
}

const RELATIVE = 'http://relative.invalid';
/**
 * What a page says after the deletion of an account that an email can restore.
 *
 * @internal
 */
export const RESTORABLE = 'account-restorable';

/** The message that a sign-in has removed the password, because it was the first proof of the mailbox. */
export const PASSWORD_DROPPED = 'password-dropped';
/** The message that a sign-in has created the account, because the email or the account at the provider had none. */
export const ACCOUNT_CREATED = 'account-created';
/** The message that the session of the browser has ended, on the page that a guard has led to. */
export const SESSION_OVER = 'session-over';
/** The names of the pages that users can return to: those of accounts, and the page of an invitation. */
const RETURNED_TO = /^(account|administration|join)\b/;

/** The pages of an Auth: their addresses, and the features that the app has enabled. */
export class Site {
  readonly #routes: ReadonlyMap<string, Route>;
  /** The values that pages keep in cookies. */
  readonly cookies: PageCookies;
  /** What requests leave for the next page. */
  readonly notes: Notes;
  #pages: readonly SitePage[] = [];

  constructor(
    readonly core: Core,
    readonly settings: PagesSettings,
    routes: readonly Route[],
  ) {
    this.cookies = new PageCookies(core);
    this.notes = new Notes(core);
    if (settings.home !== undefined && this.returnTo(settings.home) === null)
      throw new TypeError(
        'latchkey: pages: home must not be a route of latchkey or a page where users sign in: set it to a page of your app',
      );
    this.#routes = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  }

  /** All pages. They are set after the site was created, because they need it. */
  set pages(pages: readonly SitePage[]) {
    this.#pages = pages;
  }

  get pages(): readonly SitePage[] {
    return this.#pages;
  }

  /** The path of the mounted routes for URLs, as browsers see it. */
  get mount(): string {
    const { settings, basePath } = this.core;
    return settings.publicPath + basePath.use();
  }

  /** The app's name. */
  get appName(): string {
    return this.settings.appName;
  }

  /** The page that a user returns to if the request does not name one. */
  get home(): string {
    return this.settings.home ?? `${this.core.settings.publicPath}/`;
  }

  /** Returns the address of a request's page, as the browser sees it. */
  here(req: Request): string {
    return this.core.settings.publicPath + req.originalUrl;
  }

  /** Returns the name that pages show for a user. */
  nameOf({ email, username }: User): string | null {
    return email ?? (username as string | null | undefined) ?? null;
  }

  /** Returns the navigation of the account's pages. */
  navigation({ user }: SessionAuthentication, current: string): readonly LinkValues[] {
    const names = this.pages
      .filter(
        ({ inNavigation, access }) => inNavigation && (access !== 'admin' || this.core.isAdministrator(user)),
      )
      .map(({ name }) => name);
    // `account/sessions` is below `account`, but has its own link.
    const [nearest] = names.filter((name) => current.startsWith(name)).sort((a, b) => b.length - a.length);
    return names.map((name) => ({ name, href: this.page(name), isCurrent: name === nearest }));
  }

  /**
   * Returns the page where a user can get access to a page that was denied.
   *
   * @param here the page that was denied
   * @returns null if there is no such page
   */
  wayTo(error: AuthError, here: string): string | null {
    const returnTo = this.returnTo(here);
    switch (error.code) {
      case 'unauthenticated':
      case 'invalid_session':
        return this.page('sign-in', { returnTo });
      case 'task_required':
        return this.#pageOfTask(error.task ?? '', returnTo);
      case 'email_not_verified':
        return this.step('verify-email', here);
      case 'reauthentication_required':
      case 'second_factor_required':
        return this.step('reauthenticate', here);
      default:
        return null;
    }
  }

  /**
   * Returns the address of the next step after an error. Null if there is none.
   *
   * @param here the page that the user returns to
   */
  step(name: StepName, here: string | null): string | null {
    const returnTo = this.returnTo(here);
    if (name === 'support') return this.settings.links.support ?? null;
    if (!this.hasPage(name) || (name === 'sign-up' && !this.canSignUp)) return null;
    return name === 'verify-email' ? this.unverified(returnTo) : this.page(name, { returnTo });
  }

  /** The page for an account whose email is not verified yet. */
  unverified(returnTo: string | null): string {
    return this.page('verify-email', { returnTo, query: { waiting: 'true' } });
  }

  /** Returns the page that says that a sign-in has removed the password. @param next where the user continues */
  passwordDropped(next: string): string {
    return this.page('account/security', { done: PASSWORD_DROPPED, returnTo: withPasswordRemoved(next) });
  }

  /**
   * Returns the page that says that a sign-in has created the account, for users who expect that they have one already.
   *
   * @param next where the user continues, also if the profile is a page of the app
   */
  accountCreated(next: string): string {
    const isShown = this.pages.some(({ name }) => name === 'account');
    return isShown ? this.page('account', { done: ACCOUNT_CREATED, returnTo: next }) : next;
  }

  /** Returns the place where the user of an account links a provider. */
  linkedAccounts(returnTo: string | null): string | null {
    if (!this.hasPage('account/security') || this.pageAt(returnTo ?? '')?.name === 'account/security')
      return returnTo;
    return `${this.page('account/security', { returnTo })}#linked-accounts`;
  }

  /** Returns the page that follows an email that verifies the address of a session's user: `from`, or the page of the code. */
  afterVerification(from: string): string {
    if (!this.verifiesByCode || !this.hasPage('verify-email')) return this.page(from, { done: 'sent' });
    return this.page('verify-email', { done: 'sent', returnTo: this.page(from) });
  }

  /** Returns the page of the first open task of a session. Null if there is none. */
  pageOfTasks({ user, session }: SessionAuthentication, returnTo: string | null): string | null {
    const [task] = this.core.tasks.open(user, session);
    return task === undefined || !this.core.tasks.names.includes(task)
      ? null
      : this.#pageOfTask(task, returnTo);
  }

  #pageOfTask(task: string, returnTo: string | null): string {
    const own = this.core.tasks.pageOf(task);
    return own === null
      ? this.page('account/security', { returnTo })
      : withQuery(own, { return_to: returnTo });
  }

  /** Returns a route, if it is enabled, such as `post /signout`. */
  route<Name extends RouteName>(name: Name): NamedRoute<Name> | undefined {
    return this.#routes.get(name);
  }

  /** Returns the methods of the routes at a path, in upper case. */
  methodsAt(path: string): string[] {
    const routes = [...this.#routes.values()].filter((route) => route.path === path);
    return routes.map(({ method }) => method.toUpperCase());
  }

  /** Returns a route that is always enabled. */
  require<Name extends RouteName>(name: Name): NamedRoute<Name> {
    const route = this.route(name);
    if (!route) throw new TypeError(`latchkey: pages() requires the route ${name}`);
    return route;
  }

  /** The route that creates an account with a password. Undefined if users cannot sign up with one. */
  get signUpRoute(): NamedRoute | undefined {
    return this.core.settings.signUp === 'open' ? this.route('post /signup/credential') : undefined;
  }

  /** Whether a sign-up, and a sign-in before the email is verified, conceal whether an email has an account. */
  get concealsEmails(): boolean {
    return this.signUpRoute?.answers[202] !== undefined;
  }

  /** Whether an emailed sign-in creates accounts. */
  get emailSignsUp(): boolean {
    return this.core.emailedSignIns?.makesAccounts ?? false;
  }

  /** What users can do with organizations. Undefined without organizations. */
  get organizations(): OrganizationsForPages | undefined {
    return this.core.contributions.find(({ forPages }) => forPages?.organizations)?.forPages?.organizations;
  }

  /** Whether users can create accounts. */
  get canSignUp(): boolean {
    const hasProviders = this.core.contributions.some(({ forPages }) => forPages?.providers?.length);
    return (
      this.core.settings.signUp === 'open' &&
      (this.signUpRoute !== undefined || this.emailSignsUp || hasProviders)
    );
  }

  /** The identifier that users sign in with, in addition to the password. */
  get identifier(): 'email' | 'username' | 'either' {
    return this.signUpIdentifier === 'email' && this.core.usernames ? 'either' : this.signUpIdentifier;
  }

  /** The identifier that a new account with a password must have. */
  get signUpIdentifier(): 'email' | 'username' | 'either' {
    return (
      this.core.contributions.find(({ forPages }) => forPages?.identifier)?.forPages?.identifier ?? 'email'
    );
  }

  /** The links below every page that open no page of another origin. */
  get ownLinks(): PageLinks {
    const { origin } = this.core.settings;
    return Object.fromEntries(
      Object.entries(this.settings.links).filter(
        ([, url]) => /^(\/|mailto:)/.test(url) || new URL(url).origin === origin,
      ),
    );
  }

  /** Whether a user gets the emails about changes of the account. */
  mailsNotices(user: Pick<User, 'email'> | undefined): boolean {
    return this.core.notices.isOn && (user?.email ?? null) !== null;
  }

  /** Returns the page for a forgotten password. Null if there is none. */
  forgotPassword(returnTo: string | null): string | null {
    return this.hasPage('forgot-password') ? this.page('forgot-password', { returnTo }) : null;
  }

  /** The names of all pages, including the app's own. */
  get names(): readonly string[] {
    return [...this.pages.map(({ name }) => name), ...Object.keys(this.settings.own)];
  }

  #ownPage(name: string): string | undefined {
    return Object.hasOwn(this.settings.own, name) ? this.settings.own[name] : undefined;
  }

  /** Whether a page exists, in latchkey or in the app. */
  hasPage(name: string): boolean {
    return this.#ownPage(name) !== undefined || this.pages.some((page) => page.name === name);
  }

  /** Returns the URL of a page: the app's own page, if there is one. */
  page(name: string, { done, returnTo, params = {}, query = {} }: LinkParameters = {}): string {
    const own = this.#ownPage(name);
    const path = this.pages.find((page) => page.name === name)?.path ?? `/${name}`;
    return withQuery(withParams(own ?? this.mount + path, params), { done, ...query, return_to: returnTo });
  }

  /**
   * Returns the URL of a page with a message, for a script or a provider that leads there.
   *
   * @param auth the session that can see the message
   */
  later(name: string, done: string, auth: SessionAuthentication | null): string {
    const to = this.page(name);
    return withQuery(to, { done, sealed: auth && this.notes.sealFor(to, { done }, auth.session.id) });
  }

  /** Whether a verification link works without a password in the browser of the sign-up. */
  verifiesByClick({ req }: Asking): boolean {
    const { emailVerification, settings } = this.core;
    const { deviceCookie, baseUrl } = settings;
    return emailVerification?.isByLink === true && isOnlyOurs(deviceCookie, baseUrl, req.headers.host);
  }

  /** Whether the browser has a pending sign-in. */
  isWaiting({ req }: Pick<Asking, 'req'>): boolean {
    return cookieValues(req.headers.cookie, this.core.settings.pendingCookie.name).length > 0;
  }

  /** Whether users confirm their emails with codes instead of links. */
  get verifiesByCode(): boolean {
    return this.core.emailVerification?.codes != null;
  }

  /** Whether users choose a new password with an emailed code. */
  get resetsByCode(): boolean {
    return this.core.codeRequests?.resets ?? false;
  }

  /** Finds the token of a link, without consuming it. @param purposes the purposes that the link can have */
  async linkOf(
    { token }: Asking,
    purposes: Purpose | readonly Purpose[],
  ): Promise<{ readonly token: string | null; readonly found: FoundToken | null }> {
    if (token === null) return { token, found: null };
    try {
      return { token, found: await this.core.tokens.find(purposes, token) };
    } catch (error) {
      if (error instanceof AuthError && error.code === 'invalid_token') return { token, found: null };
      throw error;
    }
  }

  /** Calls a route for the user of a page, and returns the body. @throws AuthError the errors of the route */
  async read<Name extends RouteName>(
    route: NamedRoute<Name>,
    { auth, req, params, alongside }: Pick<Asking, 'auth' | 'req' | 'params' | 'alongside'>,
    given?: Given<Name>,
  ): Promise<Found<Name>> {
    // The user might have edited the address of the page, so check the query.
    const query = route.query
      ? checkParameters(new URLSearchParams(given as Record<string, string>), route.query)
      : {};
    const reply = await route.handle({ auth, body: given, query, params, req, alongside } as never);
    return (route.answers[reply.status]?.schema?.parse(reply.body) ?? reply.body) as Found<Name>;
  }

  /** Returns the sign-in methods of the user of a page. */
  async methodsOf(visit: Asking): Promise<MethodValues> {
    const found = await this.read(this.require('get /sign-in-methods'), visit);
    const { password = false, email = false, passkeys = 0, providers = [] } = found;
    const others = passkeys + providers.length + (email ? 1 : 0);
    const signsInByPassword = password && visit.auth !== null && this.nameOf(visit.auth.user) !== null;
    // The pages cannot count the sign-in methods of other plugins.
    const countsAll = this.core.contributions.every(
      ({ waysIn, signInMethods }) => !waysIn || METHODS.some((name) => signInMethods?.schema[name]),
    );
    return {
      password,
      signsInByPassword,
      passkeys,
      providers,
      email,
      others,
      count: countsAll ? others + (signsInByPassword ? 1 : 0) : null,
    };
  }

  /** The identifiers that users can add to their accounts on their profile, such as for the sign-in with a password. */
  get identifiersToAdd(): 'email' | 'username' | 'either' | null {
    const byEmail = this.hasPage('account') && this.route('post /email-changes') !== undefined;
    const byUsername =
      this.hasPage('account') && this.core.usernames !== null && this.route('patch /me') !== undefined;
    if (byEmail) return byUsername ? 'either' : 'email';
    return byUsername ? 'username' : null;
  }

  /** Returns what the user of a page can reauthenticate with, and the linked providers. */
  async reauthentications(
    visit: Asking,
  ): Promise<{ readonly methods: readonly string[]; readonly providers: readonly string[] }> {
    const route = this.route('get /two-factor');
    const [found, factor] = await allOf([
      this.read(this.require('get /sign-in-methods'), visit),
      route ? this.read(route, visit) : null,
    ]);
    const isStrong =
      factor?.totp === true || (visit.auth !== null && this.core.secondFactors.isOn(visit.auth.user));
    const hasPasskey = Boolean(found.passkeys) && this.route('post /reauthenticate/options') !== undefined;
    const hasOther = found.password || hasPasskey || isStrong;
    return {
      methods: [
        ...(factor?.totp ? ['code'] : []),
        // The password does not replace a second factor.
        ...(found.password && !isStrong ? ['password'] : []),
        ...(hasPasskey ? ['passkey'] : []),
        ...(found.email && !hasOther ? ['email_code'] : []),
        ...(isStrong && (factor?.recovery_codes_left ?? 0) > 0 ? ['recovery_code'] : []),
      ],
      providers: found.providers ?? [],
    };
  }

  /** Returns the URL of a path below the mount path. */
  url(path: string, params: Readonly<Record<string, string>> = {}): string {
    return this.mount + withParams(path, params);
  }

  /** Returns a form of a page for its template. */
  form(visit: Asking, page: { readonly path: string }, name: string, params = visit.params): FormValues {
    const actionOf = (some: Asking['params']) => this.url(`${page.path}/${name}`, some);
    const action = actionOf(params);
    const { refused, auth, resumed = null } = visit;
    const isOfAccount = this.pages.some(({ path, kind }) => kind === 'account' && path === page.path);
    const user = isOfAccount ? (auth?.user.id ?? null) : null;
    const hasNoFocus = refused !== null || (resumed !== null && resumed.state !== 'kept');
    const human = this.#humanFor(page.path, name);
    if (resumed?.action === action)
      return {
        action,
        user,
        typed: resumed.fields,
        errors: {},
        isRefused: false,
        refusal: null,
        hasNoFocus,
        human,
        resumed: resumed.state,
      };
    // The forms of a list differ only in their parameters.
    if (refused?.form !== name || action !== actionOf(visit.params))
      return { action, user, typed: {}, errors: {}, isRefused: false, refusal: null, hasNoFocus, human };
    const { fields, given, explained, showsError, focuses } = refused;
    return {
      action,
      user,
      typed: Object.fromEntries(fields),
      given,
      errors: explained.fields,
      isRefused: true,
      refusal: showsError ? explained : null,
      ...(focuses !== null && { focuses }),
      hasNoFocus,
      human,
    };
  }

  #humanFor(path: string, name: string): HumanValues | null {
    if (!this.core.humanCheck) return null;
    const { forms = [] } = this.pages.find((page) => page.path === path) ?? {};
    const form = forms.find((one) => one.name === name);
    if (!form || !asksHuman(this.core, form.route)) return null;
    const human = this.#human;
    // Another sign-in method helps only users who sign in.
    return human && path !== '/sign-in' ? { ...human, otherWays: NO_WAYS } : human;
  }

  /** The human check of the forms that call checked routes. Null if the app checks in a way of its own. */
  get #human(): HumanValues | null {
    const { builtIn } = this.core.humanCheck ?? {};
    if (!builtIn) return null;
    const needsNone = (route?: Route) => route !== undefined && !asksHuman(this.core, route);
    return {
      kind: builtIn.name,
      challenge: this.core.challenges ? this.url('/human-challenge') : null,
      siteKey: builtIn.siteKey ?? null,
      otherWays: {
        password: needsNone(this.route('post /signin/credential')),
        email: needsNone(this.route('post /signin/email')),
        providers: this.core.contributions.flatMap(
          ({ forPages }) => forPages?.providers?.map(({ name }) => name) ?? [],
        ),
      },
    };
  }

  /** Checks a `return_to`. @returns null if there is none, or if users must not return to it */
  returnTo(value: string | null | undefined): string | null {
    if (!value) return null;
    try {
      const url = checkCallbackUrl(value, this.core.settings.origins, 'return_to');
      return this.#isOwnRoute(url) ? null : url;
    } catch {
      return null;
    }
  }

  /** Returns the page of latchkey at a URL. Undefined if there is none. */
  pageAt(url: string): SitePage | undefined {
    if (!URL.canParse(url, url.startsWith('/') ? RELATIVE : undefined)) return undefined;
    const { origin, pathname } = new URL(url, RELATIVE);
    if (origin !== RELATIVE && origin !== this.core.settings.origin) return undefined;
    return this.pages.find((page) => matches(this.mount + page.path, pathname));
  }

  /** Whether a URL belongs to a route, or to a page where users sign in or out, in latchkey or in the app. */
  #isOwnRoute(url: string): boolean {
    const { origin, pathname } = new URL(url, RELATIVE);
    if (origin !== RELATIVE && origin !== this.core.settings.origin) return false;
    const readings = readingsOf(pathname);
    return readings === null || readings.some((path) => this.#isOwnPath(path));
  }

  #isOwnPath(path: string): boolean {
    const isEntrance = Object.entries(this.settings.own).some(
      ([name, own = '']) =>
        !RETURNED_TO.test(name) && readingsOf(new URL(own, RELATIVE).pathname)?.includes(path),
    );
    if (isEntrance) return true;
    const { settings, basePath } = this.core;
    const mount = (settings.publicPath + basePath.known).toLowerCase();
    if (path !== mount && !path.startsWith(`${mount}/`)) return false;
    const below = path.slice(mount.length);
    return !this.pages.some((page) => RETURNED_TO.test(page.name) && matches(page.path, below));
  }
}

/** The fields of GET /sign-in-methods that name sign-in methods which the pages know. */
const METHODS = ['password', 'email', 'passkeys', 'providers'] as const;

/**
 * Returns the paths that servers and proxies might read from a path: decoded as often as it was encoded, without dot
 * segments, in lower case, and with an encoded `?`, `#` or `;` either as a part of the path or as its end.
 *
 * @returns null if it cannot be decoded
 */
function readingsOf(path: string): readonly string[] | null {
  try {
    for (let decoded = path; ; ) {
      const next = decodeURIComponent(decoded);
      if (next === decoded) return [next.replace(/[?#;]/g, '_'), next.replace(/[?#;].*/s, '')].map(plainPath);
      decoded = next;
    }
  } catch {
    return null;
  }
}

function plainPath(path: string): string {
  const { pathname } = new URL(path.replaceAll('\\', '/').replace(/^\/+/, '/'), RELATIVE);
  return pathname
    .toLowerCase()
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '');
}

function matches(pattern: string, path: string): boolean {
  const [expected, given] = [pattern.split('/'), path.split('/')];
  return (
    expected.length === given.length &&
    expected.every((segment, index) => segment.startsWith(':') || segment === given[index])
  );
}

/** Adds parameters to a URL, except for parameters without a value. */
function withQuery(url: string, query: Readonly<Record<string, string | null | undefined>>): string {
  const parsed = new URL(url, RELATIVE);
  for (const [name, value] of Object.entries(query)) if (value) parsed.searchParams.set(name, value);
  return parsed.origin === RELATIVE ? parsed.pathname + parsed.search + parsed.hash : parsed.href;
}

function withParams(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** Awaits reads that run at the same time. @throws the error of the first read that fails, in this order */
export async function allOf<T extends readonly unknown[] | []>(
  reads: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(reads);
  return Promise.all(reads);
}
