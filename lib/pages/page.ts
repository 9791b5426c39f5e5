import type { Request, Response } from 'express';
import type { AuthError, AuthErrorCode } from '../errors.js';
import type { Html, HtmlValue } from '../html.js';
import type { Reply, Route } from '../http/route.js';
import type { Alongside } from '../sessions/lookup.js';
import type { OpenTo } from '../sessions/tasks.js';
import type { User } from '../tables/core.js';
import type { Words } from '../words/pages/index.js';
import type { Asking, Site, SitePage } from './site.js';
import type { CommonValues, StepName } from './values.js';

/** A request for a page. */
export interface Visit extends Asking {
  readonly site: Site;
  readonly res: Response;
  readonly query: URLSearchParams;
  readonly returnTo: string | null;
  /** A value that the previous request has left, to be shown once. */
  readonly shownOnce: unknown;
  /** The last sign-in method in this browser. Null if it is not known. */
  readonly lastWay: string | null;
  /** The action that a form of the pages has just completed, such as `signed-out`. Null if there is none. */
  readonly done: string | null;
  /** The address that a form of the pages has just emailed. Null if there is none. */
  readonly sentTo: string | null;
  /** The email that was typed last on a page before a sign-in, to be filled in. Null if there is none. */
  readonly known: string | null;
  /** The page of the form that has led here, such as `sign-up`. Null if it is not known. */
  readonly from: string | null;
  /** Whether that form asked for a session that stays when the browser is closed. */
  readonly isRemembered: boolean;
  /** What was typed in fields that the route of that form does not have. Null for a value that is not kept. */
  readonly typed: Readonly<Record<string, string | null>>;
}

/** A redirect to another address, instead of the page. */
export class Leave {
  /** @param way how the user has just signed in, to be remembered */
  constructor(
    readonly to: string,
    readonly way?: string,
  ) {}
}

/** Where a form shows an error, and what the user can do about it. */
export interface ErrorPlace {
  /**
   * The name of the field that the error is about. Of several, it is the first one that is filled in.
   * @default none, so that the error is shown above the fields
   */
  readonly field?: string | readonly string[];
  /** The names of the fields for the proofs that the error names as missing. Each of these fields shows it. @default none */
  readonly fieldsOfMissing?: Readonly<Record<string, string>>;
  /** What the user can do instead. Steps that an app does not have are left out. @default the steps of the code */
  readonly steps?: readonly StepName[];
}

/** The places of errors by code, or only the fields. */
export type ErrorPlaces = Readonly<Partial<Record<AuthErrorCode, string | ErrorPlace>>>;

/** A form of a page, which calls a route. */
export interface PageForm {
  /** The last part of its path. */
  readonly name: string;
  /** The path that its own path starts with. @default the path of the page */
  readonly below?: string;
  readonly route: Route;
  /** The names of the fields that only the page reads, and that the route does not get. They are not secret. @default none */
  readonly ownFields?: readonly string[];
  /**
   * The names of secret fields that are still of use if only other fields are missing or wrong, so that the form sends them
   * along and does not ask for them again.
   * @default none
   */
  readonly sendsAlong?: readonly string[];
  /** The other form of the page that has a button for this one. @default none: the page shows this form itself */
  readonly within?: SharedForm;
  /**
   * Checks what the route accepts without a word, so that it reveals nothing.
   *
   * @param user the user who sends the form. Null if no one is signed in
   * @throws AuthError `validation_failed`
   */
  check?(fields: ReadonlyMap<string, string>, user: User | null): void;
  /** Returns fields that the route gets in place of {@link ownFields}, and of fields with the same names. @default none */
  translate?(fields: ReadonlyMap<string, string>, site: Site): Readonly<Record<string, string>>;
  /**
   * Returns the text that the user must type into the field `confirmation` before the route is called, such as the email
   * of an account. Null for the word "delete", because the account has neither an email nor a username.
   * @default nothing has to be typed
   */
  confirmation?(visit: Visit): string | null | Promise<string | null>;
  /**
   * The name of the field that has the focus after an error that is about no field and leads to no other page, such as the
   * password after a wrong one. The form then shows the error above its fields.
   * @default none: the page shows the error, which has the focus
   */
  readonly focuses?: string;
  /** Where the form shows the errors of the route, by code. @default above the fields, with the steps of the code */
  readonly errors?: ErrorPlaces;
  /**
   * Returns the error to show in place of one of the route, such as that a code is used up and not only wrong.
   * @default the error of the route
   */
  restate?(error: AuthError, visit: Pick<Visit, 'auth'>): AuthError | Promise<AuthError>;
  /** The sign-in method of the form, which the browser remembers. */
  readonly remembers?: string;
  /** The name of the field with the address that the route emails. The next page can show it. @default none */
  readonly emails?: string;
  /** The name of the field that names the account to the next page if no address was typed. @default none */
  readonly names?: string;
  /**
   * Whether that address is the account's only once the route has succeeded, so that other pages do not fill it in after an
   * error.
   * @default false
   */
  readonly emailsNewAddress?: boolean;
  /** The name of the field with an email or username, whose email the other pages fill in. @default that of `emails` */
  readonly account?: string;
  /** Whether to keep `return_to` in a cookie, because the user continues with a link in an email. @default false */
  readonly keepsReturnTo?: boolean;
  /** Returns where the browser goes next. Not called if the route returns a file, because the page then stays open. */
  next(sent: Sent): string;
  /** Returns a value that the next page shows once. @default nothing */
  showOnce?(reply: Reply): unknown;
}

