import * as z from 'zod';
import { ACCENT } from '../color.js';
import type { MailLook } from '../mail/layout.js';
import type { MailMessage, SendContext } from '../mail/messages.js';
import { chosenNotices, declaredNotices, type NoticeKind } from '../mail/notice-kinds.js';
import { isLoopback, schemaOf } from './options.js';

/** How emails look. */
export interface EmailBrandOptions {
  /**
   * An image above the text of HTML emails, 40 pixels high: an https URL, or a path of `baseUrl`'s origin. On a
   * loopback host, http is allowed too. Emails load no other image.
   * @default none
   */
  logoUrl?: string;
  /**
   * The background of buttons: `#rgb` or `#rrggbb`. Their text is black or white, whichever has more contrast.
   * @default the `theme.accent` of `pages()`; `#2f5bd8` without pages
   */
  color?: string;
  /** Plain text of up to 500 characters at the bottom of every email, such as your address. @default none */
  footer?: string;
}

/**
 * The prefix for the name of a plugin's page. The URL of such a page depends on where the router is mounted, so it is
 * only known when an email is sent.
 */
export const PAGE = 'page:';

/** How emails are sent, and where their links lead. */
export interface EmailOptions {
  /**
   * A function that sends an email. It is called after the response. If it fails, or does not return within 60 seconds,
   * it is called again later, for three days. If it throws `AuthError('mail_refused')`, because the mail server will
   * never accept the email, it is not called again.
   * @default none, required
   */
  send: (message: MailMessage, options: SendContext) => unknown;
  /**
   * The app's page that reads `?token=` and calls POST /verify-email: a URL, or a path of `baseUrl`'s origin, as
   * browsers see it. Without `baseUrl`, links with a path are relative, and `send` must make them absolute.
   * @default `/verify-email` below `baseUrl`
   */
  verifyUrl?: string;
  /**
   * The page that reads `?token=`, or asks for the code with `resetBy: 'code'`, and calls POST /passwords/reset, like
   * `verifyUrl`.
   * @default `/reset-password` below `baseUrl`
   */
  resetUrl?: string;
  /**
   * The app's page that asks for an email and calls POST /passwords/request-reset, like `verifyUrl`. It is in the email
   * with the code for an unknown browser.
   * @default `/forgot-password` below `baseUrl`
   */
  forgotPasswordUrl?: string;
  /**
   * The app's page where a user enters the code of an emailed sign-in, like `verifyUrl`. It also reads `?token=`, and
   * calls POST /signin/email/confirm.
   * @default `/sign-in/email` below `baseUrl`
   */
  signInUrl?: string;
  /** The app's page where users sign up, like `verifyUrl`. @default `/sign-up` below `baseUrl` */
  signUpUrl?: string;
  /** The page for invitations, where a new user chooses a password, like `verifyUrl`. @default the `resetUrl` */
  invitationUrl?: string;
  /**
   * The page that reads `?token=` of an invitation to an organization, and calls POST /invitations/accept, like `verifyUrl`.
   * @default `/join` below `baseUrl`
   */
  joinUrl?: string;
  /**
   * The page that reads `?token=` and calls POST /email-changes/confirm, like `verifyUrl`.
   * @default `/change-email` below `baseUrl`
   */
  changeEmailUrl?: string;
  /**
   * The page that reads `?token=` and calls POST /undo-change, like `verifyUrl`.
   * @default `/undo-change` below `baseUrl`
   */
  undoUrl?: string;
  /**
   * Where users can ask for help. It is in notices about changes that your app or an administrator has made: a URL, a
   * path of `baseUrl`'s origin, or `mailto:` with an address.
   * @default none: the notices refer to the people who run `appName`
   */
  supportUrl?: string;
  /** How emails look: a logo, the color of buttons, and a footer. @default see {@link EmailBrandOptions} */
  brand?: EmailBrandOptions;
  /**
   * The notices that users get when their accounts change. A list can contain the kinds of latchkey and of the plugins
   * in `plugins`. A kind that is not listed is not sent, and has no undo link.
   * @default true: all of them
   */
  notices?: boolean | readonly NoticeKind[];
}

const page = z
  .string()
  .refine((url) => isPath(url) || URL.canParse(url), 'must be a path such as /confirm, or an absolute URL');

const LOGO = 'must be an https URL of an image, or a path such as /logo.png';
const COLOR = 'must be a color such as #2f5bd8 or #25d';
const FOOTER = 'must be plain text of 1 to 500 characters';

/** @internal */
export const brandSchema = schemaOf<EmailBrandOptions>()({
  logoUrl: z.string(LOGO).refine(isImageUrl, LOGO).optional(),
  color: z
    .string(COLOR)
    .regex(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i, COLOR)
    .optional(),
  footer: z
    .string(FOOTER)
    .trim()
    .regex(/^[\P{Cc}\n\r\t]{1,500}$/u, FOOTER)
    .optional(),
});

