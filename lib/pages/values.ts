import type { Request, Response } from 'express';
import type { Html } from '../html.js';

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
  /** Whether an error on the page has the focus, in place of a field. */
  readonly hasNoFocus?: boolean;
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
  /** The page that the user returns to. Null for {@link home}. */
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

/** How the user of a page can sign in. */
export interface MethodValues {
  readonly password: boolean;
  readonly passkeys: number;
  readonly providers: readonly string[];
  /** Whether a code can be emailed. */
  readonly email: boolean;
  /** The number of sign-in methods besides the password. */
  readonly others: number;
}

/** The values of each page, by its name, in addition to {@link CommonValues}. */
// biome-ignore lint/suspicious/noEmptyInterface: each page adds its own
export interface PageValues {}

/** A page, for the app's own frame or template. */
export type RenderedPage = { readonly [Name in keyof PageValues]: RenderedPageOf<Name> }[keyof PageValues];

/** The page with a name. */
export interface RenderedPageOf<Name extends keyof PageValues> {
  /** The name, such as `sign-in`. */
  readonly name: Name;
  readonly kind: PageKind;
  /** The title of the document. */
  readonly title: string;
  /** What the page shows. No secret is among it, except for those that are shown once. */
  readonly values: CommonValues & PageValues[Name];
  /** What the head of the document needs: the title, the styles and the scripts. */
  readonly head: Html;
  /** The content of the page, in a `<main>`. */
  readonly main: Html;
  /** The Content-Security-Policy that the page needs. */
  readonly csp: string;
  /** A nonce that the tags in {@link head} have, for the app's own policy. */
  readonly nonce: string;
}

/** A function that renders a page. */
export type Render = (
  page: RenderedPage,
  req: Request,
  res: Response,
) => Html | string | undefined | Promise<Html | string | undefined>;