/** A form that is sent with the fields of another one, by a second button. */
export interface SharedForm {
  /** The name of the other form, which shows the errors of both. */
  readonly form: string;
  /**
   * The fields of the route, with their names in the other form. The route gets no other fields, such as the password that
   * is typed there.
   */
  readonly fields: Readonly<Record<string, string>>;
  /**
   * The names of fields of the other form that the next page gets: see {@link Visit.typed}. After an error, the form shows
   * them again.
   * @default none
   */
  readonly keeps?: readonly string[];
}

/** A form whose route has succeeded. */
export interface Sent {
  readonly site: Site;
  readonly req: Request;
  readonly reply: Reply;
  readonly returnTo: string | null;
  readonly params: Readonly<Record<string, string>>;
  readonly fields: ReadonlyMap<string, string>;
}

/** The content of a page. */
export interface View {
  readonly title: string;
  /** The heading, if it says more than the title of the document. @default the title */
  readonly heading?: string | Html;
  /** What stands beside the heading, such as the state of a user. @default nothing */
  readonly tags?: HtmlValue;
  /** The link above the title, to the page that lists what this page shows. @default nothing */
  readonly up?: { readonly href: string; readonly name: string };
  /** The icon above the title. @default nothing */
  readonly icon?: Html;
  readonly main: Html;
  /** Whether the heading has the focus, because it says what was wrong with the form. @default false */
  readonly focusesHeading?: boolean;
  /** Whether the content itself says what has just been completed, instead of a message above it. @default false */
  readonly saysDone?: boolean;
  /** The scripts of the page, in addition to the one for forms. @default none */
  readonly scripts?: readonly string[];
}

/** A page. */
export interface Page<V extends object = object> extends SitePage {
  /** The tasks that can be open while a user visits the page. @default none */
  readonly openTo?: OpenTo;
  /** Whether the page shows the session of an administrator who acts as a user. @default false */
  readonly openToActing?: true;
  /** Returns the rows that a route of the page reads together with the session: see `Route.alongside`. */
  alongside?(params: Readonly<Record<string, string>>): Alongside;
  readonly forms: readonly PageForm[];
  /** Whether a link in an email leads here, so that `return_to` comes from a cookie if the address has none. @default false */
  readonly keepsReturnTo?: boolean;
  /** Returns the values that the page shows, or a redirect. */
  values(visit: Visit): V | Leave | Promise<V | Leave>;
  view(values: V & CommonValues, words: Words): View;
}

/** Declares a page. */
export function page<V extends object>(declaration: Page<V>): Page {
  // Only the declaration itself needs the type of its values.
  return declaration as unknown as Page;
}
