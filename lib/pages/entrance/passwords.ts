import { html } from '../../html.js';
import { INVITATION, RESET_PASSWORD } from '../../verification/password-links.js';
import { field, formOf, hidden, usernameOf } from '../controls.js';
import { stateIcon } from '../icons.js';
import { type Page, page, type View, type Visit } from '../page.js';
import { pathOf } from '../page-cookies.js';
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
  /** The email of the last sign-in that was rejected, to be filled in. Null if there is none. */
  readonly known: string | null;
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
        next: ({ returnTo }) => site.page('forgot-password', { done: 'check-mail', returnTo }),
      },
    ],
    values: (visit) => ({
      form: site.form(visit, { path }, 'send'),
      isSent: visit.done === 'check-mail',
      sentTo: visit.sentTo,
      known: typedIn(visit),
      signIn: site.page('sign-in', { returnTo: visit.returnTo }),
    }),
    view: forgotPasswordView,
  });
}

/** Returns the email that was typed into the form for a sign-in. Null if that was a username. */
function typedIn({ site, req }: Visit): string | null {
  const { account = null } = site.notes.of(req, pathOf(site.page('sign-in')));
  return account?.includes('@') ? account : null;
}

function forgotPasswordView(values: ForgotPasswordValues & CommonValues, words: Words): View {
  const { form, isSent, sentTo, known, signIn, returnTo } = values;
  const t = words.forgotPassword;
  const back = html`<p><a href="${signIn}" data-takes>${t.back}</a></p>`;
  if (isSent)
    return {
      title: t.sent,
      icon: stateIcon('mail'),
      main: html`<p>${t.sentText(sentTo === null ? t.anyAddress : html`<strong>${sentTo}</strong>`)}</p>${back}`,
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
    main: html`<p>${t.lead(html`<strong>${of}</strong>`)}</p>${formOf(
      form,
      { submit: isInvitation ? t.invitationSubmit : t.submit, returnTo },
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
