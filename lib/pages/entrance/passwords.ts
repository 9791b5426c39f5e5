import { html } from '../../html.js';
import { INVITATION, RESET_PASSWORD } from '../../verification/password-links.js';
import { AGAIN, field, formOf, hidden, sentOf, sentText, usernameOf } from '../controls.js';
import { stateIcon } from '../icons.js';
import { type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';
import type { Words } from '../words/index.js';
import { requireEmail } from './typed-email.js';

/** The values of the page `forgot-password`. */
export interface ForgotPasswordValues {
  readonly form: FormValues;
  /** Whether the email was asked for. */
  readonly isSent: boolean;
  /** The address that it was asked for. Null if it is not known. */
  readonly sentTo: string | null;
  /** The email that was typed last, to be filled in. Null if there is none. */
  readonly known: string | null;
  /** The page where users ask for a link to another address. */
  readonly again: string;
  readonly signIn: string;
}

/** @internal */
export function forgotPassword(site: Site): Page | null {
  const path = '/forgot-password';
  const route = site.route('post /passwords/request-reset');
  if (!route) return null;
  return page<ForgotPasswordValues>({
    name: 'forgot-password',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [
      {
        name: 'send',
        route,
        emails: 'email',
        check: requireEmail,
        keepsReturnTo: true,
        ownFields: [AGAIN],
        next: ({ returnTo, fields }) =>
          site.page('forgot-password', { done: fields.has(AGAIN) ? sentOf(fields) : 'check-mail', returnTo }),
      },
    ],
    values: (visit) => ({
      form: site.form(visit, { path }, 'send'),
      isSent: visit.done === 'check-mail' || visit.done === 'sent-again',
      sentTo: visit.sentTo,
      known: visit.known,
      again: site.page('forgot-password', { returnTo: visit.returnTo }),
      signIn: site.page('sign-in', { returnTo: visit.returnTo }),
    }),
    view: forgotPasswordView,
  });
}

function forgotPasswordView(values: ForgotPasswordValues & CommonValues, words: Words): View {
  const { form, isSent, sentTo, known, again, signIn, returnTo } = values;
  const t = words.forgotPassword;
  const back = html`<p><a href="${signIn}" data-takes>${t.back}</a></p>`;
  if (isSent)
    return {
      title: t.sent,
      icon: stateIcon('mail'),
      saysDone: true,
      main: html`${sentText(t.sentText(sentTo === null ? t.anyAddress : html`<strong>${sentTo}</strong>`), { email: sentTo, isCertain: false }, values, words)}${
        sentTo !== null &&
        formOf(
          form,
          { submit: t.again, kind: 'link', returnTo },
          words,
          html`${hidden('email', sentTo)}${hidden(AGAIN, 'true')}`,
        )
      }<p><a href="${again}">${words.emailedSignIn.other}</a></p>${back}`,
    };
  return {
    title: t.title,
    main: html`<p>${t.lead}</p>${formOf(
      form,
      { submit: t.submit, returnTo },
      words,
      field(
        form,
        {
          name: 'email',
          value: known,
          label: words.fields.email,
          type: 'email',
          autocomplete: 'email',
          focus: true,
        },
        words,
      ),
    )}${back}`,
  };
}

/** The values of the pages `reset-password` and `invitation`. */
export interface ResetPasswordValues {
  readonly form: FormValues;
  /** The token of the link. Null if it is no longer valid. */
  readonly token: string | null;
  /** The email of the account. Null without a valid link. */
  readonly of: string | null;
  readonly minLength: number;
  /** The page that asks for another link. Null if there is none. */
  readonly again: string | null;
  readonly signIn: string;
}

/**
 * @param name `reset-password` or `invitation`: both choose a password
 *
 * @internal
 */
export function resetPassword(site: Site, name: 'reset-password' | 'invitation'): Page | null {
  const path = `/${name}`;
  const route = site.route('post /passwords/reset');
  if (!route) return null;
  return page<ResetPasswordValues>({
    name,
    path,
    kind: 'entrance',
    access: 'anyone',
    keepsReturnTo: true,
    forms: [
      {
        name: 'set',
        route,
        // The page for the sign-in fills it in.
        ownFields: [ACCOUNT],
        emails: ACCOUNT,
        next: ({ returnTo }) =>
          site.page('sign-in', {
            done: name === 'invitation' ? 'invitation-accepted' : 'password-reset',
            returnTo,
          }),
      },
    ],
    async values(visit) {
      const { token, found } = await site.linkOf(visit, [RESET_PASSWORD, INVITATION]);
      return {
        form: site.form(visit, { path }, 'set'),
        token: found && token,
        of: found && site.nameOf(found.record.user),
        minLength: site.core.passwords?.minLength ?? 8,
        again: name === 'reset-password' ? site.forgotPassword(visit.returnTo) : null,
        signIn: site.page('sign-in'),
      };
    },
    view: resetPasswordView,
  });
}

function resetPasswordView(values: ResetPasswordValues & CommonValues, words: Words): View {
  const { form, token, of, minLength, again, signIn, returnTo } = values;
  const t = words.resetPassword;
  const isInvitation = values.page === 'invitation';
  if (token === null || of === null)
    return {
      title: t.invalid,
      main: html`<p>${isInvitation ? t.invitationInvalidText : t.invalidText}</p><p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>${
        again !== null && html`<p><a href="${again}" data-part="button secondary">${t.again}</a></p>`
      }`,
    };
  return {
    title: isInvitation ? t.invitationTitle : t.title,
    main: html`<p>${t.lead(of)}</p>${formOf(
      form,
      { submit: t.submit, returnTo },
      words,
      html`${hidden('token', token)}${hidden(ACCOUNT, of)}${usernameOf(of)}${field(
        form,
        {
          name: 'new_password',
          label: isInvitation ? words.fields.password : words.fields.newPassword,
          type: 'password',
          autocomplete: 'new-password',
          hint: words.passwordHint(minLength),
          minLength,
          focus: true,
        },
        words,
      )}`,
    )}${!isInvitation && html`<p data-part="quiet">${t.ends}</p>`}`,
  };
}

/** The field with the account that gets a password. */
const ACCOUNT = 'account';

declare module '../values.js' {
  interface PageValues {
    'forgot-password': ForgotPasswordValues;
    'reset-password': ResetPasswordValues;
    invitation: ResetPasswordValues;
  }
}
