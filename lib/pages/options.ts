import * as z from 'zod';
import { ACCENT } from '../color.js';
import { readOptions, schemaOf } from '../config/options.js';
import type { Core } from '../core/core.js';
import { isOwnPath } from '../http/callback-url.js';
import type { PageLinks, Render } from './values.js';

/** The look of the pages. */
export interface ThemeOptions {
  /** The color of buttons, also in emails, as `#rrggbb`. Links and focus rings get a shade of it that is readable. @default '#2f5bd8' */
  accent?: string;
  /** The URL of a logo, a path of this origin. @default the app's name as text */
  logo?: string;
  /** Whether the pages are dark where the user prefers that. @default 'auto' */
  dark?: 'auto' | 'never';
}

/** The names of all pages. The plugins of an app decide which of them it has. */
export const PAGE_NAMES = [
  'sign-in',
  'sign-in/email',
  'sign-in/passkey',
  'sign-up',
  'sign-out',
  'second-factor',
  'reauthenticate',
  'forgot-password',
  'reset-password',
  'invitation',
  'join',
  'verify-email',
  'change-email',
  'undo-change',
  'account',
  'account/security',
  'account/security/second-factor',
  'account/sessions',
  'account/api-keys',
  'account/organizations',
  'account/organizations/organization',
  'administration/users',
  'administration/users/user',
] as const;

/** The name of a page. */
export type PageName = (typeof PAGE_NAMES)[number];

/** Options of {@link pages}. */
export interface PagesOptions {
  /**
   * The page after a sign-in, for users who did not come from another page: a path of the app.
   * @default the root of the app
   */
  home?: string;
  /** The look of the pages. @default see {@link ThemeOptions} */
  theme?: ThemeOptions;
  /** A stylesheet of the app that is loaded after the one of the pages: a path of this origin. @default none */
  stylesheet?: string;
  /** Links below every page. @default none; `support` is `email.supportUrl` if it is a URL or a path */
  links?: PageLinks;
  /**
   * A function that renders a page: in the app's own frame, from `page.head` and `page.main`, or with a template of the
   * app, from `page.values`. It returns the whole document, or `undefined` to keep latchkey's page.
   * @default none
   */
  render?: Render;
  /**
   * The paths of the app's own pages, by the names of the pages that they replace. Guards, emails and the other pages
   * lead to them. In the path of `administration/users/user`, `:id` stands for the user's id, and in that of
   * `account/organizations/organization` for the organization's.
   * @default none
   */
  own?: Readonly<Record<string, string>>;
}

const path = z
  .string('must be a path such as /dashboard')
  .refine(isOwnPath, 'must be a path such as /dashboard');

/** @internal */
export const themeSchema = schemaOf<ThemeOptions>()({
  accent: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, 'must be a color such as #2f5bd8')
    .default(ACCENT),
  logo: path.optional(),
  dark: z.enum(['auto', 'never'], "must be 'auto' or 'never'").default('auto'),
});

const NOT_A_LINK = 'must be an https URL, a path such as /terms, or mailto: with an address';
const link = z.string().refine(isLink, NOT_A_LINK);

/** @internal */
export const linksSchema = schemaOf<PageLinks>()({
  terms: link.optional(),
  privacy: link.optional(),
  support: link.optional(),
});

/** @internal */
export const schema = () =>
  schemaOf<PagesOptions>()({
    home: path.optional(),
    theme: themeSchema.prefault({}),
    stylesheet: path.optional(),
    links: linksSchema.prefault({}),
    render: z.custom<Render>((it) => typeof it === 'function', 'must be a function').optional(),
    own: z
      .record(z.string(), path)
      .refine((own) => Object.keys(own).every(isPageName), `must name pages: ${PAGE_NAMES.join(', ')}`)
      .default({}),
  });

function isPageName(name: string): name is PageName {
  return PAGE_NAMES.some((one) => one === name);
}

function isLink(value: string): boolean {
  if (value.startsWith('/')) return isOwnPath(value);
  return URL.canParse(value) && /^(https?|mailto):$/.test(new URL(value).protocol);
}

/** The options with their defaults. */
export type PagesSettings = ReturnType<typeof readSettings> & { readonly appName: string };

export function readSettings(options: PagesOptions) {
  return readOptions('pages', schema, options);
}

/** Adds the settings of the config. */
export function withConfig(
  settings: ReturnType<typeof readSettings>,
  { settings: config }: Core,
): PagesSettings {
  return { ...settings, appName: config.appName ?? 'Account' };
}
