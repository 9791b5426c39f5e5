import { type Html, html } from '../../html.js';
import { INVITATION, RESET_PASSWORD } from '../../verification/password-links.js';
import type { Words } from '../../words/pages/index.js';
import { CODES } from '../codes.js';
import { AGAIN, field, formOf, hidden, sentOf, sentText, usernameOf } from '../controls.js';
import { stateIcon } from '../icons.js';
import { type Page, page, type Sent, type View } from '../page.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';
import { codeAgainForm, codeOverView, emailedCodeField, sendForm } from './emailed-code.js';
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
  /** Whether the email contains a code, which the next page asks for, instead of a link. */
  readonly isByCode: boolean;
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
          site.resetsByCode
            ? site.page('reset-password', { done: sentOf(fields), returnTo })
            : site.page('forgot-password', {
                done: fields.has(AGAIN) ? sentOf(fields) : 'check-mail',
                returnTo,
              }),
      },
    ],
    values: (visit) => ({
      form: site.form(visit, { path }, 'send'),
      isSent: visit.done === 'check-mail' || visit.done === 'sent-again',
      sentTo: visit.sentTo,
      known: visit.known,
      isByCode: site.resetsByCode,
      again: site.page('forgot-password', { returnTo: visit.returnTo }),
      signIn: site.page('sign-in', { returnTo: visit.returnTo }),
    }),
    view: forgotPasswordView,
  });
}

