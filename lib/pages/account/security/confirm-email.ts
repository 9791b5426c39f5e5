import { formOf } from '../../controls.js';
import type { Site } from '../../site.js';
import type { CommonValues, FormValues } from '../../values.js';
import type { Words } from '../../words/index.js';
import { type Card, type CardView, card, SECURITY } from './card.js';

/** The values of the card `confirm-email`, which is shown until the email of the account is confirmed. */
export interface ConfirmEmailValues {
  readonly email: string;
  /** The form that emails a link to confirm the email. */
  readonly send: FormValues;
}

/** @internal */
export function confirmEmailCard(site: Site): Card | null {
  const send = site.route('post /email-verifications');
  const needsEmail = ['post /two-factor/totp', 'post /passkeys'] as const;
  if (!send || !needsEmail.some((name) => site.route(name))) return null;
  return card<'confirm-email'>({
    name: 'confirm-email',
    does: ['enroll_second_factor'],
    forms: [{ name: 'verify-email', route: send, next: () => site.afterVerification('account/security') }],
    values(visit) {
      const email = visit.auth?.user.email ?? null;
      if (!visit.isUnconfirmed || email === null) return null;
      return { email, send: site.form(visit, SECURITY, 'verify-email') };
    },
  });
}

/** @internal */
export function confirmEmailView(
  { email, send }: ConfirmEmailValues,
  _page: CommonValues,
  words: Words,
): CardView {
  const t = words.security.confirmEmail;
  return {
    title: t.title,
    state: t.text(email),
    opens: null,
    content: formOf(send, { submit: words.account.verify }, words),
  };
}

declare module '../../values.js' {
  interface CardValues {
    'confirm-email': ConfirmEmailValues;
  }
}
