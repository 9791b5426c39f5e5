import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { Asked, Link, Mails } from '../mail/mails.js';
import { dateInWords, EXPIRY, type MailTemplate, type PlainTemplate } from '../mail/messages.js';
import { CORE } from '../owners.js';
import type { User } from '../tables/core.js';
import { definePurpose } from './purposes.js';

/** The texts of a reset link that an administrator sends. @param appName null if it is unknown */
export function byAdministrator(appName: string | null): Partial<MailTemplate> {
  const administrator = appName === null ? 'An administrator' : `An administrator of ${appName}`;
  return {
    before: `${administrator} asks you to choose a new password for your account. Choose one here:`,
    after: `${EXPIRY} Until you choose a new password, your current one does not change.`,
  };
}

interface ResetLinkOptions {
  /** Texts that replace the usual ones. @default {} */
  readonly texts?: Partial<MailTemplate>;
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
    return {
      template: { ...resetPasswordMail, page: this.core.settings.email?.resetUrl ?? '' },
      purpose: RESET_PASSWORD,
    };
  }

  /** The link for the owner of an account who signs up again: the request must not reveal that there is an account. */
  get existing(): Link {
    const { template, purpose } = this.reset;
    return { template: { ...template, ...existingAccountTexts }, purpose };
  }

  /** Emails a user a reset link. Does nothing if the user has no email. */
  async mailReset(
    user: User,
    transaction?: Transaction,
    { texts = {}, asked = null }: ResetLinkOptions = {},
  ): Promise<void> {
    const { template, purpose } = this.reset;
    await this.mails.link({ template: { ...template, ...texts }, purpose }, user, asked, transaction);
  }

  /** Emails the link to choose a new password to a user who has entered the former one, and whose account needs another. */
  mailRequired(user: User, transaction: Transaction, asked: Asked): Promise<void> {
    return this.mailReset(user, transaction, { texts: requiredPasswordTexts, asked });
  }

  /** Emails the link to choose a first password to a user whom an administrator or the app created. */
  async mailInvitation(user: User, transaction?: Transaction): Promise<void> {
    const template = { ...invitationMail, page: this.core.settings.email?.invitationUrl ?? '' };
    await this.mails.link({ template, purpose: INVITATION }, user, null, transaction);
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

const resetPasswordMail: Omit<MailTemplate, 'page'> = {
  kind: 'reset-password',
  subject: 'Choose a new password',
  before: 'Someone requested a new password for your account. If it was you, choose one here:',
  action: 'Choose a new password',
  after: `${EXPIRY} If it was not you, ignore this email: your password has not changed.`,
};

const existingAccountTexts: Partial<MailTemplate> = {
  subject: 'You already have an account',
  first: {
    text: 'Someone signed up with your email, but you already have an account. If it was you, sign in as usual.',
    page: 'sign-in',
    action: 'Sign in',
  },
  before: 'If you forgot your password, choose a new one here:',
  after: `${EXPIRY} If it was not you, ignore this email: nothing has changed.`,
};

const requiredPasswordTexts: Partial<MailTemplate> = {
  before: 'You entered your password, and your account needs a new one. Choose it here:',
  after: `${EXPIRY} If it was not you, someone knows your password: choose a new one with this link.`,
};

const invitationMail: Omit<MailTemplate, 'page'> = {
  kind: 'invitation',
  subject: 'Your new account',
  before: 'An account was created for you. Choose a password here:',
  action: 'Choose a password',
  after: `${EXPIRY} If you did not expect this, you can ignore this email.`,
};

/** An account whose deletion is pending. */
export interface Deleted {
  readonly at: Date;
  readonly graceDays: number;
  readonly now: number;
}

/** Says that an account was deleted, and how it can be restored. Not every email about a deletion has a link for that. */
export function deletionInWords({ at, graceDays, now }: Deleted): string {
  const until = new Date(at.getTime() + graceDays * 24 * HOUR_MS);
  const deleted = `Your account was deleted on ${dateInWords(at)}.`;
  if (until.getTime() <= now) return deleted;
  return `${deleted} Until ${dateInWords(until)}, it can be restored: with the link in our email about the deletion, or by the people who run this app.`;
}

/** Returns the email in place of one to choose a new password, which the account would reject. */
export function deletedAccountMail(deleted: Deleted): PlainTemplate {
  return {
    kind: 'deleted-account',
    subject: 'Your account was deleted',
    lines: [
      'Someone asked for a new password with this email, or signed up with it.',
      deletionInWords(deleted),
      'No new password can be chosen for it. If it was not you, ignore this email: nothing has changed.',
    ],
  };
}
