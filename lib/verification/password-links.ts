import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { Asked, Link, Mails } from '../mail/mails.js';
import type { LinkTexts, PlainTemplate } from '../mail/templates.js';
import { CORE } from '../owners.js';
import type { User } from '../tables/core.js';
import { definePurpose } from './purposes.js';

/** A text of an email with a reset link. */
export type ResetMail = Extract<LinkTexts, { readonly kind: 'reset-password' }>;

/** Returns the email with a reset link that an administrator sends. @param appName null if it is unknown */
export function byAdministrator(appName: string | null): ResetMail {
  return { kind: 'reset-password', text: 'reset-password/by-administrator', values: { appName } };
}

interface ResetLinkOptions {
  /** The text of the email. @default the text for a user who requests a link */
  readonly mail?: ResetMail;
  /** Who asks for the link. Null if the app does, without a limit. @default null */
  readonly asked?: Asked | null;
}

/** Emails links to choose a password. */
export class PasswordLinks {
  constructor(
    private readonly core: { readonly settings: Settings },
    private readonly mails: Mails,
  ) {}

  /** The link to choose a new password. */
  get reset(): Link {
    return this.#resetBy(resetPasswordMail);
  }

  /** The link for the owner of an account who signs up again: the request must not reveal that there is an account. */
  get existing(): Link {
    return this.#resetBy(existingAccountMail);
  }

  /** Emails a user a reset link. Does nothing if the user has no email. */
  async mailReset(
    user: User,
    transaction?: Transaction,
    { mail = resetPasswordMail, asked = null }: ResetLinkOptions = {},
  ): Promise<void> {
    await this.mails.link(this.#resetBy(mail), user, asked, transaction);
  }

  /** Emails the link to choose a new password to a user who has entered the former one, and whose account needs another. */
  mailRequired(user: User, transaction: Transaction, asked: Asked): Promise<void> {
    return this.mailReset(user, transaction, { mail: requiredPasswordMail, asked });
  }

  /** Emails the link to choose a first password to a user whom an administrator or the app created. */
  async mailInvitation(user: User, transaction?: Transaction): Promise<void> {
    const template = { ...invitationMail, page: this.core.settings.email?.invitationUrl ?? '' };
    await this.mails.link({ template, purpose: INVITATION }, user, null, transaction);
  }

  #resetBy(mail: ResetMail): Link {
    const page = this.core.settings.email?.resetUrl ?? '';
    return { template: { ...mail, page }, purpose: RESET_PASSWORD };
  }
}

declare module '../mail/messages.js' {
  interface MailKinds {
    'reset-password': unknown;
    invitation: unknown;
    'deleted-account': unknown;
  }
}

const HOUR_MS = 60 * 60 * 1000;

export const RESET_PASSWORD = definePurpose(CORE, {
  name: 'reset-password',
  lifetimeMs: HOUR_MS,
  endsWithPassword: true,
});
/** A link for the first password of a user whom an administrator has created. It is redeemed like a reset link. */
export const INVITATION = definePurpose(CORE, {
  name: 'invitation',
  lifetimeMs: 7 * 24 * HOUR_MS,
  endsWithPassword: true,
});

const resetPasswordMail: ResetMail = { kind: 'reset-password', text: 'reset-password' };

const existingAccountMail: ResetMail = {
  kind: 'reset-password',
  text: 'reset-password/existing-account',
  advicePage: 'sign-in',
};

const requiredPasswordMail: ResetMail = { kind: 'reset-password', text: 'reset-password/required' };

const invitationMail: LinkTexts = { kind: 'invitation', text: 'invitation' };

/** An account whose deletion is pending. */
export interface Deleted {
  readonly at: Date;
  readonly graceDays: number;
  readonly now: number;
}

/** Returns until when a deleted account can be restored. Null if it no longer can. */
export function restorableUntil({ at, graceDays, now }: Deleted): Date | null {
  const until = new Date(at.getTime() + graceDays * 24 * HOUR_MS);
  return until.getTime() <= now ? null : until;
}

/** Returns the email in place of one to choose a new password, which the account would reject. */
export function deletedAccountMail(deleted: Deleted): PlainTemplate {
  const values = { at: deleted.at, until: restorableUntil(deleted) };
  return { kind: 'deleted-account', text: 'deleted-account', values };
}