// A function, because plugins declare their kinds after this module is loaded.
const NOT_A_NOTICE = {
  error: () =>
    `Invalid option: expected one of ${declaredNotices.names.map((name) => `"${name}"`).join('|')}`,
};

/** @internal */
export const emailSchema = schemaOf<EmailOptions>()({
  send: z.custom<EmailOptions['send']>(
    (it) => typeof it === 'function',
    'must be a function that sends an email',
  ),
  verifyUrl: page.optional(),
  resetUrl: page.optional(),
  forgotPasswordUrl: page.optional(),
  signInUrl: page.optional(),
  signUpUrl: page.optional(),
  invitationUrl: page.optional(),
  joinUrl: page.optional(),
  changeEmailUrl: page.optional(),
  undoUrl: page.optional(),
  supportUrl: page.refine(isReadable, 'must be an address after mailto:').optional(),
  brand: brandSchema.prefault({}),
  notices: z
    .union([z.boolean(), z.array(z.custom<NoticeKind>((it) => declaredNotices.has(it), NOT_A_NOTICE))], {
      error: () => `must be true, false, or a list of ${declaredNotices.names.join(', ')}`,
    })
    .default(true),
});

/** What emails show of the app. */
interface AppOfEmails {
  /** Null if it is unknown. */
  readonly appName: string | null;
  /** The origin of `baseUrl`. Without it, links with a path are relative. */
  readonly origin: string | null;
  /** The path of `baseUrl`, which the default pages start with. */
  readonly publicPath: string;
  /** The color of the app's pages. Undefined without pages of a plugin. */
  readonly accent: string | undefined;
}

/**
 * @param plugins the names of the plugins in the config
 * @internal
 */
export function emailSettings(
  { brand, ...email }: z.output<typeof emailSchema>,
  app: AppOfEmails,
  plugins: ReadonlySet<string>,
) {
  const { origin, publicPath } = app;
  const pageOf = (name: string) => (plugins.has('pages') ? PAGE + name : `${publicPath}/${name}`);
  const resetUrl = email.resetUrl ?? pageOf('reset-password');
  const pageOfPlugin = (name: string) => (plugins.has('pages') ? PAGE + name : null);
  return {
    ...email,
    verifyUrl: email.verifyUrl ?? pageOf('verify-email'),
    resetUrl,
    forgotPasswordUrl: email.forgotPasswordUrl ?? pageOf('forgot-password'),
    signInUrl: email.signInUrl ?? pageOf('sign-in/email'),
    signUpUrl: email.signUpUrl ?? pageOf('sign-up'),
    invitationUrl: email.invitationUrl ?? (plugins.has('pages') ? pageOf('invitation') : resetUrl),
    joinUrl: email.joinUrl ?? pageOf('join'),
    changeEmailUrl: email.changeEmailUrl ?? pageOf('change-email'),
    undoUrl: email.undoUrl ?? pageOf('undo-change'),
    /** The pages that advice links to. There is no default, because an app without them should not link to them. */
    pages: {
      'sign-in': pageOfPlugin('sign-in'),
      'forgot-password': email.forgotPasswordUrl ?? pageOfPlugin('forgot-password'),
      'account/security': pageOfPlugin('account/security'),
      'account/sessions': pageOfPlugin('account/sessions'),
    },
    /** The contact for help: an address or a URL. Null if the people who run the app are the contact. */
    support: supportOf(email.supportUrl, origin),
    /** The kinds of notices that are sent. */
    notices: chosenNotices(email.notices, plugins),
    origin,
    look: lookOf(brand, app),
  };
}

function lookOf(
  { logoUrl, color, footer }: z.output<typeof brandSchema>,
  { appName, origin, accent = ACCENT }: AppOfEmails,
): MailLook {
  if (logoUrl?.startsWith('/') && origin === null)
    throw new TypeError(
      'latchkey: email.brand.logoUrl is a path, which requires baseUrl: set baseUrl, or set logoUrl to a URL',
    );
  const logo = logoUrl === undefined ? null : new URL(logoUrl, origin ?? undefined).href;
  return { appName, logo, color: color ?? accent, footer: footer?.replace(/\r\n?/g, '\n') ?? null };
}

/** Whether mail programs load an image from a URL or a path. */
function isImageUrl(url: string): boolean {
  if (isPath(url)) return true;
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function isPath(url: string): boolean {
  // `//host` and `/\host` refer to another origin.
  return /^\/(?![/\\])/.test(url);
}

/** Whether the address of a `mailto:` can be shown. */
function isReadable(url: string): boolean {
  try {
    return !url.startsWith('mailto:') || addressIn(url).includes('@');
  } catch {
    return false;
  }
}

function addressIn(mailto: string): string {
  return decodeURIComponent(new URL(mailto).pathname);
}

function supportOf(url: string | undefined, origin: string | null): string | null {
  if (url === undefined) return null;
  if (url.startsWith('mailto:')) return addressIn(url);
  return url.startsWith('/') && origin !== null ? new URL(url, origin).href : url;
}