function forgotPasswordView(values: ForgotPasswordValues & CommonValues, words: Words): View {
  const { form, isSent, sentTo, known, isByCode, again, signIn, returnTo } = values;
  const t = words.forgotPassword;
  const back = html`<p><a href="${signIn}" data-takes>${t.back}</a></p>`;
  if (isSent)
    return {
      title: t.sent,
      icon: stateIcon('mail'),
      saysDone: true,
      main: html`${sentText(t.sentText(sentTo === null ? t.anyAddress : html`<strong>${sentTo}</strong>`), { email: sentTo, isCertain: false }, values, words)}${
        sentTo !== null && sendForm(form, { email: sentTo, submit: t.again, kind: 'link', returnTo }, words)
      }<p><a href="${again}">${words.emailedSignIn.other}</a></p>${back}`,
    };
  return {
    title: t.title,
    main: html`<p>${isByCode ? t.codeLead : t.lead}</p>${formOf(
      form,
      { submit: isByCode ? t.codeSubmit : t.submit, returnTo },
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
  /** The code that is asked for in place of a link. Null on the page of a link, and if emails contain links. */
  readonly byCode: ResetByCodeValues | null;
  /** The page that asks for another link or code. Null if there is none. */
  readonly again: string | null;
  readonly signIn: string;
}

/** The code that is asked for before a new password. */
export interface ResetByCodeValues {
  /** Whether this browser has asked for a code. */
  readonly isAsked: boolean;
  /** Whether the code no longer works, so that the page offers only another one. */
  readonly isOver: boolean;
  /** The address that the code was emailed to. Null if it is not known. */
  readonly sentTo: string | null;
  /** The form that emails another code. */
  readonly send: FormValues;
  /** The time for which a code is valid, in seconds. */
  readonly lifetime: number;
}

/**
 * @param name `reset-password` or `invitation`: both choose a password
 *
 * @internal
 */
export function resetPassword(site: Site, name: 'reset-password' | 'invitation'): Page | null {
  const path = `/${name}`;
  const [route, send] = [site.route('post /passwords/reset'), site.route('post /passwords/request-reset')];
  if (!route || !send) return null;
  const { codeRequests, typedCodes } = site.core;
  const takesCodes =
    name === 'reset-password' && codeRequests !== null && typedCodes !== null && site.resetsByCode;
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
        ...(takesCodes && {
          errors: { invalid_code: 'code', code_expired: { steps: [] } },
          // A rejected password does not use it up.
          sendsAlong: ['code'],
        }),
        next: ({ returnTo }) =>
          site.page('sign-in', {
            done: name === 'invitation' ? 'invitation-accepted' : 'password-reset',
            returnTo,
          }),
      },
      ...(takesCodes
        ? [
            {
              name: 'send-code',
              route: send,
              emails: 'email',
              check: requireEmail,
              keepsReturnTo: true,
              ownFields: [AGAIN],
              next: ({ returnTo, fields }: Sent) =>
                site.page('reset-password', { done: sentOf(fields), returnTo }),
            },
          ]
        : []),
    ],
    async values(visit) {
      const { refused, sentTo, returnTo } = visit;
      const { token, found } = await site.linkOf(visit, [RESET_PASSWORD, INVITATION]);
      return {
        form: site.form(visit, { path }, 'set'),
        token: found && token,
        of: found && site.nameOf(found.record.user),
        minLength: site.core.passwords?.minLength ?? 8,
        byCode:
          takesCodes && token === null
            ? {
                isAsked: typedCodes.tokens.reset.isPresented,
                isOver:
                  refused?.error.code === 'code_expired' ||
                  (sentTo !== null && (await codeRequests.isOverIn(typedCodes.tokens.reset))),
                sentTo,
                send: site.form(visit, { path }, 'send-code'),
                lifetime: codeRequests.lifetimeMs / 1000,
              }
            : null,
        again: name === 'reset-password' ? site.forgotPassword(returnTo) : null,
        signIn: site.page('sign-in'),
      };
    },
    view: resetPasswordView,
  });
}

function resetPasswordView(values: ResetPasswordValues & CommonValues, words: Words): View {
  const { form, token, of, minLength, byCode, again, signIn, returnTo } = values;
  const t = words.resetPassword;
  if (byCode) return resetByCodeView(byCode, values, words);
  const isInvitation = values.page === 'invitation';
  if (token === null || of === null)
    return {
      title: t.invalid,
      main: html`<p>${isInvitation ? t.invitationInvalidText : t.invalidText} ${words.wholeLink}</p><p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>${
        again !== null && html`<p><a href="${again}" data-part="button secondary">${t.again}</a></p>`
      }`,
    };
  return {
    title: isInvitation ? t.invitationTitle : t.title,
    main: html`<p>${t.lead(html`<strong>${of}</strong>`)}</p>${formOf(
      form,
      { submit: isInvitation ? t.invitationSubmit : t.submit, returnTo },
      words,
      html`${hidden('token', token)}${hidden(ACCOUNT, of)}${usernameOf(of)}${passwordField(
        form,
        { label: isInvitation ? words.fields.password : words.fields.newPassword, minLength, focus: true },
        words,
      )}${!isInvitation && html`<p data-part="quiet">${t.ends}</p>`}`,
    )}`,
  };
}

function resetByCodeView(
  { isAsked, isOver, sentTo, send, lifetime }: ResetByCodeValues,
  values: ResetPasswordValues & CommonValues,
  words: Words,
): View {
  const { form, minLength, again, returnTo, error } = values;
  const t = words.resetPassword;
  const ask = (label: string, part: string) =>
    again !== null &&
    html`<p><a href="${again}"${part !== '' && html` data-part="${part}"`}>${label}</a></p>`;
  if (isOver)
    return codeOverView(
      {
        title: t.title,
        error,
        another:
          sentTo === null
            ? null
            : sendForm(send, { email: sentTo, submit: t.codeAgain, kind: 'primary', returnTo }, words),
        again,
      },
      words,
    );
  if (!isAsked)
    return {
      title: t.codeFirst,
      main: html`<p>${t.codeFirstText}</p>${ask(words.forgotPassword.title, 'button')}`,
    };
  return {
    title: t.title,
    saysDone: true,
    main: html`${sentText(
      sentTo === null
        ? t.codeLead
        : t.codeSentTo(
            html`<strong>${sentTo}</strong>`,
            CODES.emailed.length,
            words.formats.duration(lifetime),
          ),
      { email: sentTo, isCertain: false },
      values,
      words,
    )}${formOf(
      form,
      { submit: t.submit, returnTo },
      words,
      html`${sentTo !== null && html`${hidden(ACCOUNT, sentTo)}${usernameOf(sentTo)}`}${emailedCodeField(form, words)}${passwordField(form, { label: words.fields.newPassword, minLength, focus: false }, words)}<p data-part="quiet">${t.ends}</p>`,
    )}${sentTo !== null && codeAgainForm(send, { email: sentTo, returnTo }, words)}${ask(sentTo === null ? t.codeAgain : t.codeOther, '')}`,
  };
}

function passwordField(
  form: FormValues,
  {
    label,
    minLength,
    focus,
  }: { readonly label: string; readonly minLength: number; readonly focus: boolean },
  words: Words,
): Html {
  return field(
    form,
    {
      name: 'new_password',
      label,
      type: 'password',
      autocomplete: 'new-password',
      hint: words.passwordHint(minLength),
      minLength,
      focus,
    },
    words,
  );
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
