import type { Request, Response } from 'express';
import type { Html } from '../html.js';
import type { Reply, Route } from '../http/route.js';
import type { OpenTo } from '../sessions/tasks.js';
import type { Asking, Site, SitePage } from './site.js';
import type { CommonValues } from './values.js';
import type { Words } from './words.js';

/** A request for a page. */
export interface Visit extends Asking {
  readonly site: Site;
  readonly res: Response;
  readonly query: URLSearchParams;
  readonly returnTo: string | null;
  /** What the request before leaves to be shown once. */
  readonly shownOnce: unknown;
  /** How the user has signed in last in this browser. Null if that is not known. */
  readonly lastWay: string | null;
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
  /** Whether to keep `return_to` in a cookie, because the user continues with a link in an email. @default false */
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
export interface Page<V extends object = object> extends SitePage {
  /** The tasks that can be open. @default none */
  readonly openTo?: OpenTo;
  readonly forms: readonly PageForm[];
  /** Whether a link in an email leads here, so that `return_to` comes from a cookie if the address has none. @default false */
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
