import type { Request, Response } from 'express';
import type { Html } from '../html.js';
import type { Words } from '../words/pages/index.js';

/** `entrance` for the pages before a sign-in, `account` for those that need a session. */
export type PageKind = 'entrance' | 'account';

/** The human check of a form. */
export interface HumanValues {
  readonly kind: 'altcha' | 'turnstile' | 'hcaptcha';
  /** The path of the challenges. Null if a service issues them. */
  readonly challenge: string | null;
  /** The key of the app's site at the service. Null without a service. */
  readonly siteKey: string | null;
  /** The sign-in methods that need no check, for browsers without JavaScript. Only the page `sign-in` has some. */
  readonly otherWays: {
    readonly password: boolean;
    /** Whether a code can be emailed. */
    readonly email: boolean;
    /** The names of the providers. */
    readonly providers: readonly string[];
  };
}

/** A form of a page, for its template. */
export interface FormValues {
  /** The path that the form is sent to. */
  readonly action: string;
  /** The typed values by field name, if the form was rejected. They never contain secrets. */
  readonly typed: Readonly<Record<string, string>>;
  /** The errors by field name. Each is a sentence, such as "Enter your email." */
  readonly errors: Readonly<Record<string, string>>;
  /** The names of the fields that were filled in, if the form was rejected. They include secrets, which must be typed again. @default none */
  readonly given?: readonly string[];
  /** The id of the user to whom the form of an account was shown. Null on the other pages. */
  readonly user: string | null;
  /** Whether the form was rejected. */
  readonly isRefused: boolean;
  /** The error that the form shows itself, because its page has several forms or the error is about one field. Null otherwise. */
  readonly refusal: ErrorValues | null;
  /** The name of the field that has the focus, because the error is about no field. @default the field of the error, or the error */
  readonly focuses?: string;
  /**
   * Set if the user has sent the form before confirming who it is, and has come back: `sent` if a script sends it again by
   * itself, `confirmed` if the user presses the button again, `kept` if the user has not confirmed it. `typed` has what was
   * entered.
   * @default the user has not come back
   */
  readonly resumed?: 'sent' | 'confirmed' | 'kept';
  /** Whether something else on the page gets the focus: an error, or a button that has to be pressed again. */
  readonly hasNoFocus?: boolean;
  /** The human check of the form. Null if its route asks for none, or if your app has its own. */
  readonly human: HumanValues | null;
  /** Distinguishes the form from others on the page that are sent to the same path. */
  readonly key?: string;
}

/** A link of the navigation. */
export interface LinkValues {
  readonly name: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Links below every page: URLs, or paths of this origin. */
export interface PageLinks {
  /** The terms of use. @default none */
  terms?: string;
  /** The privacy policy. @default none */
  privacy?: string;
  /** Where users get help. @default none */
  support?: string;
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
  readonly links: PageLinks;
  /** The navigation between the pages of an account. Empty on the others. */
  readonly navigation: readonly LinkValues[];
  /** The page that signs out, on the pages of an account. */
  readonly signOut: string | null;
  /** The email or username of the user. Null without a session. */
  readonly account: string | null;
  /** The error, if a form of the page was rejected. Null otherwise. */
  readonly error: ErrorValues | null;
  /** The action that has just been completed, such as `signed-out`. Null if there is none. */
  readonly done: string | null;
  /** The page that the user returns to. Null for {@link home}. */
  readonly returnTo: string | null;
  /** The organization that the user joins after the pages before a sign-in. Null if the user has opened no invitation. */
  readonly joining: string | null;
}

/** The error of a rejected form. */
export interface ErrorValues {
  readonly status: number;
  /** The code of the problem, such as `invalid_credentials`. */
  readonly code: string;
  /** What happened, in one or two sentences. */
  readonly detail: string;
  /** What is wrong with each field, in a sentence, by field name. */
  readonly fields: Readonly<Record<string, string>>;
  /** The missing proofs, for `proof_required`. */
  readonly missing: readonly string[];
  /** What the user can do about the error. */
  readonly steps: readonly StepValues[];
}

/** What a user can do about an error: open a page, or contact the support of the app. */
export type StepName =
  | 'forgot-password'
  | 'reauthenticate'
  | 'sign-in'
  | 'sign-up'
  | 'support'
  | 'verify-email';

/** A link to the next step after an error. */
export interface StepValues {
  readonly name: StepName;
  readonly href: string;
}

/** The sign-in methods of the user of a page. */
export interface MethodValues {
  /** Whether the account has a password. */
  readonly password: boolean;
  /** Whether the user can sign in with it, because the account has an email or username too. */
  readonly signsInByPassword: boolean;
  readonly passkeys: number;
  readonly providers: readonly string[];
  /** Whether a code can be emailed. */
  readonly email: boolean;
  /** The number of sign-in methods other than the password. */
  readonly others: number;
  /** The number of all sign-in methods. Null if other plugins can have methods that the pages do not know. */
  readonly count: number | null;
}

/** The values of each page, by its name, in addition to {@link CommonValues}. */
// biome-ignore lint/suspicious/noEmptyInterface: each page adds its own
export interface PageValues {}

/** The values of each card of the page `account/security`, by its name. */
// biome-ignore lint/suspicious/noEmptyInterface: each card adds its own
export interface CardValues {}

/** A page, for the app's own frame or template. */
export type RenderedPage = { readonly [Name in keyof PageValues]: RenderedPageOf<Name> }[keyof PageValues];

/** The page with a name. */
export interface RenderedPageOf<Name extends keyof PageValues> {
  /** The name, such as `sign-in`. */
  readonly name: Name;
  readonly kind: PageKind;
  /** The title of the document. */
  readonly title: string;
  /** The values that the page shows. They contain no secrets, except for those that are shown once. */
  readonly values: CommonValues & PageValues[Name];
  /** The content of the document's head: the title, the styles and the scripts. */
  readonly head: Html;
  /** The content of the page, in a `<main>`. */
  readonly main: Html;
  /** The words of the pages, in the language of the request. */
  readonly words: Words;
  /**
   * Returns latchkey's document with other content.
   *
   * @param main the content, instead of {@link main}
   * @param title the title of the document. By default, {@link title}
   */
  document(main: Html, title?: string): Html;
  /** The Content-Security-Policy that the page needs. */
  readonly csp: string;
  /** The nonce of the tags in {@link head}, for the app's own policy. */
  readonly nonce: string;
}

/** A function that renders a page. */
export type Render = (
  page: RenderedPage,
  req: Request,
  res: Response,
) => Html | string | undefined | Promise<Html | string | undefined>;
