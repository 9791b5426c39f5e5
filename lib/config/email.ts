import * as z from 'zod';
import type { MailMessage, SendContext } from '../mail/messages.js';
import { chosenNotices, declaredNotices, type NoticeKind } from '../mail/notice-kinds.js';
import { schemaOf } from './options.js';

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
   * The app's page that reads `?token=` and calls POST /verify-email: a URL, or a path of `baseUrl`'s origin, as browsers
   * see it. Without `baseUrl`, links with a path are relative, and `send` must make them absolute.
   * @default `/verify-email` below `baseUrl`
   */
  verifyUrl?: string;
  /** The page that reads `?token=` and calls POST /passwords/reset, like `verifyUrl`. @default `/reset-password` below `baseUrl` */
  resetUrl?: string;
  /**
   * The app's page that asks for an email and calls POST /passwords/request-reset, like `verifyUrl`. It is in the email
   * with the code for an unknown browser.
   * @default `/forgot-password` below `baseUrl`
   */
  forgotPasswordUrl?: string;
  /**
   * The app's page where a user types the code of an emailed sign-in, like `verifyUrl`. It reads `?token=` too, and calls
   * POST /signin/email/confirm.
   * @default `/sign-in/email` below `baseUrl`
   */
  signInUrl?: string;
  /** The app's page where people sign up, like `verifyUrl`. @default `/sign-up` below `baseUrl` */
  signUpUrl?: string;
  /** The page for invitations, where a new user chooses a password, like `verifyUrl`. @default the `resetUrl` */
  invitationUrl?: string;
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
   * Where users can ask for help, for notices about changes that your app or an administrator has made: a URL, a path
   * of `baseUrl`'s origin, or `mailto:` with an address.
   * @default none: the notices name the host of `baseUrl`
   */
  supportUrl?: string;
  /**
   * The notices that are sent to users when their accounts change: a list can name the kinds of latchkey and of the
   * plugins in `plugins`. A kind that is not listed is not sent, and cannot be undone.
   * @default true: all of them
   */
  notices?: boolean | readonly NoticeKind[];
}

// `//host` and `/\host` refer to another origin.
const page = z
  .string()
  .refine(
    (url) => (url.startsWith('/') ? !/^\/[/\\]/.test(url) : URL.canParse(url)),
    'must be a path such as /confirm, or an absolute URL',
  );

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
  changeEmailUrl: page.optional(),
  undoUrl: page.optional(),
  supportUrl: page.refine(isReadable, 'must be an address after mailto:').optional(),
  notices: z
    .union([z.boolean(), z.array(z.custom<NoticeKind>((it) => declaredNotices.has(it), NOT_A_NOTICE))], {
      error: () => `must be true, false, or a list of ${declaredNotices.names.join(', ')}`,
    })
    .default(true),
});

/**
 * @param origin the origin of `baseUrl`. Links with a path are relative without it
 * @param publicPath the path of `baseUrl`, which is before the paths that the app has not chosen
 * @param plugins the names of the plugins in the config
 * @internal
 */
export function emailSettings(
  email: z.output<typeof emailSchema>,
  origin: string | null,
  publicPath: string,
  plugins: ReadonlySet<string>,
) {
  const resetUrl = email.resetUrl ?? `${publicPath}/reset-password`;
  return {
    ...email,
    verifyUrl: email.verifyUrl ?? `${publicPath}/verify-email`,
    resetUrl,
    forgotPasswordUrl: email.forgotPasswordUrl ?? `${publicPath}/forgot-password`,
    signInUrl: email.signInUrl ?? `${publicPath}/sign-in/email`,
    signUpUrl: email.signUpUrl ?? `${publicPath}/sign-up`,
    invitationUrl: email.invitationUrl ?? resetUrl,
    changeEmailUrl: email.changeEmailUrl ?? `${publicPath}/change-email`,
    undoUrl: email.undoUrl ?? `${publicPath}/undo-change`,
    /** Whom users can ask, in words or as an address. */
    support: supportOf(email.supportUrl, origin),
    /** The kinds of notices that are sent. */
    notices: chosenNotices(email.notices, plugins),
    origin,
  };
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

function supportOf(url: string | undefined, origin: string | null): string {
  if (url === undefined)
    return `the people who run ${origin === null ? 'this service' : new URL(origin).host}`;
  if (url.startsWith('mailto:')) return addressIn(url);
  return url.startsWith('/') && origin !== null ? new URL(url, origin).href : url;
}
