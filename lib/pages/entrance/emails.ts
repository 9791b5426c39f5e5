import { type Html, html } from '../../html.js';
import { VERIFY_EMAIL } from '../../verification/email-verification.js';
import { VERIFY_NEW_EMAIL } from '../../verification/purposes.js';
import type { Words } from '../../words/pages/index.js';
import { CODES } from '../codes.js';
import { AGAIN, field, forgottenLink, formOf, hidden, sentOf, sentText, usernameOf } from '../controls.js';
import { stateIcon } from '../icons.js';
import { type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import { maskedName } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';
import { codeAgainForm, emailedCodeField, sendForm } from './emailed-code.js';

/** The values of the page `verify-email`. */
export interface VerifyEmailValues {
  readonly form: FormValues;
  /** The token of the link. Null if there is none, or if it is no longer valid. */
  readonly token: string | null;
  /** The email that is verified. Null without a valid link. */
  readonly of: string | null;
  /** Whether the password must be entered, because the account is not signed in here, or the cookie does not prove it. */
  readonly needsPassword: boolean;
  /** The code that is asked for in place of a link. Null if emails contain links. */
  readonly byCode: VerifyByCodeValues | null;
  /** The page for a forgotten password. Null if there is none. */
  readonly forgotPassword: string | null;
  /** Whether a sign-in was rejected because the email is not verified yet. */
  readonly isWaiting: boolean;
  /** Whether this browser has a session, or has just signed in or up, so that a link was emailed. */
  readonly isAwaited: boolean;
  /** The address that the last link was emailed to. Null if this browser does not know it. */
  readonly sentTo: string | null;
  /** Whether it was verified just now, or with a link that the user of the session has used before. */
  readonly isDone: boolean;
  /** The email that was verified just now. Null if it is not known. */
  readonly confirmed: string | null;
  /** The form that emails another link. Null without a session. */
  readonly send: FormValues | null;
  readonly signIn: string;
  /** The page that the user returns to. */
  readonly next: string;
}

/** The code that confirms an email. */
export interface VerifyByCodeValues {
  /** Whether a code was emailed for this session, or for a sign-up in this browser. */
  readonly isAsked: boolean;
  /** The time for which a code is valid, in seconds. */
  readonly lifetime: number;
  /** The page where the email can be changed. Null without a session, while a task is open, or if it cannot be changed. */
  readonly profile: string | null;
}

/** The password proves who opens a link, so its form leads to no sign-in. */
const PASSWORD_ASKED = { field: 'password', steps: [] } as const;

/** The field with the email that is confirmed. */
const CONFIRMED = 'confirmed';

/** @internal */
export function verifyEmail(site: Site): Page | null {
  const path = '/verify-email';
  const [verify, send] = [site.route('post /verify-email'), site.route('post /email-verifications')];
  if (!verify || !send) return null;
  const codes = site.core.emailVerification?.codes ?? null;
  return page<VerifyEmailValues>({
    name: 'verify-email',
    path,
    kind: 'entrance',
    access: 'anyone',
    keepsReturnTo: true,
    forms: [
      {
        name: 'confirm',
        route: verify,
        errors: codes
          ? { invalid_code: 'code', code_expired: { field: 'code', steps: [] } }
          : { invalid_credentials: 'password', unauthenticated: PASSWORD_ASKED },
        // The next page names it, because another account might be signed in.
        ownFields: [CONFIRMED],
        emails: CONFIRMED,
        next: ({ returnTo }) => site.page('verify-email', { done: 'email-verified', returnTo }),
      },
      {
        name: 'send',
        route: send,
        ownFields: [AGAIN],
        next: ({ returnTo, fields }) => site.page('verify-email', { done: sentOf(fields), returnTo }),
      },
    ],
    async values(visit) {
      const { auth, returnTo, query, refused, done } = visit;
      const { token, found } = await site.linkOf(visit, VERIFY_EMAIL);
      const isConfirmed = auth?.user.email != null && auth.user.emailVerifiedAt !== null;
      const isDone = !found && (isConfirmed || (done === 'email-verified' && token === null));
      const isOfUser = auth !== null && auth.user.id === found?.record.user.id;
      const isOwn = isOfUser && (await site.core.ownBrowser.counts(auth));
      return {
        form: site.form(visit, { path }, 'confirm'),
        token: found && token,
        of: found && site.nameOf(found.record.user),
        // The browser of the sign-up needs no password, so ask for it only if the route does.
        needsPassword: !isOwn && (!site.verifiesByClick(visit) || refused?.form === 'confirm'),
        byCode: codes && {
          isAsked:
            refused?.form === 'confirm' ||
            codes.isPresented ||
            (auth !== null && (await codes.isAsked(auth.session.id))),
          lifetime: codes.lifetime,
          profile:
            auth && !auth.session.tasks?.length && site.route('post /email-changes')
              ? site.page('account')
              : null,
        },
        forgotPassword: site.forgotPassword(returnTo),
        isWaiting: token === null && query.has('waiting'),
        isAwaited: auth !== null || visit.sentTo !== null || visit.from !== null,
        sentTo: auth?.user.email ?? visit.sentTo,
        isDone,
        confirmed: done === 'email-verified' ? visit.sentTo : null,
        // The button was pressed twice, so the first press has confirmed the email.
        ...(isDone && refused?.error.code === 'invalid_token' && { error: null }),
        send: auth && auth.user.emailVerifiedAt === null ? site.form(visit, { path }, 'send') : null,
        signIn: site.page('sign-in', { returnTo }),
        next: auth ? (returnTo ?? site.home) : site.page('sign-in', { returnTo }),
      };
    },
    view: verifyEmailView,
  });
}

function verifyEmailView(values: VerifyEmailValues & CommonValues, words: Words): View {
  const { form, token, of, needsPassword, isWaiting, sentTo, isDone, send, signIn } = values;
  const { forgotPassword, next, returnTo, account, confirmed } = values;
  const t = words.verifyEmail;
  const again = send && sendForm(send, { email: null, submit: t.send, kind: 'secondary', returnTo }, words);
  const onward = (label: string) => html`<p><a href="${next}" data-part="button">${label}</a></p>`;
  if (isDone)
    return {
      title: t.done,
      icon: stateIcon('done'),
      main: html`${confirmed !== null && confirmed !== account && html`<p>${t.doneFor(confirmed)}</p>`}${account !== null && html`<p>${t.doneText(account)}</p>`}${onward(account === null ? words.signIn.title : words.continue)}`,
    };
  if (values.byCode) return verifyByCodeView(values.byCode, values, words);
  if (token === null || of === null) {
    if (!isWaiting && !(send !== null && values.done === 'sent'))
      return {
        title: t.invalid,
        main: html`<p>${send ? t.invalidHere : t.invalidText} ${words.wholeLink}</p>${
          again ?? html`<p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>`
        }`,
      };
    if (!values.isAwaited)
      return {
        title: t.title,
        main: html`<p>${t.perhapsSent}</p><p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>`,
      };
    const address = sentTo === null ? t.anyAddress : html`<strong>${sentTo}</strong>`;
    return {
      title: t.waiting,
      icon: stateIcon('mail'),
      main: again
        ? html`<p>${t.waitingHere(address)}</p>${again}`
        : html`<p>${t.waitingText(address)}</p><p>${t.waitingAgain}</p><p><a href="${signIn}">${words.forgotPassword.back}</a></p>`,
    };
  }
  return {
    title: t.title,
    main: html`<p>${t.lead(of)}</p>${formOf(
      form,
      { submit: t.submit, returnTo },
      words,
      html`${hidden('token', token)}${hidden(CONFIRMED, of)}${
        needsPassword &&
        html`${usernameOf(of)}${ownerField(form, { hint: t.password, forgotPassword }, words)}`
      }`,
    )}`,
  };
}

function verifyByCodeView(
  { isAsked, lifetime, profile }: VerifyByCodeValues,
  { form, send, sentTo, signIn, next, returnTo, done, error }: VerifyEmailValues & CommonValues,
  words: Words,
): View {
  const t = words.verifyEmail;
  const { wrong, change } = words.security.confirmEmail;
  if (!isAsked && (send === null || sentTo === null))
    return {
      title: t.title,
      main: html`<p>${t.codeSignIn}</p><p><a href="${signIn}" data-part="button">${words.signIn.title}</a></p>`,
    };
  const address = sentTo === null ? t.anyAddress : html`<strong>${sentTo}</strong>`;
  const later = html`<p><a href="${next}">${send ? t.later : words.signIn.title}</a></p>`;
  if (!isAsked)
    return {
      title: t.title,
      main: html`<p>${t.codeFirst(address)}</p>${send && sendForm(send, { email: null, submit: t.codeSend, kind: 'primary', returnTo }, words)}${later}`,
    };
  // Nothing but another code can succeed.
  if (error?.code === 'code_expired' && send)
    return {
      title: t.title,
      main: html`${sendForm(send, { email: null, submit: t.codeSendNew, kind: 'primary', returnTo }, words)}${profile !== null && html`<p data-part="quiet">${wrong} <a href="${profile}">${change}</a></p>`}${later}`,
    };
  return {
    title: t.title,
    saysDone: true,
    main: html`${sentText((send ? t.codeSentTo : t.codeSignUp)(address, CODES.emailed.length, words.formats.duration(lifetime)), { email: sentTo, isCertain: send !== null }, { done }, words)}${formOf(
      form,
      { submit: t.submit, returnTo },
      words,
      html`${sentTo !== null && hidden(CONFIRMED, sentTo)}${emailedCodeField(form, words)}`,
    )}${send && codeAgainForm(send, { email: null, returnTo }, words)}${profile !== null && html`<p data-part="quiet">${wrong} <a href="${profile}">${change}</a></p>`}${later}`,
  };
}

/** The values of the page `change-email`. */
export interface ChangeEmailValues {
  readonly form: FormValues;
  /** The token of the link. Null if it is no longer valid. */
  readonly token: string | null;
  /** The new email. Null without a valid link. */
  readonly newEmail: string | null;
  /** The current email of the account. Outside its own browser, most letters are hidden. */
  readonly of: string | null;
  /** Whether the password must be entered, because the account is not signed in here, or the cookie does not prove it. */
  readonly needsPassword: boolean;
  /** The page for a forgotten password. Null if there is none. */
  readonly forgotPassword: string | null;
  /** Whether the session of this browser stays. All others end. */
  readonly isOwn: boolean;
  readonly isDone: boolean;
  /** The email that the account has got just now. Null if it is not known. */
  readonly changedTo: string | null;
  readonly next: string;
}

/** @internal */
export function changeEmail(site: Site): Page | null {
  const path = '/change-email';
  const route = site.route('post /email-changes/confirm');
  if (!route) return null;
  return page<ChangeEmailValues>({
    name: 'change-email',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [
      {
        name: 'confirm',
        route,
        errors: {
          invalid_credentials: 'password',
          ...(site.core.passwords && { unauthenticated: PASSWORD_ASKED }),
        },
        // The next page names it, and the page for the sign-in fills it in.
        ownFields: [CONFIRMED],
        emails: CONFIRMED,
        emailsNewAddress: true,
        next: () => site.page('change-email', { done: 'email-changed' }),
      },
    ],
    async values(visit) {
      const { auth, done } = visit;
      const { token, found } = await site.linkOf(visit, VERIFY_NEW_EMAIL);
      const isOfUser = auth !== null && auth.user.id === found?.record.user.id;
      const isOwn = isOfUser && (await site.core.ownBrowser.confirms(auth));
      return {
        form: site.form(visit, { path }, 'confirm'),
        token: found && token,
        newEmail: found?.row.email ?? null,
        // The new mailbox might belong to someone else, because the user misspelled the address.
        of: found && (isOwn ? site.nameOf(found.record.user) : maskedName(found.record.user)),
        needsPassword: !isOwn && site.core.passwords !== null,
        forgotPassword: site.forgotPassword(null),
        isOwn,
        isDone: done === 'email-changed' && token === null,
        changedTo: visit.sentTo,
        next: auth ? site.page('account') : site.page('sign-in'),
      };
    },
    view: changeEmailView,
  });
}

function changeEmailView(values: ChangeEmailValues & CommonValues, words: Words): View {
  const {
    form,
    token,
    newEmail,
    of,
    needsPassword,
    forgotPassword,
    isOwn,
    isDone,
    changedTo,
    next,
    account,
  } = values;
  const t = words.changeEmail;
  if (isDone || token === null || newEmail === null)
    return {
      title: isDone ? t.done : t.invalid,
      ...(isDone && { icon: stateIcon('done') }),
      main: html`<p>${isDone ? [changedTo && `${t.doneText(changedTo)} `, account === null && t.doneElsewhere] : html`${account === null ? t.invalidText : t.invalidHere(account)} ${words.wholeLink}`}</p><p><a href="${next}" data-part="button">${account === null ? words.signIn.title : words.continue}</a></p>`,
    };
  const ends = html`<p data-part="quiet">${isOwn ? t.signsOutOthers : t.signsOut}</p>`;
  return {
    title: t.title,
    main: html`<p>${t.lead(newEmail)}</p>${of !== null && html`<p>${t.account(of)}</p>`}${
      !isOwn &&
      // Whether the account has a password is not revealed.
      html`<h2>${t.elsewhere}</h2><p>${t.elsewhereText}</p><p><button type="button" hidden data-part="button secondary" data-copy data-copied="${words.copied}">${words.undoChange.copyAddress}</button></p>`
    }${
      isOwn || needsPassword
        ? formOf(
            form,
            { submit: t.submit },
            words,
            html`${hidden('token', token)}${hidden(CONFIRMED, newEmail)}${needsPassword && ownerField(form, { hint: t.password, forgotPassword }, words)}${ends}`,
          )
        : ends
    }`,
  };
}

/** Creates the field for the password of the account, which proves that the address belongs to its owner. */
function ownerField(
  form: FormValues,
  { hint, forgotPassword }: { readonly hint: string; readonly forgotPassword: string | null },
  words: Words,
): Html {
  return field(
    form,
    {
      name: 'password',
      label: words.fields.password,
      type: 'password',
      autocomplete: 'current-password',
      hint,
      focus: true,
      aside: forgottenLink(forgotPassword, words),
    },
    words,
  );
}

declare module '../values.js' {
  interface PageValues {
    'verify-email': VerifyEmailValues;
    'change-email': ChangeEmailValues;
  }
}
