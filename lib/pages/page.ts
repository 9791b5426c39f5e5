import type { Request, Response } from 'express';
import type { AuthError } from '../errors.js';
import type { Html } from '../html.js';
import type { Reply, Route } from '../http/route.js';
import type { SessionAuthentication } from '../sessions/request.js';
import type { OpenTo } from '../sessions/tasks.js';
import type { Site } from './site.js';
import type { Words } from './words.js';

/** `entrance` for the pages before a sign-in, `account` for those that need a session. */
export type PageKind = 'entrance' | 'account';

/** A form of a page, for its template. */
export interface FormValues {
  /** The path that the form is sent to. */
  readonly action: string;
  /** What was typed, by the names of the fields, if the form was refused. Secrets are never among it. */
  readonly typed: Readonly<Record<string, string>>;
  /** What is wrong with the fields, by their names: a predicate such as "is missing". */
  readonly errors: Readonly<Record<string, string>>;
  /** What tells the form from others of the page that are sent to the same path. */
  readonly key?: string;
}

/** A link of the navigation. */
export interface LinkValues {
  readonly name: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** The values that every page has. */
export interface CommonValues {
  /** The name of the page, such as `sign-in`. */
  readonly page: string;
  readonly kind: PageKind;
  /** The app's name. */
  readonly appName: string;
  /** Where the app's name leads. */
  readonly home: string;
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  /** The links to the terms, the privacy policy and the support of the app. */
  readonly links: { readonly terms?: string; readonly privacy?: string; readonly support?: string };
  /** The navigation between the pages of an account. Empty on the others. */
  readonly navigation: readonly LinkValues[];
  /** The page that signs out, on the pages of an account. */
  readonly signOut: string | null;
  /** How the user is called: the email or the username. Null without a session. */
  readonly account: string | null;
  /** Why a form of the page was refused. */
  readonly error: ErrorValues | null;
  /** What was done just before, such as `signed-out`. */
  readonly done: string | null;
  /** Where the user goes on to. Null for {@link home}. */
  readonly returnTo: string | null;
}

/** Why a form was refused. */
export interface ErrorValues {
  readonly status: number;
  /** The code of the problem, such as `invalid_credentials`. */
  readonly code: string;
  /** A sentence for people. */
  readonly detail: string;
  /** The fields that are wrong, by their names. */
  readonly fields: Readonly<Record<string, string>>;
  /** What is missing, for `proof_required`. */
  readonly missing: readonly string[];
  /** The page where the user can resolve it. Null if there is none. */
  readonly resolve: string | null;
}

/** A request for a page. */
export interface Visit {
  readonly site: Site;
  readonly req: Request;
  readonly res: Response;
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  /** The session, on pages that need one or ask for it. */
  readonly auth: SessionAuthentication | null;
  readonly returnTo: string | null;
  /** The token of a link in an email: from the address or, if a form was refused, from the form. */
  readonly token: string | null;
  /** The form that was refused. Null for a GET. */
  readonly refused: Refused | null;
  /** What the request before leaves to be shown once. */
  readonly shownOnce: unknown;
  /** How the user has signed in last in this browser. Null if that is not known. */
  readonly lastWay: string | null;
}

/** How the user of a page can sign in. */
export interface MethodValues {
  readonly password: boolean;
  readonly passkeys: number;
  readonly providers: readonly string[];
  /** The number of sign-in methods besides the password. */
  readonly others: number;
}

/** A form that was refused. */
export interface Refused {
  readonly form: string;
  readonly error: AuthError;
  readonly fields: ReadonlyMap<string, string>;
  readonly token: string | null;
}

/** A page leads elsewhere instead of being shown. */
export class Leave {
  /** @param way how the user has just signed in, to be remembered */
  constructor(
    readonly to: string,
    readonly way?: string,
  ) {}
}

/** A form of a page. What it does is a route's work. */
export interface PageForm {
  /** The last part of its path. */
  readonly name: string;
  readonly route: Route;
  /** The names of the fields that the page reads itself, and the route does not get. @default none */
  readonly ownFields?: readonly string[];
  /** How the user signs in with it, which the browser remembers. */
  readonly remembers?: string;
  /** Whether to keep where the user goes on to, because the next step is in an email. @default false */
  readonly keepsReturnTo?: boolean;
  /** Where the browser goes once it is done. */
  next(sent: Sent): string;
  /** What to show once on the page that it leads to. @default nothing */
  showOnce?(reply: Reply): unknown;
}

/** A form that was done. */
export interface Sent {
  readonly site: Site;
  readonly req: Request;
  readonly reply: Reply;
  readonly returnTo: string | null;
  readonly params: Readonly<Record<string, string>>;
  readonly fields: ReadonlyMap<string, string>;
}

/** What a page shows. */
export interface View {
  readonly title: string;
  readonly main: Html;
  /** The scripts that it needs besides the one for forms. @default none */
  readonly scripts?: readonly string[];
}

/** A page. */
export interface Page<V extends object = object> {
  readonly name: string;
  /** Its path below the mount path, with `:name` for parameters. */
  readonly path: string;
  readonly kind: PageKind;
  /** Who can open it. `anyone` gets the session too, if there is one. */
  readonly access: 'anyone' | 'session' | 'admin';
  /** The tasks that can be open. @default none */
  readonly openTo?: OpenTo;
  /** Whether the navigation leads here. @default false */
  readonly inNavigation?: boolean;
  readonly forms: readonly PageForm[];
  /** Whether a link in an email leads here, so that the address does not say where the user goes on to. @default false */
  readonly keepsReturnTo?: boolean;
  /** Reads what the page shows, or says where it leads instead. */
  values(visit: Visit): V | Leave | Promise<V | Leave>;
  view(values: V & CommonValues, words: Words): View;
}

/** Declares a page. */
export function page<V extends object>(declaration: Page<V>): Page {
  // Only the declaration itself needs the type of its values.
  return declaration as unknown as Page;
}
