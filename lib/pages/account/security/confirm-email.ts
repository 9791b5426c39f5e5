import { html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { formOf } from '../../controls.js';
import type { Site } from '../../site.js';
import type { CommonValues, FormValues } from '../../values.js';
import { type Card, type CardView, card, SECURITY } from './card.js';

/** The values of the card `confirm-email`, which is shown until the email of the account is confirmed. */
export interface ConfirmEmailValues {
  readonly email: string;
  /** The form that emails a link or a code to confirm the email. */
  readonly send: FormValues;
  /** Whether it emails a code. */
  readonly isByCode: boolean;
  /**
   * The form that signs out and leads to the page where users sign up, for a user who has mistyped the email. Null unless
   * an open task prevents a change of the email, and users can sign up.
   */
  readonly startOver: FormValues | null;
  /** The page where the email can be changed. Null while a task is open. */
  readonly profile: string | null;
}

/** @internal */
export function confirmEmailCard(site: Site): Card | null {
  const send = site.route('post /email-verifications');
  const needsEmail = ['post /two-factor/totp', 'post /passkeys'] as const;
  if (!send || !needsEmail.some((name) => site.route(name))) return null;
  return card<'confirm-email'>({
    name: 'confirm-email',
    does: ['enroll_second_factor'],
    forms: [
      { name: 'verify-email', route: send, next: () => site.afterVerification('account/security') },
      {
        name: 'start-over',
        route: site.require('post /signout'),
        next: ({ returnTo }) => site.page('sign-up', { done: 'signed-out', returnTo }),
      },
    ],
    values(visit) {
      const email = visit.auth?.user.email ?? null;
      if (!visit.isUnconfirmed || email === null) return null;
      const form = (name: string) => site.form(visit, SECURITY, name);
      const isHeld = (visit.auth?.session.tasks?.length ?? 0) > 0;
      return {
        email,
        send: form('verify-email'),
        isByCode: site.verifiesByCode,
        startOver: isHeld && site.canSignUp ? form('start-over') : null,
        profile: !isHeld && site.route('post /email-changes') ? site.page('account') : null,
      };
    },
  });
}

/** @internal */
export function confirmEmailView(
  { email, send, isByCode, startOver, profile }: ConfirmEmailValues,
  { returnTo, done }: CommonValues,
  words: Words,
): CardView {
  const t = words.security.confirmEmail;
  const isSent = done === 'sent' && !isByCode;
  return {
    title: t.title,
    state: t.text(email),
    opens: null,
    content: html`${isSent && html`<p>${words.verifyEmail.waitingHere(html`<strong>${email}</strong>`)}</p>`}${formOf(send, isSent ? { submit: words.verifyEmail.send, kind: 'secondary' } : { submit: words.account.verify(isByCode) }, words)}${
      startOver &&
      html`<p data-part="quiet">${t.wrongAddress}</p>${formOf(
        startOver,
        { submit: t.startOver, kind: 'link', returnTo },
        words,
      )}`
    }${profile !== null && html`<p data-part="quiet">${t.wrong} <a href="${profile}">${t.change}</a></p>`}`,
  };
}

declare module '../../values.js' {
  interface CardValues {
    'confirm-email': ConfirmEmailValues;
  }
}
